import assert from "node:assert/strict";
import { voiceOf } from "../core/outgoing.ts";
import type { Bus } from "../core/ports.ts";
import { subjects } from "../core/subjects.ts";
import { decodePeelHeartbeat } from "../core/wire/heartbeat.ts";
import { testSigner } from "../tests/fakes/identities.ts";
import { ManualClock } from "../tests/fakes/manual_clock.ts";
import { startHeartbeat } from "./heartbeat.ts";

Deno.test("startHeartbeat() beats every 10 seconds with version and protocol, and is silent while disconnected", () => {
  const clock = new ManualClock();
  const beats: { atMs: number; payload: Uint8Array }[] = [];
  const bus = {
    connected: true,
    publish(subject: string, payload: Uint8Array) {
      assert.equal(subject, subjects.heartbeat.of({ peel: "web-01" }));
      beats.push({ atMs: clock.monotonic(), payload });
    },
  };
  const port = bus as Partial<Bus> as Bus;
  const voice = voiceOf({ signer: testSigner("web-01"), generation: 1 }, port, clock);
  const heartbeat = startHeartbeat({ peelId: "web-01", version: "1.2.3", bus: port, clock, voice });
  clock.advance(20_000);
  bus.connected = false;
  clock.advance(10_000);
  bus.connected = true;
  clock.advance(10_000);
  assert.deepEqual(beats.map(({ atMs }) => atMs), [0, 10_000, 20_000, 40_000]);
  const first = decodePeelHeartbeat(beats[0]!.payload);
  assert.deepEqual([first.version, first.protocol], ["1.2.3", 1]);
  heartbeat.timer.cancel();
});

import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { keyringOf } from "../../core/keyring.ts";
import { PEEL_OFFLINE_MS } from "../../core/limits.ts";
import { fakeMetrics } from "../../core/metrics.ts";
import { voiceOf } from "../../core/outgoing.ts";
import { subjects } from "../../core/subjects.ts";
import { encodePeelHeartbeat } from "../../core/wire/heartbeat.ts";
import { testPeelKey, testSigner, testTrust } from "../../tests/fakes/identities.ts";
import { ManualClock, seededRandom, settle } from "../../tests/fakes/manual_clock.ts";
import { followHeartbeats } from "./presence.ts";

Deno.test("followHeartbeats() knows who is online, and calls nobody offline before it has listened long enough", async () => {
  const clock = new ManualClock();
  const engine = createEngine({ clock, random: seededRandom(1) });
  const { bus } = enginePorts(engine, { role: "master", identity: "m", clock });
  const keyring = keyringOf(testTrust, (peel) => testPeelKey(peel));
  const presence = followHeartbeats({ bus, clock, keyring, metrics: fakeMetrics() });
  const beat = (peel: string, payload: Uint8Array) =>
    voiceOf({ signer: testSigner(peel), generation: 1 }, bus, clock)
      .say(subjects.heartbeat, subjects.heartbeat.of({ peel }), payload);
  const beatMs = clock.now();
  beat("a", encodePeelHeartbeat({ timestampMs: 0, version: "1.2.3", protocol: 1 }));
  beat("garbled", Uint8Array.of(0xc1));
  await settle();
  assert.deepEqual(presence.seen("a"), {
    presence: "online",
    lastSeenMs: beatMs,
    version: "1.2.3",
  });
  assert.equal(presence.seen("garbled").presence, "online", "it lives, whatever it says");
  assert.deepEqual(presence.seen("b"), { presence: "unknown" });
  clock.advance(PEEL_OFFLINE_MS);
  assert.deepEqual(presence.seen("b"), { presence: "offline" });
  assert.equal(presence.seen("a").presence, "offline");
  assert.equal(presence.seen("a").lastSeenMs, beatMs);
  assert.equal(presence.online(), 0);
  presence.stop();
});

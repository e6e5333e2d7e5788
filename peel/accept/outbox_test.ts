import assert from "node:assert/strict";
import { RETURN_RETRY_MS, RETURN_RETRY_MS_MAX, RETURNS_IN_FLIGHT_MAX } from "../../core/limits.ts";
import { ManualClock, settle } from "../../tests/fakes/manual_clock.ts";
import { openOutbox } from "./outbox.ts";

function lab(isTaken: (id: string) => boolean) {
  const clock = new ManualClock();
  const tries: [id: string, atMs: number][] = [];
  const outbox = openOutbox({
    clock,
    send(id) {
      tries.push([id, clock.monotonic()]);
      return Promise.resolve(isTaken(id));
    },
  });
  return { clock, tries, outbox };
}

Deno.test("Outbox.add() tries at once, then with doubling waits up to a limit, and never gives up", async () => {
  const { clock, tries, outbox } = lab(() => false);
  outbox.add("a");
  await clock.advanceSettling(10 * RETURN_RETRY_MS_MAX, RETURN_RETRY_MS);
  const waits = tries.slice(1).map(([, atMs], index) => atMs - (tries[index]?.[1] ?? 0));
  assert.deepEqual(waits.slice(0, 5), [2_000, 4_000, 8_000, 16_000, RETURN_RETRY_MS_MAX]);
  assert.ok(waits.slice(5).every((waitMs) => waitMs === RETURN_RETRY_MS_MAX));
  assert.ok(tries.length > 10);
  await outbox.stop();
});

Deno.test("Outbox.add() lets one that always fails hold up no other", async () => {
  const { tries, outbox } = lab((id) => id !== "poison");
  outbox.add("poison");
  outbox.add("b");
  await settle();
  assert.deepEqual(tries.map(([id]) => id), ["poison", "b"]);
  assert.equal(outbox.size, 1);
  await outbox.stop();
});

Deno.test("Outbox.add() sends a bounded number at once, and the rest as room comes", async () => {
  const waiting: (() => void)[] = [];
  let sent = 0;
  const outbox = openOutbox({
    clock: new ManualClock(),
    send() {
      sent++;
      return new Promise((resolve) => waiting.push(() => resolve(true)));
    },
  });
  for (let id = 0; id < RETURNS_IN_FLIGHT_MAX + 5; id++) outbox.add(`${id}`);
  assert.equal(sent, RETURNS_IN_FLIGHT_MAX);
  waiting[0]?.();
  await settle();
  assert.equal(sent, RETURNS_IN_FLIGHT_MAX + 1);
  while (waiting.length > 0) {
    waiting.shift()?.();
    await settle();
  }
  assert.equal(outbox.size, 0);
});

Deno.test("Outbox.wake() tries what waits without waiting on", async () => {
  let isConnected = false;
  const { clock, outbox } = lab(() => isConnected);
  outbox.add("a");
  await clock.advanceSettling(RETURN_RETRY_MS_MAX);
  isConnected = true;
  outbox.wake();
  await settle();
  assert.equal(outbox.size, 0);
  assert.equal(clock.timers, 0);
});

Deno.test("Outbox.stop() tries once more and leaves no timer behind", async () => {
  const { clock, tries, outbox } = lab(() => false);
  outbox.add("a");
  await settle();
  await outbox.stop();
  assert.equal(tries.length, 2);
  assert.equal(clock.timers, 0);
});

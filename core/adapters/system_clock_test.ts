import assert from "node:assert/strict";
import { isZesterError } from "../errors.ts";
import { TIMER_DELAY_MS_MAX } from "../limits.ts";
import { systemClock } from "./system_clock.ts";

Deno.test("systemClock.sleep() resolves after its delay, measured on the monotonic clock", async () => {
  const start = systemClock.monotonic();
  await systemClock.sleep(20);
  assert.ok(systemClock.monotonic() - start >= 19);
});

Deno.test("systemClock.sleep() rejects with closed when its signal aborts", async () => {
  const stop = new AbortController();
  const sleeping = systemClock.sleep(60_000, stop.signal);
  stop.abort();
  await assert.rejects(sleeping, (error) => isZesterError(error, "closed"));
});

Deno.test("systemClock.sleep() rejects at once on a signal that was aborted before", async () => {
  const sleeping = systemClock.sleep(60_000, AbortSignal.abort());
  await assert.rejects(sleeping, (error) => isZesterError(error, "closed"));
});

Deno.test("systemClock.after() does not fire early when the delay is longer than a timer can hold", async () => {
  let fired = false;
  const timer = systemClock.after(TIMER_DELAY_MS_MAX + 1, () => fired = true);
  await systemClock.sleep(20);
  timer.cancel();
  assert.equal(fired, false);
});

Deno.test("systemClock.every() repeats until it is cancelled", async () => {
  await new Promise<void>((resolve) => {
    let count = 0;
    const timer = systemClock.every(1, () => {
      if (++count < 3) return;
      timer.cancel();
      resolve();
    });
  });
});

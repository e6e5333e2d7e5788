import assert from "node:assert/strict";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { runInWorker } from "./sandbox.ts";

const echo = { module: "test.echo", params: { text: "hello" } };

Deno.test("runInWorker() gives what the function returned, and cleans up after it", async () => {
  let cleaned = 0;
  const { signal } = new AbortController();
  const reply = await runInWorker(echo, {
    clock,
    timeoutMs: 10_000,
    signal,
    cleanUp: () => void cleaned++,
  });
  assert.deepEqual(reply, { ok: true, value: "hello" });
  assert.equal(cleaned, 1);
});

Deno.test("runInWorker() ends the worker when it is told to, also before it began", async () => {
  for (const isLate of [true, false]) {
    const ending = new AbortController();
    if (!isLate) ending.abort();
    const reply = runInWorker(echo, { clock, timeoutMs: 10_000, signal: ending.signal });
    ending.abort();
    assert.deepEqual(await reply, { ok: false, message: "ended from outside" });
  }
});

import assert from "node:assert/strict";
import { settle } from "../../tests/fakes/manual_clock.ts";
import { executionQueue, type Turn } from "./queue.ts";

function idle(): AbortSignal {
  return new AbortController().signal;
}

Deno.test("ExecutionQueue.enter() gives turns one at a time, in order, and tells the one too many", async () => {
  const queue = executionQueue(2);
  const turns: string[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    queue.enter(idle()).then((turn) => turns.push(`${name} ${turn}`));
  }
  await settle();
  assert.deepEqual(turns, ["a now", "d full"]);
  assert.equal(queue.waiting, 2);
  queue.leave();
  await settle();
  queue.leave();
  await settle();
  assert.deepEqual(turns.slice(2), ["b now", "c now"]);
  queue.leave();
  assert.equal(await queue.enter(idle()), "now", "it is free again");
});

Deno.test("ExecutionQueue.enter() ends for whoever is canceled, and for all when it is closed", async () => {
  const queue = executionQueue(9);
  const cancel = new AbortController();
  await queue.enter(idle());
  const canceled = queue.enter(cancel.signal);
  const waiting = queue.enter(idle());
  cancel.abort();
  assert.equal(await canceled, "ended");
  assert.equal(queue.waiting, 1);
  queue.close();
  assert.equal(await waiting, "ended");
  const late: Turn = await queue.enter(idle());
  assert.equal(late, "ended");
  queue.leave();
});

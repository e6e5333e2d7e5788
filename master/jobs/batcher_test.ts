import assert from "node:assert/strict";
import { ManualClock } from "../../tests/fakes/manual_clock.ts";
import { batcher } from "./batcher.ts";

const LIMITS = { itemsMax: 3, bytesMax: 10, waitMs: 5 };

const cases: [name: string, sizes: number[], sentAtOnce: number[][], sentLater: number[][]][] = [
  ["waits for more", [1, 2], [], [[1, 2]]],
  ["sends a batch with as many items as it may have", [1, 2, 3, 4], [[1, 2, 3]], [[4]]],
  ["sends what it has before an item that would be too much", [6, 5], [[6]], [[5]]],
  ["sends one that is too large by itself alone", [1, 11, 2], [[1], [11]], [[2]]],
];

for (const [name, sizes, sentAtOnce, sentLater] of cases) {
  Deno.test(`batcher() ${name}`, () => {
    const clock = new ManualClock();
    const sent: number[][] = [];
    const { add } = batcher<number>(clock, (items) => sent.push(items), LIMITS);
    for (const size of sizes) add(size, size);
    assert.deepEqual(sent, sentAtOnce);
    clock.advance(LIMITS.waitMs);
    assert.deepEqual(sent, [...sentAtOnce, ...sentLater]);
    clock.advance(LIMITS.waitMs * 10);
    assert.deepEqual(sent, [...sentAtOnce, ...sentLater]);
  });
}

Deno.test("batcher() flush() sends at once, and nothing twice", () => {
  const clock = new ManualClock();
  const sent: number[][] = [];
  const { add, flush } = batcher<number>(clock, (items) => sent.push(items), LIMITS);
  flush();
  add(1, 1);
  flush();
  clock.advance(LIMITS.waitMs);
  assert.deepEqual(sent, [[1]]);
});

import assert from "node:assert/strict";
import { WORKERS_AHEAD_MAX, WORKERS_AT_ONCE_MAX } from "../../core/limits.ts";
import { openOwnWorkers } from "./own_workers.ts";
import type { Sandbox } from "./sandbox.ts";

interface Made {
  isClosed: boolean;
}

/** Workers that do nothing, and all that were made. */
function factory(): { made: Made[]; open(): Sandbox } {
  const made: Made[] = [];
  return {
    made,
    open() {
      const one: Made = { isClosed: false };
      made.push(one);
      return Object.assign(one, {
        perform: () => Promise.reject(new Error("not here")),
        close: () => void (one.isClosed = true),
      });
    },
  };
}

const done = () => Promise.resolve();

Deno.test("openOwnWorkers() gives every work a fresh worker, and ends it, failed or not", async () => {
  const { made, open } = factory();
  const workers = openOwnWorkers(open);
  const seen = new Set<Sandbox>();
  for (let times = 0; times < 3; times++) {
    await workers.use((sandbox) => Promise.resolve(void seen.add(sandbox)));
  }
  await assert.rejects(workers.use(() => Promise.reject(new Error("broken"))), /broken/);
  assert.equal(seen.size, 3);
  assert.equal(made.length, 4);
  assert.ok(made.every(({ isClosed }) => isClosed));
});

Deno.test("openOwnWorkers() lets few work at once, in the order they came", async () => {
  const workers = openOwnWorkers(factory().open);
  const order: number[] = [];
  const held = Promise.withResolvers<void>();
  const all = Array.from({ length: WORKERS_AT_ONCE_MAX + 2 }, (_, index) =>
    workers.use(() => {
      order.push(index);
      return held.promise;
    }));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(order.length, WORKERS_AT_ONCE_MAX);
  held.resolve();
  await Promise.all(all);
  assert.deepEqual(order, [...all.keys()]);
});

Deno.test("openOwnWorkers() starts workers ahead of what is expected, and no more than that", async () => {
  const { made, open } = factory();
  const workers = openOwnWorkers(open);
  workers.expect(2);
  assert.equal(made.length, Math.min(2, WORKERS_AHEAD_MAX));
  await workers.use(() => {
    assert.equal(made.length, Math.min(2, 1 + WORKERS_AHEAD_MAX), "the next one starts meanwhile");
    return done();
  });
  await workers.use(done);
  assert.equal(made.length, 2);
  await workers.use(done);
  assert.equal(made.length, 3, "one that was not expected is made when it comes");
});

Deno.test("openOwnWorkers() ends on close what was started for nothing", () => {
  const { made, open } = factory();
  const workers = openOwnWorkers(open);
  workers.expect(5);
  assert.ok(made.length > 0);
  workers.close();
  assert.ok(made.every(({ isClosed }) => isClosed));
});

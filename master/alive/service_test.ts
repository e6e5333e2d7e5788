/** What the guides promise about the heartbeat of masters, on a simulated clock. Each name holds the sentence it covers. */
import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import { newMasterId } from "../../core/ids.ts";
import { memoryLog } from "../../core/log.ts";
import type { Bucket } from "../../core/ports.ts";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { liveMasters, startBeating } from "./service.ts";

/** A master that beats. `reach.store`: false while its writes do not arrive; `reach.process`: false when it is gone. */
async function setUp() {
  const clock = new ManualClock();
  const random = seededRandom(3);
  const { admin, store } = enginePorts(createEngine({ clock, random }), {
    role: "master",
    identity: "m",
    clock,
  });
  await admin.ensureBucket(buckets.masterHeartbeat);
  const masterId = newMasterId(clock.now(), random);
  const reach = { store: true, process: true };
  const beats: number[] = [];
  const bucket = store.bucket(buckets.masterHeartbeat.name);
  const put: Bucket["put"] = async (key, value) => {
    if (!reach.process) return await new Promise<never>(() => {});
    if (!reach.store) return { outcome: "unknown", cause: new ZesterError("timeout", "no answer") };
    beats.push(clock.monotonic());
    return await bucket.put(key, value);
  };
  const alive = startBeating({
    masterId,
    store: { ...store, bucket: () => ({ ...bucket, delete: (key) => bucket.delete(key), put }) },
    clock,
    log: memoryLog(),
    held: () => [],
  });
  return { clock, store, masterId, alive, reach, beats };
}

Deno.test('"Masters publish heartbeats every 5 seconds"', async () => {
  const { clock, beats } = await setUp();
  await clock.advanceSettling(20_000, 500);
  assert.deepEqual(beats, [0, 5_000, 10_000, 15_000, 20_000]);
});

Deno.test('"The KV bucket has a 15-second TTL: a key expires if not refreshed within 15 seconds"', async () => {
  const { clock, store, masterId, reach, beats } = await setUp();
  await clock.advanceSettling(7_000, 500);
  reach.process = false;
  assert.deepEqual(beats, [0, 5_000]);
  await clock.advanceSettling(5_000 + 14_500 - 7_000, 500);
  assert.deepEqual([...await liveMasters(store)], [masterId]);
  await clock.advanceSettling(1_000, 500);
  assert.deepEqual([...await liveMasters(store)], []);
});

Deno.test('"A master must miss 3 consecutive heartbeats before being declared dead": two lost ones do no harm', async () => {
  const { clock, store, masterId, reach } = await setUp();
  await clock.advanceSettling(6_000, 500);
  reach.store = false; // those at 10 and 15 seconds are lost
  await clock.advanceSettling(10_000, 500);
  reach.store = true;
  await clock.advanceSettling(60_000, 500);
  assert.deepEqual([...await liveMasters(store)], [masterId]);
  assert.equal(buckets.masterHeartbeat.history, 1);
});

Deno.test("Alive.unfit() takes a master that could not announce itself for 10 seconds out of the work before others take it for dead", async () => {
  const { clock, alive, reach, store, masterId } = await setUp();
  assert.equal(alive.unfit(), "it has not announced itself yet");
  await clock.advanceSettling(500);
  assert.equal(alive.unfit(), null);
  reach.store = false;
  await clock.advanceSettling(9_000, 500);
  assert.equal(alive.unfit(), null);
  await clock.advanceSettling(1_000, 500);
  assert.equal(alive.unfit(), "its heartbeat cannot be written");
  assert.deepEqual([...await liveMasters(store)], [masterId], "nobody takes its jobs yet");
  reach.store = true;
  await clock.advanceSettling(5_000, 500);
  assert.equal(alive.unfit(), null);
});

Deno.test("Alive.stop() removes the key, so that nobody waits for it to expire", async () => {
  const { clock, alive, store, beats } = await setUp();
  await clock.advanceSettling(500);
  await alive.stop();
  assert.deepEqual([...await liveMasters(store)], []);
  assert.equal(alive.unfit(), "it is stopping");
  await clock.advanceSettling(20_000, 500);
  assert.deepEqual(beats, [0]);
});

/** What the specification promises about leases, on a simulated clock. Each name holds the sentence it covers. */
import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets } from "../../core/buckets.ts";
import type { Bucket } from "../../core/ports.ts";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { holdLease, type LeaseOptions } from "./service.ts";

/** A bucket for leases, with each write that is tried, and when. */
async function setUp() {
  const clock = new ManualClock();
  const engine = createEngine({ clock, random: seededRandom(1) });
  const { admin, store } = enginePorts(engine, { role: "master", identity: "m", clock });
  await admin.ensureBucket(buckets.leases);
  const inner = store.bucket(buckets.leases.name);
  const writes: [method: string, atMs: number][] = [];
  const isDead = new Set<string>();
  function contend(holder: string, change: Partial<LeaseOptions> = {}) {
    const bucket = new Proxy(inner, {
      get(target, method: keyof Bucket) {
        return (...given: never[]) => {
          if (isDead.has(holder)) return new Promise(() => {});
          if (method !== "get") writes.push([`${holder} ${method}`, clock.monotonic()]);
          return (target[method] as (...given: never[]) => unknown)(...given);
        };
      },
    });
    const random = { bytes: seededRandom(holder.length).bytes, float: () => 0.5 };
    const common = { name: "publisher", holder, bucket, clock, random };
    return holdLease({ ...common, onAcquired: () => {}, onLost: () => {}, ...change });
  }
  return {
    clock,
    inner,
    writes,
    contend,
    isDead,
    pass: (ms: number) => clock.advanceSettling(ms, 50),
  };
}

Deno.test('"Acquire by Create" and "TTL 15s, renewed every 5s by CAS update of the holder\'s own revision"', async () => {
  const { writes, contend, pass } = await setUp();
  const handle = contend("m1");
  await pass(15_100);
  assert.deepEqual(writes.map(([what]) => what), ["m1 create", ...Array(3).fill("m1 update")]);
  const gaps = writes.slice(1).map(([, atMs], n) => atMs - writes[n]![1]);
  assert.ok(gaps.every((gap) => gap >= 5_000 && gap <= 5_050), `${gaps}`);
  await handle.stop();
});

Deno.test('"up to one TTL": whoever died holding it is followed within 15 s and the next attempt, "retry every TTL/3 + random(0..TTL/6)"', async () => {
  const { clock, writes, contend, pass, isDead } = await setUp();
  contend("m1");
  await pass(100);
  const second = contend("m2");
  await pass(100);
  isDead.add("m1");
  const diedMs = clock.monotonic();
  while (!second.status().isHeld && clock.monotonic() < 60_000) await pass(50);
  const tookMs = clock.monotonic() - diedMs;
  assert.ok(tookMs >= 14_500 && tookMs <= 15_000 + 7_500, `${tookMs}`);
  const tries = writes.filter(([what]) => what === "m2 create").map(([, atMs]) => atMs);
  const gaps = tries.slice(1).map((atMs, n) => atMs - tries[n]!);
  assert.ok(gaps.every((gap) => gap >= 6_250 && gap <= 6_300), `${gaps}: 5 s and half of 2.5 s`);
});

Deno.test('"Graceful release deletes the key fenced by last revision (2s limit)"', async () => {
  const { clock, inner, contend, pass, isDead } = await setUp();
  const handle = contend("m1");
  await pass(100);
  const stopped = handle.stop();
  await pass(50);
  await stopped;
  assert.equal(await inner.get("publisher"), null);
  const other = contend("m2");
  await pass(100);
  isDead.add("m2");
  let isOver = false;
  const hanging = other.stop().then(() => isOver = true);
  const startMs = clock.monotonic();
  await pass(1_900);
  assert.equal(isOver, false);
  await pass(200);
  await hanging;
  assert.ok(clock.monotonic() - startMs <= 2_100);
});

Deno.test('"If the lease loop exits, restart after 5s"', async () => {
  const { writes, contend, pass } = await setUp();
  let isFirst = true;
  const handle = contend("m1", {
    onAcquired() {
      if (!isFirst) return;
      isFirst = false;
      throw new Error("a callback that fails");
    },
  });
  await pass(5_100);
  const tries = writes.filter(([what]) => what === "m1 create").map(([, atMs]) => atMs);
  const [first = 0, second = 0, ...more] = tries;
  assert.deepEqual(more, []);
  assert.ok(second - first >= 5_000 && second - first <= 5_050, `${tries}`);
  await pass(20_000);
  assert.equal(handle.status().isHeld, true);
  await handle.stop();
});

import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import {
  LEASE_RELEASE_MS,
  LEASE_RENEW_MS,
  LEASE_RESTART_MS,
  LEASE_TTL_MS,
} from "../../core/limits.ts";
import type { Bucket, WriteResult } from "../../core/ports.ts";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { decodeLease } from "./plan.ts";
import { holdLease, type Lease, type LeaseOptions } from "./service.ts";

const UNKNOWN: WriteResult = {
  outcome: "unknown",
  cause: new ZesterError("timeout", "no answer"),
};

interface Bench {
  readonly clock: ManualClock;
  readonly bucket: Bucket;
  /** Lets time pass in steps of 100 ms. */
  pass(ms: number): Promise<void>;
  /** A contender, and what became of it. */
  contend(holder: string, change?: Partial<LeaseOptions>): Contender;
}

interface Contender {
  readonly handle: ReturnType<typeof holdLease>;
  readonly leases: Lease[];
  readonly losses: string[];
}

/** A bucket on the engine and a clock that the test moves. */
async function bench(body: (bench: Bench) => Promise<void>): Promise<void> {
  const clock = new ManualClock();
  const engine = createEngine({ clock, random: seededRandom(1) });
  const ports = enginePorts(engine, { role: "master", identity: "m1", clock });
  await ports.admin.ensureBucket(buckets.leases);
  const bucket = ports.store.bucket(buckets.leases.name);
  let seed = 0;
  try {
    await body({
      clock,
      bucket,
      pass: (ms) => clock.advanceSettling(ms, 100),
      contend(holder, change = {}) {
        const leases: Lease[] = [];
        const losses: string[] = [];
        const handle = holdLease({
          name: "publisher",
          holder,
          bucket,
          clock,
          random: seededRandom(++seed),
          onAcquired: (lease) => void leases.push(lease),
          onLost: (why) => void losses.push(why),
          ...change,
        });
        return { handle, leases, losses };
      },
    });
  } finally {
    engine.close();
  }
}

/** The bucket with some methods changed. */
function altered(inner: Bucket, change: Partial<Bucket>): Bucket {
  return {
    get: (key, options) => inner.get(key, options),
    create: (key, value) => inner.create(key, value),
    update: (key, value, revision) => inner.update(key, value, revision),
    put: (key, value) => inner.put(key, value),
    delete: (key, options) => inner.delete(key, options),
    keys: (prefix) => inner.keys(prefix),
    history: (key) => inner.history(key),
    watch: (filter, handler) => inner.watch(filter, handler),
    ...change,
  };
}

async function holderOf(bucket: Bucket): Promise<string | null> {
  const entry = await bucket.get("publisher");
  return entry && decodeLease(entry.value).holder;
}

Deno.test("holdLease() acquires a free lease and keeps it by renewing", () =>
  bench(async ({ bucket, contend, pass }) => {
    const { handle, leases, losses } = contend("m1");
    await pass(10 * LEASE_TTL_MS);
    assert.equal(leases.length, 1);
    assert.deepEqual(losses, []);
    assert.ok(leases[0]!.isHeld() && !leases[0]!.signal.aborted);
    const { isHeld, acquired, revision } = handle.status();
    assert.ok(isHeld && acquired === leases[0]!.revision && revision! > acquired);
    assert.equal((await bucket.get("publisher"))?.revision, revision);
    await handle.stop();
  }));

Deno.test("holdLease() lets one of two have it, and the other take over after a graceful stop", () =>
  bench(async ({ bucket, contend, pass }) => {
    const first = contend("m1");
    await pass(100);
    const second = contend("m2");
    await pass(LEASE_TTL_MS);
    assert.equal(second.handle.status().isHeld, false);
    await first.handle.stop();
    assert.deepEqual(first.losses, ["stopped"]);
    assert.ok(first.leases[0]!.signal.aborted);
    assert.equal(await holderOf(bucket), null, "released at once");
    await pass(LEASE_TTL_MS / 2);
    assert.ok(second.handle.status().isHeld, "well before a TTL has passed");
    assert.ok(second.leases[0]!.revision > first.leases[0]!.revision);
    await second.handle.stop();
  }));

Deno.test("holdLease() takes over from a holder that died, once its key has expired", () =>
  bench(async ({ bucket, contend, pass }) => {
    await bucket.create("publisher", new TextEncoder().encode("dead x-1"));
    const { handle } = contend("m1");
    await pass(LEASE_TTL_MS - 200);
    assert.equal(handle.status().isHeld, false);
    await pass(LEASE_TTL_MS / 2 + 300);
    assert.ok(handle.status().isHeld);
    await handle.stop();
  }));

const failures: [name: string, update: Bucket["update"]][] = [
  ["is refused", () => Promise.resolve({ outcome: "conflict" })],
  ["has an unknown outcome", () => Promise.resolve(UNKNOWN)],
  ["throws", () => Promise.reject(new ZesterError("permission_denied", "not allowed"))],
];

for (const [name, update] of failures) {
  Deno.test(`holdLease() gives up at once when a renewal ${name}`, () =>
    bench(async ({ bucket, contend, pass }) => {
      const { handle, leases, losses } = contend("m1", { bucket: altered(bucket, { update }) });
      await pass(LEASE_RENEW_MS + 100);
      assert.equal(losses.length, 1);
      assert.ok(leases[0]!.signal.aborted && !handle.status().isHeld);
      await handle.stop();
    }));
}

Deno.test("holdLease() gives up when a renewal hangs until the TTL is over", () =>
  bench(async ({ bucket, contend, pass }) => {
    const update = () => new Promise<WriteResult>(() => {});
    const { handle, losses } = contend("m1", { bucket: altered(bucket, { update }) });
    await pass(LEASE_TTL_MS - 200);
    assert.ok(handle.status().isHeld);
    await pass(300);
    assert.equal(losses.length, 1);
    assert.match(losses[0]!, /not answered within one TTL/);
    await handle.stop();
  }));

Deno.test("holdLease() knows after a pause that it holds nothing, before any timer has run", () =>
  bench(async ({ clock, contend, pass }) => {
    const stoppable = { pausedMs: 0 };
    const { handle, leases, losses } = contend("m1", {
      clock: {
        now: () => clock.now(),
        monotonic: () => clock.monotonic() + stoppable.pausedMs,
        after: (delayMs, callback) => clock.after(delayMs, callback),
        every: (intervalMs, callback) => clock.every(intervalMs, callback),
        sleep: (delayMs, signal) => clock.sleep(delayMs, signal),
      },
    });
    await pass(1_000);
    assert.ok(leases[0]!.isHeld());
    stoppable.pausedMs = LEASE_TTL_MS;
    assert.equal(leases[0]!.isHeld(), false);
    assert.equal(handle.status().isHeld, false);
    await pass(LEASE_RENEW_MS);
    assert.match(losses[0]!, /not renewed for one TTL/);
    await handle.stop();
  }));

Deno.test("holdLease() finds its own nonce after a create with unknown outcome that had happened", () =>
  bench(async ({ bucket, contend, pass }) => {
    const leaderReads: boolean[] = [];
    const { handle, leases } = contend("m1", {
      bucket: altered(bucket, {
        create: async (key, value) => {
          await bucket.create(key, value);
          return UNKNOWN;
        },
        get: (key, options) => {
          leaderReads.push(options?.leader === true);
          return bucket.get(key, options);
        },
      }),
    });
    await pass(100);
    assert.deepEqual(leaderReads, [true]);
    assert.equal(leases[0]?.revision, (await bucket.get("publisher"))?.revision);
    await handle.stop();
    assert.equal(await holderOf(bucket), null);
  }));

Deno.test("holdLease() does not assume a create with unknown outcome that had not happened", () =>
  bench(async ({ bucket, contend, pass }) => {
    await bucket.create("publisher", new TextEncoder().encode("m1 of-an-earlier-life"));
    const { handle, leases } = contend("m1", {
      bucket: altered(bucket, { create: () => Promise.resolve(UNKNOWN) }),
    });
    await pass(LEASE_TTL_MS);
    assert.deepEqual(leases, []);
    await handle.stop();
  }));

Deno.test("holdLease() stop() never deletes the key of another holder", () =>
  bench(async ({ bucket, contend, pass }) => {
    const { handle } = contend("m1");
    await pass(100);
    await bucket.put("publisher", new TextEncoder().encode("m2 x-1"));
    await handle.stop();
    assert.equal(await holderOf(bucket), "m2");
  }));

Deno.test("holdLease() stop() ends within its limit when the store does not answer", () =>
  bench(async ({ clock, bucket, contend, pass }) => {
    const hanging = () => new Promise<WriteResult>(() => {});
    const { handle, losses } = contend("m1", { bucket: altered(bucket, { delete: hanging }) });
    await pass(100);
    let isStopped = false;
    handle.stop().then(() => isStopped = true);
    assert.deepEqual(losses, ["stopped"], "leadership ends at once");
    await pass(LEASE_RELEASE_MS - 100);
    assert.equal(isStopped, false);
    await pass(100);
    assert.ok(isStopped);
    const timers = clock.timers;
    await pass(LEASE_TTL_MS);
    assert.ok(clock.timers <= timers, "nothing goes on");
  }));

Deno.test("holdLease() may be stopped from inside onAcquired()", () =>
  bench(async ({ bucket, contend, pass }) => {
    let stopped: Promise<void> | undefined;
    const contender: Contender = contend("m1", {
      onAcquired: () => void (stopped = contender.handle.stop()),
    });
    await pass(100);
    await stopped;
    assert.deepEqual(contender.losses, ["stopped"]);
    assert.equal(await holderOf(bucket), null);
  }));

Deno.test("holdLease() starts again after a while when a callback throws", () =>
  bench(async ({ contend, pass }) => {
    const log: string[] = [];
    let isBroken = true;
    const acquired: bigint[] = [];
    const { handle, losses } = contend("m1", {
      log: (entry) => void log.push(entry.do),
      onAcquired: (lease) => {
        if (isBroken) throw new Error("broken");
        acquired.push(lease.revision);
      },
    });
    await pass(100);
    assert.ok(log.includes("restart"));
    assert.equal(losses.length, 1);
    assert.equal(handle.status().isHeld, false);
    isBroken = false;
    const before = log.length;
    await pass(LEASE_RESTART_MS - 200);
    assert.equal(log.length, before, "rests before it begins again");
    await pass(2 * LEASE_TTL_MS);
    assert.equal(acquired.length, 1);
    await handle.stop();
  }));

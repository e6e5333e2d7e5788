/** Masters and their jobs on a simulated clock: what the documents promise, sentence by sentence, and every crash point. */
import assert from "node:assert/strict";
import { createEngine, type Engine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets, streams } from "../../core/buckets.ts";
import { newMasterId } from "../../core/ids.ts";
import { ACK_HOLD_MS, ACK_WINDOW_MS } from "../../core/limits.ts";
import { keyringOf } from "../../core/keyring.ts";
import { memoryLog } from "../../core/log.ts";
import { type FakeMetrics, fakeMetrics } from "../../core/metrics.ts";
import { voiceOf } from "../../core/outgoing.ts";
import type { Bucket, Bus, Clock, Delivery, FailPoints, Store, Stream } from "../../core/ports.ts";
import { builtInRoles } from "../../core/roles.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeAck } from "../../core/wire/ack.ts";
import { decodeFollow, type FollowEvent } from "../../core/wire/follow.ts";
import { encodeJob, type Job, newJob } from "../../core/wire/job.ts";
import { type FakePeel, fakePeel } from "../../tests/fakes/fake_peel.ts";
import {
  COMMAND_SIGNER,
  testPeelKey,
  testSigner,
  testTrust,
} from "../../tests/fakes/identities.ts";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { type Jobs, type JobsPorts, startJobs } from "./service.ts";
import { jobStore } from "./store.ts";

const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
const PEELS = ["a", "b", "c"];

interface TestMaster {
  readonly id: string;
  readonly jobs: Jobs;
  readonly metrics: FakeMetrics;
  /** As kill -9: nothing of it happens any more. */
  die(): void;
}

interface Lab {
  readonly clock: ManualClock;
  readonly store: Store;
  /** Of somebody who may say anything. */
  readonly bus: Bus;
  readonly peels: Record<string, FakePeel>;
  master(
    failAt?: string,
    change?: (store: Store) => Store,
    more?: Pick<JobsPorts, "knowsPeels">,
  ): TestMaster;
  dispatch(change?: Partial<Job>): FollowEvent[];
  record(): Promise<Job | null>;
  later(ms: number): Promise<void>;
}

async function lab(): Promise<Lab> {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const engine: Engine = createEngine({ clock, random });
  const outside = enginePorts(engine, { role: "bootstrap", identity: "lab", clock });
  for (const spec of Object.values(buckets)) await outside.admin.ensureBucket(spec);
  for (const spec of Object.values(streams)) await outside.admin.ensureStream(spec);
  const trust = testTrust(["alice"]);
  const peels = Object.fromEntries(PEELS.map((id) => {
    const { bus } = enginePorts(engine, { role: "peel", identity: id, clock });
    return [id, fakePeel(id, bus, clock)];
  }));
  const operator = enginePorts(engine, { role: "operator", identity: "alice", clock });

  function master(
    failAt?: string,
    change: (store: Store) => Store = (store) => store,
    more: Pick<JobsPorts, "knowsPeels"> = {},
  ): TestMaster {
    const id = newMasterId(clock.now(), random);
    const ports = enginePorts(engine, { role: "master", identity: id, clock });
    const metrics = fakeMetrics();
    const mortal = mortalPorts(ports, clock);
    const failPoints: FailPoints = {
      hit: (name) => name === failAt ? (mortal.die(), new Promise(() => {})) : undefined,
    };
    const jobs = startJobs({
      masterId: id,
      bus: mortal.bus,
      store: change(mortal.store),
      clock: mortal.clock,
      random,
      voice: voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, mortal.bus, clock),
      keyring: keyringOf(() => trust, (peel) => testPeelKey(peel)),
      authorizer: builtInRoles,
      metrics,
      log: memoryLog(),
      failPoints,
      peelKey: (peel) => testPeelKey(peel),
      isOnline: () => true,
      resolve: () => ({ targets: PEELS }),
      followElsewhere: () => {},
      ...more,
    });
    return { id, jobs, metrics, die: mortal.die };
  }

  return {
    clock,
    store: outside.store,
    bus: outside.bus,
    peels,
    master,
    dispatch(change = {}) {
      const asked = {
        jid: JID,
        function: "test.ping",
        args: {},
        targetExpr: "*",
        timeoutMs: 300_000,
      };
      const payload = encodeJob({ ...newJob(asked, clock.now()), ...change });
      const inbox = operator.bus.inbox();
      const events: FollowEvent[] = [];
      operator.bus.subscribe(inbox, (message) => events.push(decodeFollow(message.data)));
      voiceOf({ signer: testSigner("alice"), generation: 1 }, operator.bus, clock)
        .say(subjects.dispatch, subjects.dispatch.of({ operator: "alice" }), payload, {
          reply: inbox,
        });
      return events;
    },
    record: () => jobStore(outside.store, clock, random).read(JID),
    later: (ms) => clock.advanceSettling(ms, Math.min(ms, 500)),
  };
}

/** Ports that fall silent for ever: calls never resolve, timers never fire, messages never arrive. */
function mortalPorts(
  inner: { bus: Bus; store: Store; close(): void },
  clock: Clock,
): { bus: Bus; store: Store; clock: Clock; die(): void } {
  let dead = false;
  const never = new Promise<never>(() => {});
  const guard = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name, receiver) {
        const value = Reflect.get(object, name, receiver);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (dead) return never;
          const result = value.apply(object, args);
          if (result instanceof Promise) return result.then((done) => dead ? never : done);
          return result;
        };
      },
    });
  const { bus, store } = inner;
  return {
    bus: {
      ...bus,
      get connected() {
        return !dead && bus.connected;
      },
      publish: (...args) => void (dead || bus.publish(...args)),
      subscribe: (subject, handler, options) =>
        bus.subscribe(subject, (message) => void (dead || handler(message)), options),
      request: (...args) => dead ? never : bus.request(...args),
      flush: (ms) => dead ? never : bus.flush(ms),
      inbox: () => bus.inbox(),
    },
    store: {
      bucket: (name) => guard(store.bucket(name)),
      stream: (name) => guard(store.stream(name)),
    },
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, callback) => clock.after(ms, () => void (dead || callback())),
      every: (ms, callback) => clock.every(ms, () => void (dead || callback())),
      sleep: (ms, signal) => clock.sleep(ms, signal).then(() => dead ? never : undefined),
    },
    die() {
      dead = true;
      inner.close();
    },
  };
}

function kinds(events: readonly FollowEvent[]): string[] {
  return events.map((event) => event.kind).filter((kind) => kind !== "alive");
}

Deno.test("a job is claimed, logged, marked as running, told, and ends complete with its counts stamped", async () => {
  const { dispatch, master, later, record, peels, store } = await lab();
  const { id, metrics } = master();
  await later(100);
  const events = dispatch();
  await later(100);
  assert.deepEqual(kinds(events), ["accepted", "returns", "done"]);
  const job = await record();
  assert.equal(job?.status, "complete");
  assert.equal(job?.owner, id);
  assert.deepEqual([job?.returnCount, job?.successCount], [3, 3]);
  assert.deepEqual(PEELS.map((peel) => peels[peel]?.runs.get(JID)), [1, 1, 1]);
  assert.deepEqual(
    await store.bucket("job-returns").keys(JID),
    PEELS.map((peel) => `${JID}.${peel}`),
  );
  assert.deepEqual(await store.bucket("jobs").keys("active"), [], "the index is cleared");
  assert.equal(metrics.value("jobs", { status: "complete" }), 1);
});

Deno.test("an ack is told after a moment, unless its return came meanwhile; then it is not even looked at", async () => {
  const { dispatch, master, later, peels, bus, clock } = await lab();
  const [a, b] = [peels["a"]!, peels["b"]!];
  b.behaviour = "ack";
  const { metrics } = master();
  await later(100);
  const events = dispatch();
  await later(10);
  for (const peel of [a, b]) sayAck(peel.id, "stranger", bus, clock);
  await later(500);
  const told = events.flatMap((event) => event.kind === "acks" ? event.peels : []);
  assert.deepEqual(told, ["b"]);
  b.finish(JID);
  await later(500);
  assert.equal(events.at(-1)?.kind, "done");
  assert.equal(metrics.value("ingressRefused", { reason: "unknown_key" }), 1, "b's, not a's");
});

Deno.test("a forged ack counts for nothing, however long it waited: its peel is told again and given up", async () => {
  const { dispatch, master, later, peels, bus, clock, record } = await lab();
  peels["c"]!.behaviour = "silent";
  const { metrics } = master();
  await later(100);
  dispatch();
  await later(100);
  sayAck("c", "a", bus, clock);
  await later(5_500);
  assert.equal(metrics.value("ingressRefused", { reason: "unknown_key" }), 1);
  assert.equal(peels["c"]?.asked.length, 2);
  await later(6_000);
  assert.equal((await record())?.status, "failed");
});

Deno.test("an ack that comes just before its peel would be told again still prevents it", async () => {
  const { dispatch, master, later, peels, bus, clock } = await lab();
  peels["c"]!.behaviour = "silent";
  master();
  await later(100);
  dispatch();
  const sentMs = clock.now();
  await later(ACK_WINDOW_MS - ACK_HOLD_MS / 2);
  sayAck("c", "c", bus, clock);
  await later(2 * ACK_HOLD_MS);
  assert.ok(clock.now() > sentMs + ACK_WINDOW_MS);
  assert.equal(peels["c"]?.asked.length, 1);
});

/** An ack of `peel`, signed by `signer`. */
function sayAck(peel: string, signer: string, bus: Bus, clock: Clock): void {
  const payload = encodeAck({ jid: JID, peelId: peel, timestampMs: clock.now() });
  voiceOf({ signer: testSigner(signer), generation: 1 }, bus, clock)
    .say(subjects.ack, subjects.ack.of({ jid: JID, peel }), payload);
}

Deno.test("the request reaches peels only after the record says running: a claimed record proves that nobody was told", async () => {
  const { dispatch, master, later, record, peels } = await lab();
  master("dispatch.logged");
  await later(100);
  dispatch();
  await later(100);
  assert.equal((await record())?.status, "claimed");
  assert.deepEqual(PEELS.map((peel) => peels[peel]?.asked.length), [0, 0, 0]);
});

const CRASHES = [
  "dispatch.claimed",
  "dispatch.logged",
  "dispatch.running",
  "dispatch.published_one",
  "watch.before_finish",
];
for (const point of CRASHES) {
  Deno.test(`a master that dies at ${point} loses nothing and doubles nothing: another ends the job within 55 s`, async () => {
    const { dispatch, master, later, record, peels } = await lab();
    master(point);
    await later(100);
    dispatch();
    await later(100);
    const second = master();
    await later(54_000);
    const job = await record();
    assert.equal(job?.status, "complete", `${job?.status}: ${job?.metadata?.["ended_because"]}`);
    assert.equal(job?.owner, second.id);
    assert.equal(job?.reclaimCount, 1);
    assert.deepEqual(PEELS.map((peel) => peels[peel]?.runs.get(JID)), [1, 1, 1]);
    assert.equal(second.metrics.value("jobReclaims"), 1);
  });
}

Deno.test("a master that dies before its claim leaves an index entry, which goes away when it is old", async () => {
  const { dispatch, master, later, record, store } = await lab();
  master("dispatch.indexed");
  await later(100);
  dispatch();
  await later(100);
  assert.deepEqual(await store.bucket("jobs").keys("active"), [`active.${JID}`]);
  master();
  await later(9 * 60_000);
  assert.deepEqual(await store.bucket("jobs").keys("active"), [`active.${JID}`]);
  await later(2 * 60_000);
  assert.deepEqual(await store.bucket("jobs").keys("active"), []);
  assert.equal(await record(), null);
});

Deno.test("a job taken over honours what is left of its time, seeds from stored returns, and asks only the silent again", async () => {
  const { dispatch, master, later, record, peels } = await lab();
  const { a, b, c } = peels as { a: FakePeel; b: FakePeel; c: FakePeel };
  b.behaviour = "ack";
  c.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch({ timeoutMs: 60_000 });
  await later(1_000);
  first.die();
  c.finish(JID); // nobody watches now: only the stream hears it
  master();
  await later(50_000);
  assert.deepEqual(
    [a.asked.length, b.asked.length, c.asked.length],
    [1, 1, 1],
    "all were heard from",
  );
  await later(10_000);
  const job = await record();
  assert.equal(job?.status, "partial");
  assert.deepEqual([job?.returnCount, job?.successCount], [2, 2]);
});

Deno.test("an expired job is ended from what is there, and one that was never sent says so", async () => {
  const { dispatch, master, later, record, peels } = await lab();
  master("dispatch.logged");
  await later(100);
  dispatch({ timeoutMs: 10_000 });
  await later(100);
  master();
  await later(45_000);
  assert.equal((await record())?.status, "not_sent");
  assert.deepEqual(PEELS.map((peel) => peels[peel]?.asked.length), [0, 0, 0]);
});

Deno.test("a job that was taken over three times is given up with the reason", async () => {
  const { dispatch, master, later, record, peels } = await lab();
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch({ timeoutMs: 3_600_000 });
  await later(1_000);
  first.die();
  for (let takeover = 1; takeover <= 3; takeover++) {
    const next = master();
    await later(60_000);
    assert.equal((await record())?.reclaimCount, takeover);
    assert.equal((await record())?.owner, next.id);
    next.die();
  }
  master();
  await later(60_000);
  const job = await record();
  assert.equal(job?.status, "failed");
  assert.match(job?.metadata?.["failed_reason"] ?? "", /3 times/);
  assert.deepEqual(PEELS.map((peel) => peels[peel]?.runs.get(JID)), [1, 1, 1]);
});

Deno.test("two masters never own a job at one epoch: of two that take it over at once, one backs off", async () => {
  const { dispatch, master, later, record, peels } = await lab();
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch();
  await later(1_000);
  first.die();
  const rivals = [master(), master(), master()];
  await later(60_000);
  const job = await record();
  assert.equal(job?.reclaimCount, 1);
  assert.deepEqual(
    rivals.map(({ jobs }) => jobs.watchers.isHeld(JID)),
    rivals.map(({ id }) => id === job?.owner),
  );
});

Deno.test("a graceful stop hands the job over, and the next scan of another master takes it without waiting for misses", async () => {
  const { dispatch, master, later, record, peels } = await lab();
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch();
  await later(1_000);
  const second = master();
  await later(1_000);
  const stopped = first.jobs.stop();
  await later(1_000);
  await stopped;
  assert.equal((await record())?.status, "running");
  await later(20_000);
  assert.equal((await record())?.owner, second.id);
  for (const peel of Object.values(peels)) peel.finish(JID);
  await later(1_000);
  assert.equal((await record())?.status, "complete");
});

Deno.test("a master that was cut off and comes back finds its job taken and drops it before it publishes anything", async () => {
  const { dispatch, master, later, record, peels, store, clock } = await lab();
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch();
  await later(1_000);
  const job = await record();
  assert.ok(job);
  // As if another had taken it while we could not see: its record has a newer revision.
  const rival = { ...job, owner: newMasterId(0, seededRandom(99)) };
  assert.ok((await jobStore(store, clock, seededRandom(98)).commit(rival)).ours);
  first.jobs.connected();
  await later(100);
  assert.equal(first.jobs.watchers.isHeld(JID), false);
  for (const peel of Object.values(peels)) peel.finish(JID);
  await later(1_000);
  assert.equal((await record())?.status, "running", "it ends nothing that is not its own");
});

Deno.test("a job asked for twice is one job: the same intent follows it, another intent is a conflict", async () => {
  const { dispatch, master, later, peels } = await lab();
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  master();
  await later(100);
  const first = dispatch();
  await later(1_000);
  const again = dispatch();
  const other = dispatch({ function: "test.echo" });
  await later(1_000);
  assert.deepEqual(kinds(other), ["refused"]);
  for (const peel of Object.values(peels)) peel.finish(JID);
  await later(1_000);
  for (const events of [first, again]) assert.equal(events.at(-1)?.kind, "done");
  assert.deepEqual(PEELS.map((peel) => peels[peel]?.asked.length), [1, 1, 1]);
});

Deno.test("a cancel that was kept while nobody owned the job is found by whoever takes it over, and told to the peels", async () => {
  const { dispatch, master, later, record, peels, store, bus, clock } = await lab();
  const told: string[] = [];
  bus.subscribe(subjects.jobCancel.filter(), ({ subject }) => told.push(subject));
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch();
  await later(1_000);
  first.die();
  await jobStore(store, clock, seededRandom(1)).requestCancel(JID, "alice");
  master();
  await later(60_000);
  const job = await record();
  assert.equal(job?.status, "canceled");
  assert.match(job?.metadata?.["ended_because"] ?? "", /alice/);
  assert.deepEqual(told, [subjects.jobCancel.of({ jid: JID })]);
});

Deno.test("a failed read of the heartbeats ends the scan: nobody is taken for dead, and no miss is counted", async () => {
  const { dispatch, master, later, record, peels } = await lab();
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch({ timeoutMs: 3_600_000 });
  await later(1_000);
  first.die();
  let readable = false;
  const second = master(undefined, (store) => ({
    ...store,
    bucket: (name) =>
      name === buckets.masterHeartbeat.name && !readable
        ? { ...bound(store.bucket(name)), keys: () => Promise.reject(new Error("unreadable")) }
        : store.bucket(name),
  }));
  await later(120_000);
  assert.equal((await record())?.owner, first.id);
  readable = true;
  await later(21_000);
  assert.equal((await record())?.owner, first.id, "one miss is not enough");
  await later(20_000);
  assert.equal((await record())?.owner, second.id);
});

Deno.test("a cancel that its owner did not hear is found when it is connected again, and when its time is over", async () => {
  for (const isReconnected of [true, false]) {
    const { dispatch, master, later, record, peels, store, clock } = await lab();
    for (const peel of Object.values(peels)) peel.behaviour = "ack";
    const { jobs } = master();
    await later(100);
    dispatch({ timeoutMs: 30_000 });
    await later(1_000);
    await jobStore(store, clock, seededRandom(1)).requestCancel(JID, "alice");
    if (isReconnected) jobs.connected();
    await later(isReconnected ? 1_000 : 30_000);
    assert.equal((await record())?.status, "canceled");
  }
});

Deno.test("a job that ends after its time counts and keeps no return of a peel that it was not for", async () => {
  const { dispatch, master, later, record, peels, store, bus, clock } = await lab();
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch({ timeoutMs: 10_000 });
  await later(1_000);
  first.die();
  fakePeel("stranger", bus, clock).finish(JID);
  peels["a"]!.finish(JID);
  master();
  await later(60_000);
  assert.deepEqual([(await record())?.status, (await record())?.returnCount], ["partial", 1]);
  assert.deepEqual(await store.bucket("job-returns").keys(JID), [`${JID}.a`]);
});

Deno.test("a replay of the stream that was cut short is made again: no return is taken for one that never came", async () => {
  const { dispatch, master, later, record, peels } = await lab();
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch({ timeoutMs: 10_000 });
  await later(1_000);
  first.die();
  for (const peel of Object.values(peels)) peel.finish(JID);
  let cuts = 1;
  master(undefined, (store) => ({
    ...store,
    stream: (name) => withFetch(store.stream(name), (fetch) => cuts-- > 0 ? [] : fetch()),
  }));
  await later(120_000);
  assert.ok(cuts < 0, "the replay was cut short, and made again");
  assert.equal((await record())?.status, "complete");
});

/** A stream whose consumers fetch in another way. */
function withFetch(
  stream: Stream,
  change: (fetch: () => Promise<Delivery[]>) => Delivery[] | Promise<Delivery[]>,
): Stream {
  return {
    append: (...args) => stream.append(...args),
    get: (...args) => stream.get(...args),
    lastOn: (...args) => stream.lastOn(...args),
    info: () => stream.info(),
    async consumer(spec) {
      const consumer = await stream.consumer(spec);
      return {
        fetch: async (options) => await change(() => consumer.fetch(options)),
        info: () => consumer.info(),
        delete: () => consumer.delete(),
      };
    },
  };
}

Deno.test("a master that has not read who the peels are takes no job over: it would refuse what they said", async () => {
  const { dispatch, master, later, record, peels } = await lab();
  for (const peel of Object.values(peels)) peel.behaviour = "ack";
  const first = master();
  await later(100);
  dispatch();
  await later(1_000);
  first.die();
  let isKnown = false;
  const second = master(undefined, undefined, { knowsPeels: () => isKnown });
  await later(120_000);
  assert.equal((await record())?.owner, first.id);
  isKnown = true;
  await later(60_000);
  assert.equal((await record())?.owner, second.id);
});

/** The methods of a bucket as own properties, so that one can be replaced. */
function bound(bucket: Bucket): Bucket {
  return {
    get: (...args) => bucket.get(...args),
    create: (...args) => bucket.create(...args),
    update: (...args) => bucket.update(...args),
    put: (...args) => bucket.put(...args),
    delete: (...args) => bucket.delete(...args),
    keys: (...args) => bucket.keys(...args),
    history: (...args) => bucket.history(...args),
    watch: (...args) => bucket.watch(...args),
  };
}

/** What the guides promise about orphans, on a simulated clock. Each name holds the sentence it covers. */
import assert from "node:assert/strict";
import { buckets } from "../../core/buckets.ts";
import type { Bucket, Store } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeMasterHeartbeat } from "../../core/wire/heartbeat.ts";
import { encodeJob, type Job } from "../../core/wire/job.ts";
import { type JobsLab, jobsLab } from "../../tests/fakes/jobs_lab.ts";

const HEARTBEATS = buckets.masterHeartbeat.name;

/** A job that all peels have accepted and none has finished, whose master then died. */
async function orphaned(lab: JobsLab, change: Partial<Job> = {}): Promise<string> {
  lab.behave("ack");
  const owner = lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch({ timeoutMs: 3_600_000, ...change });
  await lab.later(250);
  owner.die();
  return jid;
}

/** Passes everything on, and tells which keys of which bucket were read. */
function watched(store: Store, note: (bucket: string, call: string) => void): Store {
  const bucket = (name: string): Bucket =>
    new Proxy(store.bucket(name), {
      get(target, method) {
        const member = Reflect.get(target, method);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) => {
          note(name, `${String(method)} ${given[0] ?? ""}`);
          return member.apply(target, given);
        };
      },
    });
  return { bucket, stream: (name) => store.stream(name) };
}

Deno.test('"the orphan scanner runs on every master, every 20 seconds"', async () => {
  const lab = await jobsLab();
  const scans = [0, 1].map(() => {
    const atMs: number[] = [];
    lab.master({
      store: (store) =>
        watched(store, (bucket, call) => {
          if (bucket === HEARTBEATS && call === "keys ") atMs.push(lab.clock.monotonic());
        }),
    });
    return atMs;
  });
  await lab.later(60_000, 50);
  for (const atMs of scans) assert.deepEqual(atMs, [250, 20_000, 40_000, 60_000]);
});

Deno.test('"an owner must be absent for 2 consecutive scan cycles": a single blip of the heartbeats reclaims nothing', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  const owner = lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch({ timeoutMs: 3_600_000 });
  await lab.later(250);
  const blips = [true, false, true, false];
  let missed = 0;
  lab.master({
    store: (store) => ({
      ...store,
      bucket(name) {
        const bucket = store.bucket(name);
        if (name !== HEARTBEATS) return bucket;
        const keys = async () => {
          if (!blips.shift()) return await bucket.keys();
          missed++;
          return (await bucket.keys()).filter((key) => key !== owner.id);
        };
        return { ...bucket, put: (...given) => bucket.put(...given), keys };
      },
    }),
  });
  await lab.later(120_000);
  assert.equal(missed, 2);
  const job = await lab.records.read(jid);
  assert.deepEqual([job?.owner, job?.reclaimCount], [owner.id, undefined]);
});

Deno.test('"worst-case reclaim latency is roughly the heartbeat TTL (15s) plus two 20-second scan cycles, ~55 seconds"', async () => {
  for (const diesAfterMs of [100, 4_900, 5_100, 10_000, 14_900, 19_900]) {
    const lab = await jobsLab();
    lab.behave("ack");
    const masters = [lab.master(), lab.master()];
    await lab.later(250);
    const { jid } = lab.dispatch({ timeoutMs: 3_600_000 });
    await lab.later(diesAfterMs, 100);
    const dead = (await lab.records.read(jid))?.owner;
    masters.find(({ id }) => id === dead)?.die();
    const diedMs = lab.clock.monotonic();
    while ((await lab.records.read(jid))?.owner === dead) await lab.later(250);
    const latencyMs = lab.clock.monotonic() - diedMs;
    assert.ok(latencyMs >= 20_000 && latencyMs <= 55_000, `${latencyMs} ms`);
  }
});

Deno.test('"the scanner enumerates only the active keys and fetches just the referenced job records"', async () => {
  const lab = await jobsLab();
  const jobs = lab.store.bucket(buckets.jobs.name);
  lab.behave("answer");
  const done = lab.master();
  await lab.later(250);
  for (let n = 0; n < 20; n++) lab.dispatch();
  await lab.later(1_000);
  assert.equal((await lab.records.jids()).length, 20);
  assert.deepEqual(await jobs.keys("active"), []);
  done.die();
  const orphan = await orphaned(lab);
  const calls: string[] = [];
  lab.master({
    store: (store) =>
      watched(store, (bucket, call) => {
        if (bucket === buckets.jobs.name) calls.push(call);
      }),
  });
  await lab.later(1_000);
  assert.deepEqual(calls, ["keys active", `get active.${orphan}`, `get ${orphan}`]);
});

Deno.test('"a job reclaimed more than 3 times is CAS-finalized as failed, with the reason in failed_reason", and the event says so', async () => {
  const lab = await jobsLab();
  const jid = await orphaned(lab);
  for (let takeover = 1; takeover <= 3; takeover++) {
    const next = lab.master();
    await lab.later(60_000);
    assert.deepEqual(
      [(await lab.records.read(jid))?.owner, (await lab.records.read(jid))?.reclaimCount],
      [next.id, takeover],
    );
    next.die();
  }
  const last = lab.master();
  await lab.later(60_000);
  const job = await lab.records.read(jid);
  assert.equal(job?.status, "failed");
  assert.equal(job?.metadata?.["failed_reason"], "it was taken over 3 times already");
  const ends = (await lab.events(jid)).filter(({ subject }) =>
    subject === subjects.jobStatus.of({ jid })
  );
  assert.deepEqual(ends.map(({ event }) => [event.type, event.data]), [["failed", {
    status: "failed",
    returns: 0,
    successes: 0,
    reason: "it was taken over 3 times already",
  }]]);
  assert.equal(last.metrics.value("jobs", { status: "failed" }), 1);
});

Deno.test('"each time an orphaned job is reclaimed from a dead master, its ReclaimCount is incremented": handing over is no death', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  let owner = lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch({ timeoutMs: 3_600_000 });
  await lab.later(250);
  for (let upgrade = 1; upgrade <= 5; upgrade++) {
    const next = lab.master();
    const stopped = owner.jobs.stop();
    await lab.later(21_000);
    await stopped;
    const job = await lab.records.read(jid);
    assert.deepEqual([job?.status, job?.owner, job?.reclaimCount ?? 0], ["running", next.id, 0]);
    assert.equal(next.metrics.value("jobReclaims"), 0);
    owner = next;
  }
});

Deno.test('"a 5-minute job reclaimed 4 minutes in has 1 minute left, not 5"', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  const owner = lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch({ timeoutMs: 300_000 });
  const dispatchedMs = lab.clock.now();
  await lab.later(200_000, 1_000);
  owner.die();
  const next = lab.master();
  await lab.later(40_000);
  assert.equal((await lab.records.read(jid))?.owner, next.id, "reclaimed 4 minutes in");
  await lab.later(dispatchedMs + 300_000 - lab.clock.now() - 250);
  assert.equal((await lab.records.read(jid))?.status, "running");
  await lab.later(1_000);
  const job = await lab.records.read(jid);
  assert.deepEqual([job?.status, job?.deadlineMs], ["timeout", dispatchedMs + 300_000]);
});

Deno.test('"a job whose deadline has already expired at reclaim time is finalized immediately from the returns collected so far, without re-dispatching"', async () => {
  const lab = await jobsLab();
  const jid = await orphaned(lab, { timeoutMs: 10_000 });
  lab.peels["a"]?.finish(jid); // only the stream hears it
  const next = lab.master();
  await lab.later(45_000);
  const job = await lab.records.read(jid);
  assert.deepEqual([job?.status, job?.returnCount, job?.successCount], ["partial", 1, 1]);
  assert.deepEqual(Object.values(lab.peels).map(({ asked }) => asked.length), [1, 1, 1]);
  const stored = await lab.store.bucket(buckets.jobReturns.name).keys(jid);
  assert.deepEqual(stored, [`${jid}.a`], "what counts is kept like the rest");
  const [, end] = await lab.events(jid);
  assert.deepEqual([end?.event.type, (end?.event.data as Job)?.status], ["completed", "partial"]);
  assert.equal(next.metrics.value("jobs", { status: "partial" }), 1);
});

Deno.test('"a job record read back with a zero deadline is defensively normalized to Created + Timeout before use"', async () => {
  for (const [timeoutMs, budgetMs] of [[120_000, 120_000], [0, 60_000]] as const) {
    const lab = await jobsLab();
    const jid = await orphaned(lab);
    const job = await lab.records.read(jid);
    assert.ok(job);
    const { deadlineMs: _, ...without } = job;
    await lab.store.bucket(buckets.jobs.name).put(jid, encodeJob({ ...without, timeoutMs }));
    lab.master();
    await lab.later(41_000);
    const taken = await lab.records.read(jid);
    assert.equal(taken?.deadlineMs, job.createdMs + budgetMs);
    assert.equal(taken.status, "running");
    await lab.later(budgetMs);
    assert.equal((await lab.records.read(jid))?.status, "timeout");
  }
});

Deno.test('"jobs remain running until a master starts and performs startup recovery": a job handed over by the last one is taken at once', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  const only = lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch({ timeoutMs: 3_600_000 });
  await lab.later(250);
  const stopped = only.jobs.stop();
  await lab.later(1_000);
  await stopped;
  await lab.later(600_000, 10_000);
  assert.equal((await lab.records.read(jid))?.status, "running");
  const next = lab.master();
  await lab.later(1_000);
  assert.equal((await lab.records.read(jid))?.owner, next.id, "it does not wait for the next scan");
});

Deno.test('"the master\'s heartbeat contains its instance id, a timestamp and the job ids it owns"; a graceful stop removes it', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  const { id, jobs } = lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch();
  await lab.later(5_000);
  const heartbeats = lab.store.bucket(HEARTBEATS);
  const entry = await heartbeats.get(id);
  assert.ok(entry);
  const beat = decodeMasterHeartbeat(entry.value);
  assert.deepEqual([beat.masterId, beat.activeJobs], [id, [jid]]);
  assert.equal(beat.timestampMs, entry.createdMs);
  const stopped = jobs.stop();
  await lab.later(1_000);
  await stopped;
  assert.deepEqual(await heartbeats.keys(), []);
});

Deno.test("a job record that cannot be read is left alone and keeps nobody from the other orphans", async () => {
  const lab = await jobsLab();
  const jid = await orphaned(lab);
  const bad = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
  await lab.store.bucket(buckets.jobs.name).put(bad, Uint8Array.of(0xc1));
  await lab.records.index(bad, undefined);
  const next = lab.master();
  await lab.later(60_000);
  assert.equal((await lab.records.read(jid))?.owner, next.id);
  assert.ok(next.log.records.some(({ message }) => message === "job record cannot be read"));
});

/** What the guide promises about acks, resends and returns, on a simulated clock. Each name holds the sentence it covers. */
import assert from "node:assert/strict";
import { buckets } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import { newMasterId } from "../../core/ids.ts";
import type { Bucket, Store } from "../../core/ports.ts";
import { decodeReturn } from "../../core/wire/return.ts";
import { type JobsLab, jobsLab } from "../../tests/fakes/jobs_lab.ts";
import { seededRandom } from "../../tests/fakes/manual_clock.ts";

function asked(lab: JobsLab): (number | undefined)[] {
  return ["a", "b", "c"].map((peel) => lab.peels[peel]?.asked.length);
}

Deno.test('"DefaultAckWindow = 5 seconds: re-publishes the ExecRequest, same epoch, same args, exactly once to every silent target"', async () => {
  const lab = await jobsLab();
  const { a, b, c } = lab.peels;
  assert.ok(a && b && c);
  a.behaviour = "ack";
  b.behaviour = "silent";
  c.behaviour = "silent";
  lab.master();
  await lab.later(250);
  lab.dispatch({ timeoutMs: 3_600_000, args: { x: 1 } });
  await lab.later(4_750);
  assert.deepEqual(asked(lab), [1, 1, 1]);
  await lab.later(500);
  assert.deepEqual(asked(lab), [1, 2, 2], "whoever acked is heard from");
  for (const { asked: [first, second] } of [b, c]) assert.deepEqual(first, second);
  await lab.later(600_000, 1_000);
  assert.deepEqual(asked(lab), [1, 2, 2], "the window fires once and only once per job");
});

Deno.test('"Unreachable fast path: 10s after start every target with neither ack nor return gets a synthetic return, persisted like a real one"', async () => {
  const lab = await jobsLab();
  lab.behave("silent");
  lab.master();
  await lab.later(250);
  const { jid, told } = lab.dispatch({ timeoutMs: 3_600_000 });
  await lab.later(9_750);
  assert.equal((await lab.records.read(jid))?.status, "running");
  await lab.later(500);
  const job = await lab.records.read(jid);
  assert.equal(job?.status, "failed", "an unreachable target makes the job failed, not partial");
  assert.deepEqual([job.returnCount, job.successCount ?? 0], [3, 0]);
  const entry = await lab.store.bucket(buckets.jobReturns.name).get(`${jid}.a`);
  assert.ok(entry);
  const given = decodeReturn(entry.value);
  assert.deepEqual([given.success, given.unreachable], [false, true]);
  assert.match(given.error ?? "", /^UNREACHABLE: /);
  assert.equal(told.at(-1)?.kind, "done", "the CLI ends early");
});

Deno.test('"Acked targets always wait for the deadline"', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch({ timeoutMs: 120_000 });
  await lab.later(119_500);
  assert.equal((await lab.records.read(jid))?.status, "running");
  await lab.later(1_000);
  assert.equal((await lab.records.read(jid))?.status, "timeout");
});

Deno.test('"Every return is persisted to its per-peel key as soon as it arrives" and "no aggregated value is written at finalize"', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch();
  await lab.later(250);
  const returns = lab.store.bucket(buckets.jobReturns.name);
  const stored: string[][] = [];
  for (const peel of ["b", "a", "c"]) {
    lab.peels[peel]?.finish(jid);
    await lab.later(1);
    stored.push(await returns.keys());
  }
  const key = (peel: string) => `${jid}.${peel}`;
  assert.deepEqual(stored, [[key("b")], ["a", "b"].map(key), ["a", "b", "c"].map(key)]);
  await lab.later(1_000);
  assert.equal((await lab.records.read(jid))?.status, "complete");
  assert.deepEqual(await returns.keys(), ["a", "b", "c"].map(key));
});

Deno.test('"Returns whose KV write fails are re-queued and retried": after 200 ms, doubling up to 30 s, and the job ends only when all are stored', async () => {
  const lab = await jobsLab();
  const triesMs: number[] = [];
  const broken = { isBroken: true };
  lab.master({ store: (store) => failingReturns(store, broken, () => note()) });
  const startMs = lab.clock.monotonic();
  function note(): void {
    triesMs.push(lab.clock.monotonic() - startMs);
  }
  await lab.later(250);
  lab.behave("ack");
  const { jid } = lab.dispatch({ timeoutMs: 3_600_000 });
  await lab.later(250);
  lab.peels["a"]?.finish(jid);
  await lab.later(120_000, 50);
  const gaps = triesMs.slice(1).map((atMs, n) => atMs - triesMs[n]!);
  const [first = 0, ...more] = gaps;
  assert.ok(first >= 200 && first <= 250, `${first}`);
  for (const [n, gap] of more.entries()) {
    const before = gaps[n]!;
    assert.ok(gap <= 30_050 && (gap >= before * 2 - 100 || gap >= 30_000), `${gaps}`);
  }
  assert.ok(gaps.at(-1)! >= 30_000, `${gaps}`);
  for (const peel of ["b", "c"]) lab.peels[peel]?.finish(jid);
  await lab.later(5_000);
  assert.equal(
    (await lab.records.read(jid))?.status,
    "running",
    "an end must not outrun its returns",
  );
  broken.isBroken = false;
  await lab.later(31_000);
  assert.equal((await lab.records.read(jid))?.status, "complete");
  assert.equal((await lab.store.bucket(buckets.jobReturns.name).keys(jid)).length, 3);
});

function failingReturns(store: Store, state: { isBroken: boolean }, note: () => void): Store {
  return {
    ...store,
    bucket(name) {
      const bucket = store.bucket(name);
      if (name !== buckets.jobReturns.name) return bucket;
      const put: Bucket["put"] = (key, value) => {
        if (key.endsWith(".a")) note();
        if (!state.isBroken) return bucket.put(key, value);
        return Promise.resolve({
          outcome: "unknown",
          cause: new ZesterError("timeout", "no answer"),
        });
      };
      return new Proxy(bucket, {
        get: (target, method) => method === "put" ? put : Reflect.get(target, method).bind(target),
      });
    },
  };
}

Deno.test('"Peels reject stale epochs, and a partitioned master that reconnects abandons jobs that were reclaimed": it resends nothing after the ack window either', async () => {
  const lab = await jobsLab();
  lab.behave("silent");
  const first = lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch({ timeoutMs: 3_600_000 });
  await lab.later(250);
  const job = await lab.records.read(jid);
  assert.ok(job);
  const rival = newMasterId(0, seededRandom(99));
  await lab.records.commit({ ...job, owner: rival }); // somebody else has taken it since
  await lab.later(15_000);
  assert.deepEqual(asked(lab), [1, 1, 1]);
  assert.equal(first.jobs.watchers.isHeld(jid), false);
});

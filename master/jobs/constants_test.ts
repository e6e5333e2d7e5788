/** What the guides promise about records, chunks, retention and lifecycle events, on a simulated clock. */
import assert from "node:assert/strict";
import { buckets, streams } from "../../core/buckets.ts";
import { decode } from "../../core/msgpack.ts";
import type { Bus } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeReturn } from "../../core/wire/return.ts";
import { encodeJobEvent } from "../../core/wire/job_event.ts";
import { jobsLab } from "../../tests/fakes/jobs_lab.ts";
import { settle } from "../../tests/fakes/manual_clock.ts";

const DAY_MS = 86_400_000;
const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";

Deno.test('"jobs, job-returns and job-events: 7 days"', async () => {
  const { store, clock, records } = await jobsLab();
  await records.index(JID, undefined);
  const given = { jid: JID, peelId: "a", success: true, returnData: null, durationMs: 0 };
  const returns = store.bucket(buckets.jobReturns.name);
  await returns.put(`${JID}.a`, encodeReturn({ ...given, timestampMs: clock.now() }));
  const stream = store.stream(streams.jobEvents.name);
  const event = encodeJobEvent({ jid: JID, type: "dispatched", timestampMs: clock.now() });
  await stream.append(subjects.jobDispatched.of({ jid: JID }), event);
  const kept = async () => [
    (await store.bucket(buckets.jobs.name).keys()).length,
    (await returns.keys()).length,
    (await stream.info()).messages,
  ];
  await clock.advanceSettling(7 * DAY_MS - 60_000, DAY_MS);
  assert.deepEqual(await kept(), [1, 1, 1]);
  await clock.advanceSettling(120_000, 60_000);
  assert.deepEqual(await kept(), [0, 0, 0]);
});

Deno.test("jobs keep 10 revisions, returns and heartbeats one", () => {
  const { jobs, jobReturns, masterHeartbeat } = buckets;
  assert.deepEqual([jobs, jobReturns, masterHeartbeat].map(({ history }) => history), [10, 1, 1]);
});

for (const [count, chunks] of [[5_000, 0], [5_001, 2]] as const) {
  Deno.test(`"Above 5,000 targets the list is chunked": ${count} targets are in ${chunks} chunks, and all of them are told, also after a takeover`, async () => {
    const targets = Array.from({ length: count }, (_, n) => `p${String(n).padStart(5, "0")}`);
    const lab = await jobsLab(targets);
    lab.behave("ack");
    const told = new Set<string>();
    const counting = { bus: (bus: Bus) => noting(bus, (peel) => told.add(peel)) };
    const first = lab.master(counting);
    await lab.later(250);
    const { jid } = lab.dispatch({ timeoutMs: 3_600_000 });
    await lab.later(250, 1); // they are told in parts
    await until(() => told.size >= count);
    const job = await lab.records.read(jid);
    assert.ok(job);
    assert.deepEqual([job.targets.length, job.targetChunks ?? 0], [
      chunks === 0 ? count : 0,
      chunks,
    ]);
    const jobs = lab.store.bucket(buckets.jobs.name);
    const keys = Array.from({ length: chunks }, (_, n) => `targets.${jid}.${n}`);
    assert.deepEqual(await jobs.keys("targets"), keys);
    const parts = await Promise.all(keys.map(async (key) => (await jobs.get(key))?.value));
    const lengths = parts.map((part) => (decode(part!, "targets") as string[]).length);
    assert.ok(lengths.every((length) => length <= 5_000), `${lengths}`);
    assert.deepEqual(await lab.records.targets(job), targets);
    assert.equal(told.size, count);
    first.die();
    told.clear();
    lab.master(counting);
    await lab.later(40_000, 1_000);
    await lab.later(250, 1);
    await until(() => told.size >= count - 3);
    assert.equal(told.size, count - 3, "those that were heard from are not told again");
  });
}

Deno.test('"all masters subscribe to the cancel wildcard": the owner cancels at once, the others ignore it, wherever it was sent', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  const masters = [lab.master(), lab.master(), lab.master()];
  await lab.later(250);
  const { jid, told } = lab.dispatch({ timeoutMs: 3_600_000 });
  const other = lab.dispatch({ timeoutMs: 3_600_000 });
  await lab.later(250);
  lab.peels["a"]?.finish(jid);
  await lab.later(250);
  await lab.cancel(jid);
  await lab.later(250);
  const job = await lab.records.read(jid);
  assert.deepEqual([job?.status, job?.returnCount], ["canceled", 1]);
  assert.match(job?.metadata?.["ended_because"] ?? "", /alice/);
  assert.equal(told.at(-1)?.kind, "done");
  const counts = masters.map(({ metrics }) => metrics.value("jobs", { status: "canceled" }));
  assert.deepEqual(counts, masters.map(({ id }) => id === job?.owner ? 1 : 0));
  assert.equal((await lab.records.read(other.jid))?.status, "running");
  const [, end] = await lab.events(jid);
  assert.equal(end?.event.type, "canceled");
});

/** Lets promises settle until it is so, or for a bounded while. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5_000 && !isSo(); turn++) await settle();
  await settle();
}

/** Tells which peels are commanded. */
function noting(bus: Bus, note: (peel: string) => void): Bus {
  return new Proxy(bus, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        const command = name === "publish" ? subjects.command.parse(String(given[0])) : null;
        if (command !== null) note(command.peel);
        return member.apply(target, given);
      };
    },
  });
}

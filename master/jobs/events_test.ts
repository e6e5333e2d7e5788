/** The lifecycle events of a job in `job-events`: subjects, types and fields as the protocol names them. */
import assert from "node:assert/strict";
import { streams } from "../../core/buckets.ts";
import { decode } from "../../core/msgpack.ts";
import { ingest } from "../../core/ingress.ts";
import { keyringOf } from "../../core/keyring.ts";
import { subjects } from "../../core/subjects.ts";
import { JOB_EVENT } from "../../core/wire/job_event.ts";
import type { Job } from "../../core/wire/job.ts";
import { testTrust } from "../../tests/fakes/identities.ts";
import { type JobsLab, jobsLab } from "../../tests/fakes/jobs_lab.ts";

Deno.test("JOB_EVENT names the types of the protocol", () => {
  assert.deepEqual(Object.keys(JOB_EVENT), [
    "dispatched",
    "acked",
    "returned",
    "completed",
    "canceled",
    "timeout",
    "failed",
  ]);
});

const ends: [name: string, type: string, make: (lab: JobsLab, jid: string) => Promise<void>, data: {
  status: Job["status"];
  returns: number;
  successes: number;
  reason: string;
}][] = [
  ["complete", "completed", async (lab, jid) => {
    for (const peel of Object.values(lab.peels)) peel.finish(jid);
    await lab.later(250);
  }, { status: "complete", returns: 3, successes: 3, reason: "all targets have answered" }],
  ["failed", "failed", async (lab, jid) => {
    for (const peel of Object.values(lab.peels)) peel.finish(jid, peel.id !== "b");
    await lab.later(250);
  }, { status: "failed", returns: 3, successes: 2, reason: "all targets have answered" }],
  ["partial", "completed", async (lab, jid) => {
    lab.peels["a"]?.finish(jid);
    await lab.later(60_500);
  }, { status: "partial", returns: 1, successes: 1, reason: "its time is over" }],
  ["timeout", "timeout", (lab) => lab.later(60_500), {
    status: "timeout",
    returns: 0,
    successes: 0,
    reason: "its time is over",
  }],
];
for (const [name, type, make, data] of ends) {
  Deno.test(`job-events has a "dispatched" and a "${type}" event of a job that ended ${name}, with their fields`, async () => {
    const lab = await jobsLab();
    lab.behave("ack");
    const { id: owner } = lab.master();
    await lab.later(250);
    const dispatchedMs = lab.clock.now();
    const { jid } = lab.dispatch();
    await lab.later(250);
    await make(lab, jid);
    const [first, second, ...more] = await lab.events(jid);
    assert.deepEqual(more, []);
    assert.equal(first?.subject, `zester.job.${jid}.dispatch`);
    assert.equal(first.event.type, "dispatched");
    assert.equal(first.event.timestampMs, dispatchedMs);
    const job = first.event.data as Record<string, unknown>;
    assert.equal(job["function"], "test.ping");
    assert.equal(job["user"], "alice");
    assert.equal(job["owner"], owner);
    assert.equal(second?.subject, `zester.job.${jid}.status`);
    assert.deepEqual([second.event.jid, second.event.type, second.event.data], [jid, type, data]);
  });
}

Deno.test("job-events holds acks and returns as they came, under zester.job.<jid>, and every event of a master is signed", async () => {
  const lab = await jobsLab();
  lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch();
  await lab.later(250);
  const stream = lab.store.stream(streams.jobEvents.name);
  const { lastSequence } = await stream.info();
  const found: string[] = [];
  for (let at = 1n; at <= lastSequence; at++) {
    const message = await stream.get(at);
    assert.ok(message);
    found.push(message.subject.replace(`zester.job.${jid}.`, ""));
    const keys = Object.keys(decode(message.data, "event") as object);
    assert.ok(keys.includes("jid") && keys.includes("timestamp"), `${keys}`);
    const rule = [subjects.jobDispatched, subjects.jobStatus].find((each) =>
      each.parse(message.subject) !== null
    );
    if (rule === undefined) continue;
    const inbound = { ...message, reply: undefined, status: undefined };
    const headers = message.headers.filter(([header]) => !header.startsWith("Nats-"));
    const keyring = keyringOf(() => testTrust());
    const door = ingest({ ...inbound, headers }, { rule, keyring, nowMs: message.storedMs });
    assert.ok(door.ok);
  }
  assert.equal(found[0], "dispatch");
  assert.equal(found.at(-1), "status");
  assert.deepEqual(found.slice(1, -1).sort(), [
    "ack.a",
    "ack.b",
    "ack.c",
    "return.a",
    "return.b",
    "return.c",
  ]);
});

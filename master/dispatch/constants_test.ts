/** What the guide promises about dispatching, on a simulated clock. Each name holds the sentence it covers. */
import assert from "node:assert/strict";
import { buckets, streams } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import { QUEUES, subjects } from "../../core/subjects.ts";
import type { Bucket, Bus, Store } from "../../core/ports.ts";
import { decodeActiveJob } from "../../core/wire/active_job.ts";
import { type Job, JOB_STATUS } from "../../core/wire/job.ts";
import { type JobsLab, jobsLab, type LabMasterOptions } from "../../tests/fakes/jobs_lab.ts";

/** Replaces some methods of one bucket. */
function withBucket(name: string, change: (bucket: Bucket) => Partial<Bucket>) {
  return (store: Store): Store => ({
    ...store,
    bucket(asked) {
      const bucket = store.bucket(asked);
      if (asked !== name) return bucket;
      const changed: Partial<Bucket> = change(bucket);
      return new Proxy(bucket, {
        get: (target, method) =>
          Reflect.get(changed, method) ?? Reflect.get(target, method).bind(target),
      });
    },
  });
}

const unavailable = () => Promise.reject(new ZesterError("timeout", "no answer"));

async function after(ms: number, lab: JobsLab, jid: string): Promise<Job | null> {
  await lab.later(ms);
  return await lab.records.read(jid);
}

Deno.test('"The dispatch Deadline is re-anchored on the master\'s clock": a CLI host with a lagging clock gets the same 60-second default', async () => {
  for (const clockOffMs of [-50_000, 0, 50_000]) {
    const lab = await jobsLab();
    lab.behave("ack");
    lab.master();
    await lab.later(250);
    const dispatchedMs = lab.clock.now();
    const { jid } = lab.dispatch({ deadlineMs: dispatchedMs - 3_600_000 }, clockOffMs);
    assert.equal((await after(59_500, lab, jid))?.status, "running");
    const job = await after(1_000, lab, jid);
    assert.deepEqual([job?.status, job?.deadlineMs], ["timeout", dispatchedMs + 60_000]);
  }
});

const timeouts: [sentence: string, change: Partial<Job>, wantMs: number][] = [
  ["the 60-second default when no timeout is given", {}, 60_000],
  ["state.apply: --timeout, default 5m", { function: "state.apply", stateId: "web" }, 300_000],
  ["state.highstate or state.apply without a state 10m", { function: "state.apply" }, 600_000],
  ["--timeout overrides", { function: "state.apply", stateId: "web", timeoutMs: 7_000 }, 7_000],
];
for (const [sentence, change, wantMs] of timeouts) {
  Deno.test(`"${sentence}": the job ends by then`, async () => {
    const lab = await jobsLab();
    lab.behave("ack");
    lab.master();
    await lab.later(250);
    const { jid } = lab.dispatch(change);
    assert.equal((await after(wantMs - 500, lab, jid))?.status, "running");
    assert.equal((await after(1_000, lab, jid))?.status, "timeout");
  });
}

Deno.test('"The KV revision is saved as the job\'s Epoch" and "ExecRequest contains the JID, function, state ID, args, epoch, and protocol version"', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch({ function: "pkg.version", stateId: "nginx", args: { all: true } });
  await lab.later(250);
  const entry = await lab.store.bucket(buckets.jobs.name).get(jid);
  const [request] = lab.peels["a"]?.asked ?? [];
  assert.ok(request);
  const { v, module, id, args, epoch } = request;
  assert.deepEqual([v, request.jid, module, id, args], [1, jid, "pkg.version", "nginx", {
    all: true,
  }]);
  assert.equal(epoch, entry?.revision);
});

Deno.test('"A companion key active.<jid> is created in the same jobs bucket, holding owner and updated"', async () => {
  const lab = await jobsLab();
  lab.behave("ack");
  const { id } = lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch();
  await lab.later(250);
  const entry = await lab.store.bucket(buckets.jobs.name).get(`active.${jid}`);
  assert.ok(entry);
  const { owner, updatedMs } = decodeActiveJob(entry.value);
  assert.deepEqual([owner, updatedMs], [id, entry.createdMs]);
});

Deno.test("the steps come in their order: index, claimed, dispatch event, running, and only then the peels", async () => {
  const lab = await jobsLab();
  const steps: string[] = [];
  lab.master({
    store: (store) => ({
      stream(name) {
        const stream = store.stream(name);
        const append: typeof stream.append = (subject, ...rest) => {
          steps.push(subject.split(".").at(-1) ?? "");
          return stream.append(subject, ...rest);
        };
        return new Proxy(stream, {
          get: (target, method) =>
            method === "append" ? append : Reflect.get(target, method).bind(target),
        });
      },
      bucket: (name) =>
        withBucket(buckets.jobs.name, (bucket) => ({
          put(key, value) {
            steps.push(`put ${key.split(".")[0]}`);
            return bucket.put(key, value);
          },
          create(key, value) {
            steps.push("create");
            return bucket.create(key, value);
          },
          update(key, value, revision) {
            steps.push("update");
            return bucket.update(key, value, revision);
          },
        }))(store).bucket(name),
    }),
    bus: (bus) => telling(bus, () => steps.push("cmd")),
  });
  await lab.later(250);
  lab.dispatch();
  await lab.later(250);
  assert.deepEqual(steps.slice(0, 7), [
    "put active",
    "create",
    "dispatch",
    "update",
    "cmd",
    "cmd",
    "cmd",
  ]);
});

/** Calls `told` for each command to a peel. */
function telling(bus: Bus, told: (subject: string) => void): Bus {
  return new Proxy(bus, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        if (name === "publish" && subjects.command.parse(String(given[0])) !== null) {
          told(String(given[0]));
        }
        return member.apply(target, given);
      };
    },
  });
}

const failures: [stage: string, options: LabMasterOptions][] = [
  [
    "KV store | Bucket unavailable",
    { store: withBucket(buckets.jobs.name, () => ({ put: unavailable, create: unavailable })) },
  ],
  ["JetStream publish | Stream unavailable", {
    store: (store) => ({
      ...store,
      stream: (name) =>
        name === streams.jobEvents.name
          ? { ...store.stream(name), append: unavailable }
          : store.stream(name),
    }),
  }],
  [
    "CAS to running | Update fails",
    {
      store: withBucket(buckets.jobs.name, () => ({
        update: () => Promise.resolve({ outcome: "conflict" as const }),
      })),
    },
  ],
];
for (const [stage, options] of failures) {
  Deno.test(`"${stage} | Dispatch fails, error returned": nothing was published`, async () => {
    const lab = await jobsLab();
    lab.master(options);
    await lab.later(250);
    const { jid, told } = lab.dispatch();
    await lab.later(5_000);
    assert.deepEqual(told.map(({ kind }) => kind), ["refused"]);
    const job = await lab.records.read(jid);
    assert.ok(job === null || job.status === "claimed");
    assert.deepEqual(Object.values(lab.peels).map(({ asked }) => asked.length), [0, 0, 0]);
  });
}

Deno.test('"CAS to running | Update fails | a retry safely resumes the persisted claim"', async () => {
  const lab = await jobsLab();
  let fails = true;
  lab.master({
    store: withBucket(buckets.jobs.name, (bucket) => ({
      update: (...given) =>
        fails ? Promise.resolve({ outcome: "conflict" }) : bucket.update(...given),
    })),
  });
  await lab.later(250);
  const { jid } = lab.dispatch();
  await lab.later(2_000);
  assert.equal((await lab.records.read(jid))?.status, "claimed");
  fails = false;
  const { told } = lab.dispatch({ jid });
  await lab.later(2_000);
  assert.equal(told.at(-1)?.kind, "done");
  assert.deepEqual(Object.values(lab.peels).map(({ asked }) => asked.length), [1, 1, 1]);
});

Deno.test('"Per-target publish | NATS publish error | Error logged, other targets still dispatched": the job is tracked on', async () => {
  const lab = await jobsLab();
  const { log } = lab.master({
    bus: (bus) =>
      telling(bus, (subject) => {
        if (subject.endsWith(".b")) throw new ZesterError("disconnected", "no connection");
      }),
  });
  await lab.later(250);
  const { jid } = lab.dispatch();
  await lab.later(1_000);
  assert.deepEqual(Object.values(lab.peels).map(({ asked }) => asked.length), [1, 0, 1]);
  assert.ok(
    log.records.some(({ message, fields }) =>
      message === "request not sent" && JSON.stringify(fields).includes('"b"')
    ),
  );
  assert.equal((await lab.records.read(jid))?.status, "running");
});

Deno.test('"The master logs every accepted dispatch at Info level (dispatch request received) with the JID, user, function, and target count"', async () => {
  const lab = await jobsLab();
  const { log } = lab.master();
  await lab.later(250);
  const { jid } = lab.dispatch();
  await lab.later(250);
  const said = log.records.filter(({ message }) => message === "dispatch request received");
  assert.deepEqual(said.map(({ level, fields }) => [level, fields]), [
    ["info", { jid, user: "alice", function: "test.ping", targets: 3 }],
  ]);
});

Deno.test('"NATS queue groups ensure that each dispatched job is handled by exactly one master": zester.masters shares the work', async () => {
  assert.equal(QUEUES.masters, "zester.masters");
  assert.equal(QUEUES.resolvers, "zester-target-resolvers");
  const lab = await jobsLab();
  const masters = [lab.master(), lab.master(), lab.master()];
  await lab.later(250);
  for (let n = 0; n < 60; n++) lab.dispatch();
  await lab.later(2_000, 50);
  const counts = masters.map(({ metrics }) => metrics.value("jobs", { status: "complete" }));
  assert.equal(counts.reduce((sum, count) => sum + count), 60);
  assert.ok(counts.every((count) => count >= 5), `${counts}`);
  assert.deepEqual(Object.values(lab.peels).map(({ asked }) => asked.length), [60, 60, 60]);
});

Deno.test('"If a master disconnects, NATS stops delivering to it and redistributes to surviving members"', async () => {
  const lab = await jobsLab();
  const [first, second] = [lab.master(), lab.master()];
  await lab.later(250);
  first.die();
  for (let n = 0; n < 10; n++) lab.dispatch();
  await lab.later(1_000);
  assert.equal(second.metrics.value("jobs", { status: "complete" }), 10);
});

Deno.test("the statuses of a job are those of the guide, and not_sent", () => {
  assert.deepEqual(Object.keys(JOB_STATUS), [
    "pending",
    "claimed",
    "running",
    "complete",
    "partial",
    "timeout",
    "failed",
    "canceled",
    "not_sent",
  ]);
});

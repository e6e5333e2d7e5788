import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import { newJid } from "../../core/ids.ts";
import type { Bucket, Store, WriteResult } from "../../core/ports.ts";
import { newJob } from "../../core/wire/job.ts";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { jobStore } from "./store.ts";

const LOST: WriteResult = { outcome: "unknown", cause: new ZesterError("timeout", "no answer") };

type Update = Bucket["update"];

/** A job of `m1` at its first epoch, and two masters over the same store; the answers to the first go through `between`. */
async function lab(between: (update: Update) => Update) {
  const clock = new ManualClock();
  const random = seededRandom(3);
  const { admin, store } = enginePorts(createEngine({ clock, random }), {
    role: "master",
    identity: "m1",
    clock,
  });
  await admin.ensureBucket(buckets.jobs);
  const bucket = store.bucket(buckets.jobs.name);
  const update = between((...given) => bucket.update(...given));
  const faulty: Bucket = new Proxy(bucket, {
    get(target, name) {
      const method: unknown = name === "update" ? update : Reflect.get(target, name);
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
  const first = jobStore({ ...store, bucket: () => faulty } as Store, clock, random);
  const second = jobStore(store, clock, random);
  const jid = newJid(clock.now(), random);
  const asked = { jid, function: "test.ping", args: {}, targetExpr: "*", timeoutMs: 1 };
  const made = await second.commit({ ...newJob(asked, clock.now()), owner: "m1" });
  assert.ok(made.ours);
  return { clock, store, first, second, job: made.job };
}

Deno.test("JobStore.commit() whose answer was lost finds its own write by its nonce", async () => {
  const { first, job } = await lab((update) => async (...given) => {
    await update(...given);
    return LOST;
  });
  const written = await first.commit({ ...job, status: "running" });
  assert.ok(written.ours && written.job.epoch > job.epoch);
});

Deno.test("JobStore.commit() that never happened is made again, not assumed", async () => {
  let losses = 1;
  const { clock, first, job } = await lab((update) => (...given) =>
    losses-- > 0 ? Promise.resolve(LOST) : update(...given)
  );
  const writing = first.commit({ ...job, status: "running" });
  await clock.advanceSettling(60_000, 100);
  assert.ok((await writing).ours);
});

Deno.test("JobStore.commit() whose answer was lost and whose rival was faster is not ours", async () => {
  const made = await lab(() => () => Promise.resolve(LOST));
  const rival = await made.second.commit({ ...made.job, owner: "m2" });
  assert.ok(rival.ours);
  const written = await made.first.commit({ ...made.job, status: "running" });
  assert.ok(!written.ours && written.found?.owner === "m2");
});

Deno.test("JobStore.commit() says that it does not know when the store does not", async () => {
  const { clock, first, job } = await lab(() => () => Promise.resolve(LOST));
  const writing = assert.rejects(first.commit({ ...job, status: "running" }), { code: "timeout" });
  await clock.advanceSettling(60_000, 100);
  await writing;
});

Deno.test("JobStore.find() asks the leader before it says that there is no such job", async () => {
  const { store, job } = await lab((update) => update);
  const jobs = jobStore(
    {
      ...store,
      bucket(name) {
        const bucket = store.bucket(name);
        const get: Bucket["get"] = (key, options) =>
          options?.leader ? bucket.get(key, options) : Promise.resolve(null);
        return Object.assign(Object.create(bucket), { get });
      },
    },
    new ManualClock(),
    seededRandom(4),
  );
  assert.equal(await jobs.read(job.jid), null, "a replica that lags");
  assert.equal((await jobs.find(job.jid))?.jid, job.jid);
  assert.equal(await jobs.find(newJid(0, seededRandom(5))), null);
});

/** Takes a job for this master in the `jobs` bucket. The compare-and-set decides; an unknown outcome is looked up. */
import { buckets } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import type { Bucket, Store, WriteResult } from "../../core/ports.ts";
import { decodeJob, encodeJob, type Job } from "../../core/wire/job.ts";

/** Stores the record as `claimed`, then as `running`; gives it back with its epoch. Throws when it is not ours. */
export async function claimJob(job: Job, store: Store): Promise<Job> {
  const jobs = store.bucket(buckets.jobs.name);
  const claimed = await settle(await jobs.create(job.jid, encodeJob(job)), job, jobs);
  const running: Job = { ...job, status: "running", epoch: claimed };
  const epoch = await settle(
    await jobs.update(job.jid, encodeJob(running), claimed),
    running,
    jobs,
  );
  return { ...running, epoch };
}

/** Writes how the job ended, unless somebody else has taken it over meanwhile. */
export async function finishJob(job: Job, store: Store): Promise<boolean> {
  const jobs = store.bucket(buckets.jobs.name);
  const written = await jobs.update(job.jid, encodeJob(job), job.epoch);
  return written.outcome === "ok";
}

async function settle(written: WriteResult, job: Job, jobs: Bucket): Promise<bigint> {
  if (written.outcome === "ok") return written.revision;
  const entry = await jobs.get(job.jid, { leader: true });
  const found = entry === null ? null : decodeJob(entry.value);
  const ours = found?.owner === job.owner && found?.status === job.status;
  // Master ids are made anew at each start, so the owner is our nonce: if the record says so, our write arrived.
  if (written.outcome === "unknown" && entry !== null && ours) return entry.revision;
  if (written.outcome === "unknown" && entry === null) {
    throw new ZesterError("claim_pending", `job ${job.jid}: the store did not answer`, {
      cause: written.cause,
    });
  }
  throw new ZesterError(
    "jid_conflict",
    `job ${job.jid} exists already (${found?.status ?? "unreadable"})`,
  );
}

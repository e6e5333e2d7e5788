/**
 * Job records in the `jobs` bucket. A record's revision is its epoch: whoever writes it fences everybody before. Only the
 * outcome of a compare-and-set decides who owns a job; each write carries a nonce, so that a write whose answer was lost
 * is recognised instead of being taken for a failure or for somebody else's.
 */
import { buckets } from "../../core/buckets.ts";
import { type ErrorCode, ZesterError } from "../../core/errors.ts";
import { JOB_TARGETS_INLINE_MAX, STORE_ATTEMPTS, STORE_RETRY_MS } from "../../core/limits.ts";
import type { Bucket, Clock, Random, ReadOptions, Store } from "../../core/ports.ts";
import { decodeActiveJob, encodeActiveJob } from "../../core/wire/active_job.ts";
import { decodeJob, encodeJob, type Job } from "../../core/wire/job.ts";
import { decode, encode } from "../../core/msgpack.ts";

/** A record as it is stored; `job.epoch` is its revision. */
export type StoredJob = Job;

/** What became of a write: ours, with the record in force; or somebody else's, with theirs (null: it is gone). */
export type Commit = { ours: true; job: StoredJob } | { ours: false; found: StoredJob | null };

export interface ActiveEntry {
  readonly jid: string;
  readonly owner: string | undefined;
  readonly updatedMs: number;
  /** Of the entry, not of the record. */
  readonly revision: bigint;
}

export interface JobStore {
  read(jid: string, options?: ReadOptions): Promise<StoredJob | null>;
  /** The same, but that there is no such job is for the leader to say: a replica that lags does not know new ones. */
  find(jid: string): Promise<StoredJob | null>;
  /**
   * Writes the record: a new one if `job.epoch` is 0, else over exactly that epoch. Throws `timeout` when even after looking
   * it up the outcome is unclear.
   */
  commit(job: Job): Promise<Commit>;
  /** Puts the job into the index of jobs under way. */
  index(jid: string, owner: string | undefined): Promise<void>;
  /** Removes the job from the index; with `revision`, only if the entry is still that one. */
  unindex(jid: string, revision?: bigint): Promise<void>;
  active(): Promise<ActiveEntry[]>;
  /** Ids of all jobs in the bucket, oldest first. */
  jids(): Promise<string[]>;
  /** Asks for a job to be canceled. Kept apart from the record: writing that would fence its owner. */
  requestCancel(jid: string, by: string): Promise<void>;
  /** Who asked for the job to be canceled, if anybody did. */
  cancelRequested(jid: string): Promise<string | null>;
  /** Stores a long list of targets in chunks; gives how many. */
  saveTargets(jid: string, targets: readonly string[]): Promise<number>;
  /** All targets of a job, from the record or its chunks. */
  targets(job: Job): Promise<readonly string[]>;
}

const ACTIVE = "active";
const CANCEL = "cancel";
const TARGETS = "targets";
const NONCE_BYTES = 12;

/** The jobs of a fleet. */
export function jobStore(store: Store, clock: Clock, random: Random): JobStore {
  const jobs = store.bucket(buckets.jobs.name);
  return {
    read: (jid, options) => read(jobs, jid, options),
    find: async (jid) => await read(jobs, jid) ?? await read(jobs, jid, { leader: true }),
    commit: (job) => commit(jobs, { ...job, claim: random.bytes(NONCE_BYTES).toHex() }, clock),
    async index(jid, owner) {
      const entry = encodeActiveJob({
        updatedMs: clock.now(),
        ...(owner === undefined ? {} : { owner }),
      });
      must(await jobs.put(`${ACTIVE}.${jid}`, entry), `index job ${jid}`);
    },
    async unindex(jid, revision) {
      const fence = revision === undefined ? {} : { revision };
      const deleted = await jobs.delete(`${ACTIVE}.${jid}`, fence);
      if (deleted.outcome !== "conflict") must(deleted, `remove job ${jid} from the index`);
    },
    active: () => active(jobs),
    async jids() {
      return (await jobs.keys()).filter((key) => !key.includes("."));
    },
    async requestCancel(jid, by) {
      must(await jobs.put(`${CANCEL}.${jid}`, new TextEncoder().encode(by)), `cancel job ${jid}`);
    },
    async cancelRequested(jid) {
      const entry = await jobs.get(`${CANCEL}.${jid}`, { leader: true });
      return entry === null ? null : new TextDecoder().decode(entry.value);
    },
    saveTargets: (jid, targets) => saveTargets(jobs, jid, targets),
    targets: (job) => loadTargets(jobs, job),
  };
}

async function read(jobs: Bucket, jid: string, options?: ReadOptions): Promise<StoredJob | null> {
  const entry = await jobs.get(jid, options);
  return entry === null ? null : { ...decodeJob(entry.value), epoch: entry.revision };
}

async function commit(jobs: Bucket, job: Job, clock: Clock): Promise<Commit> {
  const bytes = encodeJob(job);
  for (let attempt = 1, waitMs = STORE_RETRY_MS;; attempt++, waitMs *= 2) {
    const written = job.epoch === 0n
      ? await jobs.create(job.jid, bytes)
      : await jobs.update(job.jid, bytes, job.epoch);
    if (written.outcome === "ok") return { ours: true, job: { ...job, epoch: written.revision } };
    const found = await read(jobs, job.jid, { leader: true }).catch((cause) => cause as Error);
    if (!(found instanceof Error)) {
      if (found?.claim === job.claim && found !== null) return { ours: true, job: found };
      if ((found?.epoch ?? 0n) !== job.epoch) return { ours: false, found };
      // Nothing has changed: the write was lost, or refused without a rival, as a leader under pressure does.
    }
    if (attempt >= STORE_ATTEMPTS) {
      throw new ZesterError(
        "timeout",
        `job ${job.jid}: the store does not say what became of a write`,
        {
          cause: written.outcome === "unknown" ? written.cause : found,
        },
      );
    }
    await clock.sleep(waitMs);
  }
}

async function active(jobs: Bucket): Promise<ActiveEntry[]> {
  const keys = await jobs.keys(ACTIVE);
  const entries = await Promise.all(keys.map(async (key) => ({ key, entry: await jobs.get(key) })));
  return entries.flatMap(({ key, entry }) => {
    if (entry === null) return [];
    const { owner, updatedMs } = decodeActiveJob(entry.value);
    return [{ jid: key.slice(ACTIVE.length + 1), owner, updatedMs, revision: entry.revision }];
  });
}

async function saveTargets(jobs: Bucket, jid: string, targets: readonly string[]): Promise<number> {
  const chunks = Math.ceil(targets.length / JOB_TARGETS_INLINE_MAX);
  for (let n = 0; n < chunks; n++) {
    const part = targets.slice(n * JOB_TARGETS_INLINE_MAX, (n + 1) * JOB_TARGETS_INLINE_MAX);
    must(await jobs.put(`${TARGETS}.${jid}.${n}`, encode(part)), `store the targets of job ${jid}`);
  }
  return chunks;
}

async function loadTargets(jobs: Bucket, job: Job): Promise<readonly string[]> {
  if (job.targetChunks === undefined || job.targetChunks === 0) return job.targets;
  const targets: string[] = [];
  for (let n = 0; n < job.targetChunks; n++) {
    const entry = await jobs.get(`${TARGETS}.${job.jid}.${n}`);
    if (entry === null) {
      throw new ZesterError("not_found", `job ${job.jid}: chunk ${n} of its targets is gone`);
    }
    targets.push(...decode(entry.value, "targets") as string[]);
  }
  return targets;
}

/** For writes that nobody races for: an unclear outcome is an error, and doing it again does no harm. */
function must(written: { outcome: string; cause?: unknown }, doing: string): void {
  if (written.outcome === "ok") return;
  const code: ErrorCode = written.outcome === "unknown" ? "timeout" : "internal";
  throw new ZesterError(code, `${doing}: ${written.outcome}`, { cause: written.cause });
}

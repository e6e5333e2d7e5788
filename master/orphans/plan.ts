/** Decides what becomes of the jobs of masters that are gone. */
import { INDEX_ORPHAN_MS, JOB_TIMEOUT_MS, ORPHAN_MISSES, RECLAIMS_MAX } from "../../core/limits.ts";
import { isTerminal, type Job } from "../../core/wire/job.ts";

/** An entry of the index of jobs under way, with the record it points to. */
export interface IndexedJob {
  readonly jid: string;
  /** When the entry was written, and its revision. */
  readonly indexedMs: number;
  readonly revision: bigint;
  readonly record: Job | null;
}

export interface OrphanView {
  readonly now: number;
  readonly self: string;
  readonly live: ReadonlySet<string>;
  readonly jobs: readonly IndexedJob[];
  /** Jobs that this master watches, dispatches or takes over at this moment. */
  readonly held: ReadonlySet<string>;
  /** In how many scans in a row each owner was absent, this one included. */
  readonly misses: ReadonlyMap<string, number>;
  /** In how many scans in a row each index entry had no record, this one included. */
  readonly recordless: ReadonlyMap<string, number>;
}

export type OrphanAction =
  | { do: "wait"; jid: string; why: string }
  | { do: "unindex"; jid: string; revision: bigint; why: string }
  | { do: "fail"; jid: string; record: Job; why: string }
  | { do: "finalize"; jid: string; record: Job; why: string }
  | { do: "reclaim"; jid: string; record: Job; why: string };

/** What to do about each entry of the index; nothing about jobs that are in good hands. */
export function plan(view: OrphanView): OrphanAction[] {
  return view.jobs.flatMap((job) => planOne(job, view) ?? []);
}

function planOne(job: IndexedJob, view: OrphanView): OrphanAction | null {
  const { jid, record, revision } = job;
  if (view.held.has(jid)) return null;
  if (record === null) return planRecordless(job, view);
  if (isTerminal(record.status)) {
    return { do: "unindex", jid, revision, why: `it is ${record.status}` };
  }
  const orphaned = orphanhood(record, view);
  if (!orphaned.is) return orphaned.why === null ? null : { do: "wait", jid, why: orphaned.why };
  const deadlineMs = deadlineOf(record);
  if (view.now >= deadlineMs) {
    return { do: "finalize", jid, record, why: `${orphaned.why}, and its deadline passed` };
  }
  // Handed over is not died of: only deaths are counted, and only after one is the count looked at.
  if (record.owner !== undefined && (record.reclaimCount ?? 0) >= RECLAIMS_MAX) {
    return {
      do: "fail",
      jid,
      record,
      why: `it was taken over ${record.reclaimCount} times already`,
    };
  }
  return { do: "reclaim", jid, record, why: orphaned.why };
}

/**
 * The index is written before the record: an entry alone is a dispatch under way, or one that died in between. It must be
 * old, too: if it were removed under a master that is only slow, its record would be one that nobody finds.
 */
function planRecordless(
  { jid, revision, indexedMs }: IndexedJob,
  { recordless, now }: OrphanView,
): OrphanAction {
  const seen = recordless.get(jid) ?? 0;
  if (seen >= ORPHAN_MISSES && now - indexedMs >= INDEX_ORPHAN_MS) {
    return { do: "unindex", jid, revision, why: `it has had no record for ${seen} scans` };
  }
  return { do: "wait", jid, why: "it has no record yet" };
}

type Orphanhood = { is: true; why: string } | { is: false; why: string | null };

function orphanhood({ owner }: Job, { self, live, misses }: OrphanView): Orphanhood {
  if (owner === undefined) return { is: true, why: "its master handed it over" };
  // Ids are new at each start, so this is ours; but we do not hold it: an interrupted dispatch.
  if (owner === self) return { is: true, why: "our own claim was interrupted" };
  if (live.has(owner)) return { is: false, why: null };
  const missed = misses.get(owner) ?? 0;
  if (missed < ORPHAN_MISSES) {
    return { is: false, why: `its owner missed ${missed} of ${ORPHAN_MISSES} scans` };
  }
  return { is: true, why: `its owner ${owner} is gone` };
}

/** A record without a deadline, which no version of ours writes, gets one. */
export function deadlineOf(record: Job): number {
  return record.deadlineMs ??
    record.createdMs + (record.timeoutMs > 0 ? record.timeoutMs : JOB_TIMEOUT_MS);
}

/** Counts one more scan of absence for each that is absent; whoever is back starts at zero. */
export function countAbsent(
  absent: Iterable<string>,
  before: ReadonlyMap<string, number>,
): Map<string, number> {
  return new Map([...new Set(absent)].map((each) => [each, (before.get(each) ?? 0) + 1]));
}

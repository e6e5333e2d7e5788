/** Recent jobs, newest first. Ids sort by time, so only as many records are read as a page needs. */
import { isKsuid, parseKsuid } from "../../core/ids.ts";
import { QUERY_READS_MAX, QUERY_ROW_NAMES_MAX, QUERY_SCAN_MAX } from "../../core/limits.ts";
import type { Job, JobStatus } from "../../core/wire/job.ts";
import { type JobRow, jobRowMessage, type Query } from "../../core/wire/query.ts";
import { mapLimited } from "../follow/target_state.ts";
import { fillPage, rowLimit } from "./page.ts";
import type { Answerer, QueryPorts } from "./ports.ts";

export const answerJobs: Answerer<"jobs"> = async (query, ports) => {
  const jids = candidates(await ports.jobs.jids(), query);
  const limit = rowLimit(query.limit);
  const found: JobRow[] = [];
  let read = 0;
  while (read < jids.length && found.length < limit && read < QUERY_SCAN_MAX) {
    const some = jids.slice(read, read + QUERY_READS_MAX);
    const records = (await mapLimited(some, (jid) => ports.jobs.read(jid)))
      .map((job) => job !== null && isWanted(job, query) ? job : null);
    const needed = cutAfter(records, limit - found.length);
    const wanted = needed.filter((job) => job !== null);
    found.push(...await mapLimited(wanted, (job) => rowOf(job, ports)));
    read += needed.length;
  }
  const jobs = fillPage(found, sizeOfRow);
  const cut = jobs.length < found.length;
  const last = cut ? jobs.at(-1)?.job.jid : jids[read - 1];
  const more = cut || read < jids.length;
  // Ids made in the same second have no order of their own.
  jobs.sort((a, b) => b.job.createdMs - a.job.createdMs);
  return { kind: "jobs", jobs, ...(more && last !== undefined ? { next: last } : {}) };
};

/** The first part of a list that holds this many that are not null. */
function cutAfter<T>(items: readonly (T | null)[], many: number): (T | null)[] {
  let seen = 0;
  const end = items.findIndex((item) => item !== null && ++seen === many);
  return end < 0 ? [...items] : items.slice(0, end + 1);
}

/** Ids still in question, newest first. Ids of reactions hold no time: they come after the others. */
export function candidates(jids: readonly string[], { after, sinceMs }: Query): string[] {
  const timed = jids.filter(isKsuid).sort().reverse();
  const others = jids.filter((jid) => !isKsuid(jid)).sort().reverse();
  const all = [...timed, ...others];
  const from = after === undefined ? 0 : placeAfter(all, after);
  return all.slice(from).filter((jid) =>
    sinceMs === undefined || !isKsuid(jid) || parseKsuid(jid).timeMs >= sinceMs - SECOND
  );
}

/** Ids are made by the second. */
const SECOND = 1_000;

/** A page goes on where the last one ended, even if that very job has expired meanwhile. */
function placeAfter(all: readonly string[], after: string): number {
  const at = all.indexOf(after);
  if (at >= 0) return at + 1;
  const next = all.findIndex((jid) => isKsuid(jid) === isKsuid(after) && jid < after);
  return next < 0 ? all.length : next;
}

/** States in which a job did not do all that was asked. */
const WENT_WRONG: ReadonlySet<JobStatus> = new Set(["failed", "partial", "timeout", "not_sent"]);

/** Whether a job passes the filters of a query. */
export function isWanted(job: Job, { failed, function: name, user, sinceMs }: Query): boolean {
  return (!failed || WENT_WRONG.has(job.status)) &&
    (name === undefined || job.function === name) &&
    (user === undefined || job.user === user) &&
    (sinceMs === undefined || job.createdMs >= sinceMs);
}

/** A record as a row of a list: a few of its targets, and how many there are. */
export async function rowOf(job: Job, { jobs }: Pick<QueryPorts, "jobs">): Promise<JobRow> {
  const targetCount = job.targetChunks ? (await jobs.targets(job)).length : job.targets.length;
  const { claim: _, ...shown } = job;
  return { job: { ...shown, targets: job.targets.slice(0, QUERY_ROW_NAMES_MAX) }, targetCount };
}

/** Bytes of a row on the wire. */
export function sizeOfRow(row: JobRow): number {
  return jobRowMessage.encode(row).length;
}

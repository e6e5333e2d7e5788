/** What is stored about single targets of a job: a few exact reads each, so that a page costs the same in any fleet. */
import { buckets, streams } from "../../core/buckets.ts";
import {
  BUSY_JOBS_MAX,
  BUSY_PEELS_MAX,
  QUERY_PAGE_BYTES_MAX,
  QUERY_READS_MAX,
} from "../../core/limits.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeAck } from "../../core/wire/ack.ts";
import { isTerminal, type Job } from "../../core/wire/job.ts";
import type { JobTarget } from "../../core/wire/query.ts";
import { decodeReturn, encodeReturn, type Return } from "../../core/wire/return.ts";
import { openAnswer } from "../jobs/answers.ts";
import type { JobPorts } from "../jobs/ports.ts";
import { type Busy, type Seen, silenceReason } from "./silence.ts";
import { decodePeelReturn } from "../jobs/peel_return.ts";

export type TargetPorts =
  & Pick<JobPorts, "store" | "jobs" | "keyring" | "clock" | "metrics" | "log">
  & {
    /** What is known of a peel's presence; absent where nobody listens to heartbeats. */
    seen?(peelId: string): Seen;
  };

const UNKNOWN: Seen = { presence: "unknown" };

/** What is known of these targets, each with its return or the reason why there is none. */
export async function targetStates(
  job: Job,
  peels: readonly string[],
  ports: TargetPorts,
): Promise<JobTarget[]> {
  const found = await mapLimited(peels, (peel) => targetState(job, peel, ports));
  const silent = new Set(
    found.filter((each) => each.return === undefined || each.return.unreachable),
  );
  const waiting = [...silent].filter((each) => each.acked).map(({ peel }) => peel);
  const busy = await busyWith(waiting.slice(0, BUSY_PEELS_MAX), job.jid, ports);
  const nowMs = ports.clock.now();
  return found.map((each) => {
    if (!silent.has(each)) return each;
    const { peel, acked } = each;
    const seen = ports.seen?.(peel) ?? UNKNOWN;
    return {
      ...each,
      reason: silenceReason({ job, peel, acked, seen, nowMs, busy: busy.get(peel) }),
    };
  });
}

/** A return that only the stream has came when nobody was there to store it: late, if the job has ended. */
async function targetState(job: Job, peel: string, ports: TargetPorts): Promise<JobTarget> {
  const { jid } = job;
  const stored = await storedReturn(jid, peel, ports);
  if (stored !== null && !stored.unreachable) {
    return { peel, acked: true, late: false, return: fitting(stored) };
  }
  const streamed = await lastReturn(jid, peel, ports);
  if (streamed !== null) {
    return { peel, acked: true, late: isTerminal(job.status), return: fitting(streamed) };
  }
  const acked = await isAcked(jid, peel, ports);
  return { peel, acked, late: false, ...(stored === null ? {} : { return: stored }) };
}

async function storedReturn(
  jid: string,
  peel: string,
  { store }: TargetPorts,
): Promise<Return | null> {
  const entry = await store.bucket(buckets.jobReturns.name).get(`${jid}.${peel}`);
  return entry === null ? null : decodeReturn(entry.value);
}

async function lastReturn(jid: string, peel: string, ports: TargetPorts): Promise<Return | null> {
  const stream = ports.store.stream(streams.jobEvents.name);
  const message = await stream.lastOn(subjects.return.of({ jid, peel }));
  if (message === null) return null;
  const at = { ...ports, atMs: message.storedMs };
  const given = openAnswer(message, subjects.return, decodePeelReturn, at)?.value;
  return given === undefined || given.unreachable ? null : given;
}

async function isAcked(jid: string, peel: string, ports: TargetPorts): Promise<boolean> {
  const stream = ports.store.stream(streams.jobEvents.name);
  const message = await stream.lastOn(subjects.ack.of({ jid, peel }));
  if (message === null) return false;
  return openAnswer(message, subjects.ack, decodeAck, { ...ports, atMs: message.storedMs }) !==
    null;
}

/** For peels that took the job and wait: another job under way that they took and have not answered. */
async function busyWith(
  peels: readonly string[],
  jid: string,
  ports: TargetPorts,
): Promise<Map<string, Busy>> {
  const busy = new Map<string, Busy>();
  if (peels.length === 0) return busy;
  const others = (await ports.jobs.active()).filter((each) => each.jid !== jid);
  for (const other of others.slice(0, BUSY_JOBS_MAX)) {
    const job = await ports.jobs.read(other.jid);
    if (job === null || isTerminal(job.status)) continue;
    const targets = new Set(await ports.jobs.targets(job));
    const shared = peels.filter((peel) => targets.has(peel) && !busy.has(peel));
    const held = await mapLimited(
      shared,
      async (peel) =>
        await isAcked(job.jid, peel, ports) && await lastReturn(job.jid, peel, ports) === null,
    );
    shared.filter((_, at) => held[at]).forEach((peel) => busy.set(peel, job));
  }
  return busy;
}

/** A return as it fits into an answer; one that is too large for any answer gives way to a word about its size. */
export function fitting(given: Return): Return {
  const bytes = encodeReturn(given).length;
  if (bytes <= QUERY_PAGE_BYTES_MAX || given.returnData === null) return given;
  const { results } = given.returnData;
  const shown = {
    name: results[0]?.name ?? "result",
    changed: results.some(({ changed }) => changed),
    diff: "",
    durationMs: given.durationMs,
    details: { result: `too large to show: ${bytes} bytes` },
  };
  return { ...given, returnData: { ...given.returnData, results: [shown] } };
}

/** Maps with a bounded number under way. */
export async function mapLimited<T, R>(
  items: readonly T[],
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  async function work(): Promise<void> {
    for (let at = next++; at < items.length; at = next++) results[at] = await map(items[at] as T);
  }
  await Promise.all(Array.from({ length: Math.min(QUERY_READS_MAX, items.length) }, work));
  return results;
}

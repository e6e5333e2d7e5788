/**
 * Looks every twenty seconds for jobs whose master is gone, and takes them over. The compare-and-set on the record decides
 * which master gets one; its new revision is the new epoch. A failed read ends the scan: it never means that all are dead.
 */
import { assertNever, isZesterError, toZesterError } from "../../core/errors.ts";
import { FIRST_SCAN_POLL_MS, ORPHAN_SCAN_MS } from "../../core/limits.ts";
import type { Timer } from "../../core/ports.ts";
import { isTerminal, type Job } from "../../core/wire/job.ts";
import { liveMasters } from "../alive/service.ts";
import { run } from "../dispatch/service.ts";
import { tellEnd } from "../job_end.ts";
import { heardBefore } from "../jobs/heard.ts";
import type { JobPorts } from "../jobs/ports.ts";
import { returnWriter } from "../jobs/returns.ts";
import { tellCancel } from "../jobs/tell_cancel.ts";
import type { Watchers } from "../jobs/watchers.ts";
import { recall, startWatch, verdict } from "../watch/plan.ts";
import { countAbsent, deadlineOf, type IndexedJob, type OrphanAction, plan } from "./plan.ts";

export interface OrphanPorts extends JobPorts {
  readonly watchers: Watchers;
  unfit(): string | null;
}

export interface OrphanScanner {
  /** One scan now. Never throws. */
  scan(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts to scan: as soon as this master has announced itself, since all may have been restarted, and then regularly. */
export function scanForOrphans(ports: OrphanPorts): OrphanScanner {
  let misses: ReadonlyMap<string, number> = new Map();
  let recordless: ReadonlyMap<string, number> = new Map();
  let scanning: Promise<void> | null = null;
  let stopped = false;

  async function scanOnce(): Promise<void> {
    const live = await liveMasters(ports.store);
    const jobs = await readIndex(ports);
    const owners = jobs.flatMap(({ record }) => record?.owner ?? []);
    misses = countAbsent(
      owners.filter((owner) => owner !== ports.masterId && !live.has(owner)),
      misses,
    );
    recordless = countAbsent(
      jobs.filter(({ record }) => record === null).map(({ jid }) => jid),
      recordless,
    );
    const view = {
      now: ports.clock.now(),
      self: ports.masterId,
      live,
      jobs,
      held: new Set(ports.watchers.held()),
      misses,
      recordless,
    };
    for (const action of plan(view)) {
      if (stopped) return;
      await perform(action, ports).catch((thrown) => {
        ports.log.warn("orphan not settled", {
          jid: action.jid,
          error: toZesterError(thrown, "orphan"),
        });
      });
    }
  }

  function scan(): Promise<void> {
    if (stopped || ports.unfit() !== null) return Promise.resolve();
    scanning ??= scanOnce().catch((thrown) => {
      ports.log.warn("scan for orphans given up", { error: toZesterError(thrown, "scan") });
    }).finally(() => scanning = null);
    return scanning;
  }

  let waiting: Timer | undefined;
  function scanOnceFit(): void {
    if (ports.unfit() === null) void scan();
    else waiting = ports.clock.after(FIRST_SCAN_POLL_MS, scanOnceFit);
  }

  scanOnceFit();
  const timer: Timer = ports.clock.every(ORPHAN_SCAN_MS, () => void scan());
  return {
    scan,
    async stop() {
      stopped = true;
      waiting?.cancel();
      timer.cancel();
      await scanning;
    },
  };
}

/** Only jobs under way are read, not all of the last week. Jobs that we hold need no look. */
async function readIndex(ports: OrphanPorts): Promise<IndexedJob[]> {
  const { jobs, watchers } = ports;
  const entries = await jobs.active();
  const read = entries.filter(({ jid }) => !watchers.isHeld(jid))
    .map(async ({ jid, updatedMs: indexedMs, revision }) => {
      const record = await readable(jid, ports);
      return record === undefined ? [] : [{ jid, indexedMs, revision, record }];
    });
  return (await Promise.all(read)).flat();
}

/** The record, or undefined if this version cannot read it: that one is left alone, and must not keep us from the others. */
async function readable(jid: string, { jobs, log }: OrphanPorts): Promise<Job | null | undefined> {
  try {
    return await jobs.read(jid);
  } catch (thrown) {
    if (!isZesterError(thrown, "decode_failed")) throw thrown;
    log.error("job record cannot be read", { jid, error: thrown });
    return undefined;
  }
}

async function perform(action: OrphanAction, ports: OrphanPorts): Promise<void> {
  const { jid } = action;
  if (action.do !== "wait") ports.log.info("orphan", { jid, do: action.do, why: action.why });
  switch (action.do) {
    case "wait":
      return;
    case "unindex":
      return await clearIndex(jid, action.revision, ports);
    case "fail":
    case "finalize":
    case "reclaim":
      return await takeOver(action, ports);
    default:
      return assertNever(action);
  }
}

/** The scan may have read what was long out of date: the leader has the last word, and a newer entry stays. */
async function clearIndex(jid: string, revision: bigint, { jobs }: OrphanPorts): Promise<void> {
  const record = await jobs.read(jid, { leader: true });
  if (record === null || isTerminal(record.status)) await jobs.unindex(jid, revision);
}

/**
 * Takes the job by compare-and-set, then ends it or goes on with it. Whoever loses the race does nothing. Only masters that
 * died count: one that handed its job over did not die of it.
 */
async function takeOver(
  action: Extract<OrphanAction, { record: Job }>,
  ports: OrphanPorts,
): Promise<void> {
  const { jid, record } = action;
  if (!ports.watchers.reserve(jid)) return;
  const deaths = record.owner === undefined ? 0 : 1;
  try {
    const written = await ports.jobs.commit({
      ...record,
      owner: ports.masterId,
      reclaimCount: (record.reclaimCount ?? 0) + deaths,
      deadlineMs: deadlineOf(record),
      updatedMs: ports.clock.now(),
    });
    if (!written.ours) return;
    const { job } = written;
    ports.metrics.jobReclaims.inc(deaths);
    await ports.failPoints.hit("reclaim.taken");
    await ports.jobs.index(jid, ports.masterId);
    if (action.do === "fail") return await end({ ...job, status: "failed" }, action.why, ports);
    if (action.do === "finalize") return await endFromReturns(job, action.why, ports);
    await goOn(job, ports);
  } finally {
    ports.watchers.unreserve(jid);
  }
}

/** Claimed: nobody was told, so the dispatch goes on. Running: seed from what is stored; the watcher tells the silent. */
async function goOn(job: Job, ports: OrphanPorts): Promise<void> {
  const targets = await ports.jobs.targets(job);
  const nobodyListens = (): void => {};
  if (job.status === "claimed") return await run(job, targets, nobodyListens, ports);
  ports.watchers.start({
    job,
    targets,
    async recall() {
      const heard = await heardBefore(job.jid, ports);
      await ports.failPoints.hit("reclaim.recalled");
      return heard;
    },
  });
}

/** The deadline is over: what is there is all there will be. A job that was never sent says so. */
async function endFromReturns(job: Job, why: string, ports: OrphanPorts): Promise<void> {
  if (job.status === "claimed") return await end({ ...job, status: "not_sent" }, why, ports);
  const state = startWatch(job, await ports.jobs.targets(job));
  recall(state, await heardBefore(job.jid, ports), ports.clock.now()); // of targets only: anybody may say anything
  const writer = returnWriter(ports); // what only the stream had counts, so it must be kept like the rest
  for (const given of state.returns.values()) writer.add(given);
  await writer.flush();
  state.canceledBy = await ports.jobs.cancelRequested(job.jid);
  if (state.canceledBy !== null) await tellCancel(job, state.canceledBy, ports); // perhaps nobody did
  const { status, returnCount, successCount } = verdict(state, why);
  await end({ ...job, status, returnCount, successCount }, why, ports);
}

async function end(job: Job, why: string, ports: OrphanPorts): Promise<void> {
  const metadata = {
    ...job.metadata,
    ended_because: why,
    ...(job.status === "failed" ? { failed_reason: why } : {}),
  };
  const written = await ports.jobs.commit({ ...job, metadata, updatedMs: ports.clock.now() });
  if (!written.ours) return;
  await ports.failPoints.hit("reclaim.ended");
  await ports.jobs.unindex(job.jid).catch((thrown) => { // the next scan removes it
    ports.log.debug("index not cleared", { jid: job.jid, error: toZesterError(thrown, "unindex") });
  });
  const { status, returnCount = 0, successCount = 0 } = job;
  await tellEnd(job, { status, returnCount, successCount, reason: why }, ports);
}

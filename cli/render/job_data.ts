/** Jobs, peels and masters for programs. Field names are part of the interface: they are added, never renamed. */
import { displayPeelId } from "../../core/ids.ts";
import type { Job } from "../../core/wire/job.ts";
import type { JobRow, JobTarget, MasterRow, PeelRow } from "../../core/wire/query.ts";
import { defined, nanoseconds, outcomeData, resultData } from "./run_data.ts";
import { type Outcome, outcomeOf } from "./run_model.ts";
import { rfc3339 } from "./time.ts";

type Data = Record<string, unknown>;

/** The record of a job. */
export function jobData(job: Job, targets: readonly string[], targetCount: number): Data {
  return defined({
    jid: job.jid,
    function: job.function,
    args: job.args,
    state_id: job.stateId,
    targets: targets.map(displayPeelId),
    target_count: targetCount,
    target_expr: job.targetExpr,
    status: job.status,
    created: rfc3339(job.createdMs),
    updated: rfc3339(job.updatedMs),
    deadline: job.deadlineMs === undefined ? undefined : rfc3339(job.deadlineMs),
    timeout: nanoseconds(job.timeoutMs),
    user: job.user,
    owner: job.owner,
    epoch: Number(job.epoch),
    reclaim_count: job.reclaimCount,
    offline_at_dispatch: job.offlineAtDispatch?.map(displayPeelId),
    batch_size: job.batchSize,
    batch_wait: job.batchWaitMs === undefined ? undefined : nanoseconds(job.batchWaitMs),
    max_fail: job.maxFail,
    limit: job.limit,
    seed: job.seed,
    return_count: job.returnCount ?? 0,
    success_count: job.successCount ?? 0,
    metadata: job.metadata,
  });
}

/** A job in a list; `targets` may be cut, `target_count` says how many there are. */
export function jobRowData({ job, targetCount }: JobRow): Data {
  return jobData(job, job.targets, targetCount);
}

/** One job with what came back from each target. */
export interface JobView {
  readonly job: Job;
  readonly targets: readonly JobTarget[];
  readonly canceledBy?: string | undefined;
}

/** One job, its record first. */
export function jobViewData({ job, targets, canceledBy }: JobView): Data {
  return defined({
    ...jobData(job, targets.map(({ peel }) => peel), targets.length),
    canceled_by: canceledBy,
    returns: targets.map((target) => targetData(target)),
  });
}

function targetData(target: JobTarget): Data {
  const { return: given } = target;
  const data = outcomeData(targetOutcome(target));
  if (given === undefined) return { ...data, acked: target.acked };
  return {
    ...data,
    results: given.returnData?.results.map(resultData) ?? [],
    duration: nanoseconds(given.durationMs),
    timestamp: rfc3339(given.timestampMs),
  };
}

/** What became of a target, in the terms of a run. */
export function targetOutcome({ peel, return: given, late, acked, reason }: JobTarget): Outcome {
  if (given !== undefined && !given.unreachable) {
    return { ...outcomeOf(given), ...(late ? { late } : {}) };
  }
  return {
    peel: displayPeelId(peel),
    status: "silent",
    silence: given?.unreachable ? "unreachable" : acked ? "no_return" : "no_ack",
    results: [],
    durationMs: 0,
    ...(reason === undefined ? {} : { error: reason }),
  };
}

/** A peel in a list. */
export function peelData(row: PeelRow): Data {
  const { peel, presence, lastSeenMs, version, os, arch, policy, customFunctions } = row;
  return defined({
    peel_id: displayPeelId(peel),
    online: presence === "unknown" ? null : presence === "online",
    last_seen: lastSeenMs === undefined ? undefined : rfc3339(lastSeenMs),
    version,
    os,
    arch,
    policy,
    custom_functions: customFunctions,
  });
}

/** A master in a list. */
export function masterData({ master, activeJobs, activeCount, heartbeatMs }: MasterRow): Data {
  return {
    master_id: master,
    active_jobs: activeJobs,
    active_count: activeCount,
    timestamp: rfc3339(heartbeatMs),
  };
}

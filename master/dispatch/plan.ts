/**
 * Decides about a request to run something.
 *
 * Order of a dispatch, which is an invariant: the job goes into the index, its record is stored as `claimed`, the dispatch is
 * logged in the stream, the record is marked `running`, and only then is any peel told. So a `claimed` record proves that
 * nobody was told, and a record without an index entry does not exist.
 */
import { formatDuration } from "../../core/duration.ts";
import { ZesterError } from "../../core/errors.ts";
import type { ErrorCode } from "../../core/errors.ts";
import { isReactionJid } from "../../core/ids.ts";
import { defaultTimeoutMs } from "../../core/job_timeout.ts";
import {
  JOB_ARGS_BYTES_MAX,
  JOB_TARGETS_INLINE_MAX,
  JOB_TIMEOUT_MS_MAX,
} from "../../core/limits.ts";
import { encode } from "../../core/msgpack.ts";
import type { Authorizer } from "../../core/roles.ts";
import type { Job } from "../../core/wire/job.ts";
import { DISPATCHED } from "../jobs/requests.ts";
import { amountOf } from "../watch/amount.ts";
import { paceOf } from "../watch/plan.ts";
import { functionProblem } from "./functions.ts";
import { sample } from "./sample.ts";

export interface DispatchView {
  readonly job: Job;
  readonly operator: { name: string; role: string | undefined };
  /** Who matches the target, resolved by this master. */
  readonly matched: readonly string[];
  readonly masterId: string;
  readonly nowMs: number;
  /** Targets without a recent heartbeat, as far as this master knows. */
  isOnline(peel: string): boolean;
  /** What a peel says of itself, if it has said anything. */
  factsOf(peel: string): Readonly<Record<string, unknown>> | undefined;
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix?: string;
}

export type DispatchDecision =
  | { do: "claim"; job: Job; targets: readonly string[] }
  | { do: "refuse"; refusal: Refusal };

/** Either the record to claim, or why not. Nothing is stored for a request that is refused. */
export function planDispatch(view: DispatchView, authorizer: Authorizer): DispatchDecision {
  const { job, operator, masterId, nowMs } = view;
  const invalid = problemOf(job);
  if (invalid !== null) return { do: "refuse", refusal: invalid };
  const targets = sample(view.matched, job.limit, job.seed ?? job.jid);
  const decision = authorizer.decide(operator, { function: job.function, targets });
  if (!decision.allowed) {
    const { why: message, fix } = decision;
    const refusal = { code: "permission_denied", message } as const;
    return { do: "refuse", refusal: fix === undefined ? refusal : { ...refusal, fix } };
  }
  const unknown = functionProblem(job.function, targets, view.factsOf);
  if (unknown !== null) return { do: "refuse", refusal: unknown };
  const timeoutMs = job.timeoutMs > 0 ? job.timeoutMs : defaultTimeoutMs(job.function, job.stateId);
  const offline = targets.filter((peel) => !view.isOnline(peel));
  return {
    do: "claim",
    targets,
    job: {
      ...job,
      targets: targets.length > JOB_TARGETS_INLINE_MAX ? [] : targets,
      timeoutMs,
      user: operator.name,
      owner: masterId,
      status: "claimed",
      epoch: 0n,
      updatedMs: nowMs,
      // On this master's clock: the requester's may be off.
      deadlineMs: nowMs +
        Math.min(budgetMs({ ...job, timeoutMs }, targets.length), JOB_TIMEOUT_MS_MAX),
      metadata: { ...job.metadata, [DISPATCHED]: String(nowMs) },
      ...(offline.length === 0 || offline.length > JOB_TARGETS_INLINE_MAX
        ? {}
        : { offlineAtDispatch: offline }),
    },
  };
}

/** A rolling run takes as long as its batches one after another; any other job as long as one peel may. */
function budgetMs(job: Job, targets: number): number {
  const pace = paceOf(job, targets);
  if (pace === null || pace.size === Infinity) return job.timeoutMs;
  const batches = Math.ceil(targets / pace.size);
  return batches * job.timeoutMs + (batches - 1) * pace.waitMs;
}

function problemOf(job: Job): Refusal | null {
  if (isReactionJid(job.jid)) {
    return { code: "usage", message: "job ids that begin with rxn- are for reactions" };
  }
  const bytes = encode(job.args).length;
  if (bytes > JOB_ARGS_BYTES_MAX) {
    const message = `the arguments have ${bytes} bytes, at most ${JOB_ARGS_BYTES_MAX} are taken`;
    return {
      code: "payload_too_large",
      message,
      fix: "put large content into a file of the state tree",
    };
  }
  if (job.timeoutMs > JOB_TIMEOUT_MS_MAX) {
    const [asked, most] = [job.timeoutMs, JOB_TIMEOUT_MS_MAX].map(formatDuration);
    return { code: "usage", message: `a job may take ${most} at most, not ${asked}` };
  }
  return amountProblem([job.batchSize, job.maxFail, job.limit]);
}

function amountProblem(amounts: readonly (string | undefined)[]): Refusal | null {
  try {
    for (const text of amounts) if (text !== undefined) amountOf(text, 1);
    return null;
  } catch (thrown) {
    if (!(thrown instanceof ZesterError)) throw thrown;
    const { code, message, fix } = thrown;
    return { code, message, ...(fix === undefined ? {} : { fix }) };
  }
}

export type ExistingDecision =
  | { do: "resume"; why: string }
  | { do: "follow"; why: string }
  | { do: "refuse"; refusal: Refusal };

/** What to do with a request whose jid is taken. */
export function planExisting(
  asked: Job,
  operator: string,
  found: Job | null,
  masterId: string,
): ExistingDecision {
  if (found === null) return pending("its record vanished while it was looked at");
  if (intentOf({ ...asked, user: operator }) !== intentOf(found)) {
    const message = `job ${asked.jid} exists already and asks for something else`;
    return { do: "refuse", refusal: { code: "jid_conflict", message, fix: "use a new job id" } };
  }
  if (found.status !== "claimed") return { do: "follow", why: `it is ${found.status} already` };
  if (found.owner === masterId) return { do: "resume", why: "our own claim was interrupted" };
  return pending(`master ${found.owner ?? "(none)"} has claimed it`);

  function pending(why: string): ExistingDecision {
    return {
      do: "refuse",
      refusal: { code: "claim_pending", message: `job ${asked.jid}: ${why}` },
    };
  }
}

/**
 * What a job is for, as bytes that are equal exactly if it is the same. The target is compared as it was written: who
 * matches may have changed between two tries of one request.
 */
function intentOf(job: Job): string {
  const { [DISPATCHED]: _at, ended_because: _why, failed_reason: _reason, ...metadata } =
    job.metadata ?? {};
  return encode({
    function: job.function,
    args: job.args,
    user: job.user ?? "",
    target: job.targetExpr ?? "",
    id: job.stateId ?? "",
    timeout: job.timeoutMs > 0 ? job.timeoutMs : defaultTimeoutMs(job.function, job.stateId),
    pace: [
      job.batchSize ?? "",
      job.batchWaitMs ?? 0,
      job.maxFail ?? "",
      job.limit ?? "",
      job.seed ?? "",
    ],
    metadata,
  }).toHex();
}

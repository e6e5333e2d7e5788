/**
 * Decides about a request to run something. Order, which is an invariant: the record is stored as `claimed` (its
 * revision is the epoch), then marked `running`, and only then is anything published. So a `claimed` record proves that no
 * peel was told.
 */
import type { ErrorCode } from "../../core/errors.ts";
import { JOB_TARGETS_INLINE_MAX, JOB_TIMEOUT_MS } from "../../core/limits.ts";
import type { Authorizer } from "../../core/roles.ts";
import { matchesPeelId } from "../../core/target/glob.ts";
import type { Job } from "../../core/wire/job.ts";

export interface DispatchView {
  readonly job: Job;
  readonly operator: { name: string; role: string | undefined };
  readonly peels: readonly string[];
  readonly masterId: string;
  readonly nowMs: number;
}

export type DispatchDecision =
  | { do: "claim"; job: Job; targets: string[] }
  | { do: "refuse"; code: ErrorCode; why: string; fix?: string };

/** Either the record to claim, or why not. */
export function planDispatch(view: DispatchView, authorizer: Authorizer): DispatchDecision {
  const { job, operator, peels, masterId, nowMs } = view;
  const expression = job.targetExpr ?? "";
  const targets = peels.filter((peel) => matchesPeelId(expression, peel));
  if (targets.length === 0) return nobody(expression, peels);
  if (targets.length > JOB_TARGETS_INLINE_MAX) {
    return {
      do: "refuse",
      code: "usage",
      why: `${targets.length} targets, at most ${JOB_TARGETS_INLINE_MAX}`,
    };
  }
  const decision = authorizer.decide(operator, { function: job.function, targets });
  if (!decision.allowed) return { do: "refuse", code: "permission_denied", why: decision.why };
  const timeoutMs = job.timeoutMs > 0 ? job.timeoutMs : JOB_TIMEOUT_MS;
  return {
    do: "claim",
    targets,
    job: {
      ...job,
      targets,
      timeoutMs,
      user: operator.name,
      owner: masterId,
      status: "claimed",
      updatedMs: nowMs,
      // On this master's clock: the requester's may be off.
      deadlineMs: nowMs + timeoutMs,
    },
  };
}

function nobody(expression: string, peels: readonly string[]): DispatchDecision {
  return {
    do: "refuse",
    code: "nobody_matches",
    why: `nobody matches ${expression}: 0 of ${peels.length} peels`,
    fix: peels.length === 0
      ? "no peel is enrolled"
      : `peels are called, for example, ${peels.slice(0, 3).join(", ")}`,
  };
}

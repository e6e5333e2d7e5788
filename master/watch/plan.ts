/** Decides what becomes of a job while answers come in: which ones count, when it is over, and how it ended. */
import type { Return } from "../../core/wire/return.ts";
import type { Missing } from "../../core/wire/follow.ts";
import type { JobStatus } from "../../core/wire/job.ts";

export interface WatchState {
  readonly targets: ReadonlySet<string>;
  readonly acked: Set<string>;
  readonly returns: Map<string, Return>;
}

/** A fresh watch over these targets. */
export function startWatch(targets: readonly string[]): WatchState {
  return { targets: new Set(targets), acked: new Set(), returns: new Map() };
}

export type Heard = "first" | "repeat" | "stranger";

/** Takes an ack in. A stranger is a peel that is no target: it is counted and otherwise ignored. */
export function hearAck(state: WatchState, peelId: string): Heard {
  if (!state.targets.has(peelId)) return "stranger";
  if (state.acked.has(peelId)) return "repeat";
  state.acked.add(peelId);
  return "first";
}

/** Takes a return in; the first one of each peel wins. */
export function hearReturn(state: WatchState, peelId: string, given: Return): Heard {
  if (!state.targets.has(peelId)) return "stranger";
  if (state.returns.has(peelId)) return "repeat";
  state.returns.set(peelId, given);
  return "first";
}

/** Whether every target has answered. */
export function isComplete(state: WatchState): boolean {
  return state.returns.size >= state.targets.size;
}

export interface Verdict {
  readonly status: JobStatus;
  readonly returnCount: number;
  readonly successCount: number;
  readonly missing: Missing[];
}

/** How the job ended, from what was collected: first rule that fits wins. */
export function verdict(state: WatchState): Verdict {
  const returns = [...state.returns.values()];
  const successCount = returns.filter(isSuccess).length;
  const missing = [...state.targets].filter((peel) => !state.returns.has(peel)).map((peel) => ({
    peel,
    reason: state.acked.has(peel)
      ? "accepted the job, then no answer in time"
      : "no answer: not delivered, or offline",
  }));
  return {
    status: statusOf(state, successCount),
    returnCount: returns.length,
    successCount,
    missing,
  };
}

function statusOf(state: WatchState, successCount: number): JobStatus {
  if (isComplete(state)) return successCount < state.returns.size ? "failed" : "complete";
  return state.returns.size > 0 ? "partial" : "timeout";
}

function isSuccess(given: Return): boolean {
  return given.success && !given.error;
}

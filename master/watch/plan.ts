/**
 * Decides, while answers come in, what becomes of a job: whom to tell next, whom to tell again, whom to give up, and how it
 * ended. Pure: `step` says what to do now and when to ask again.
 *
 * A job that was taken over is the same as a fresh one of which some targets were heard from already. Whoever was never heard
 * from is told (again): that is safe, since a peel never runs a jid twice.
 */
import { ACK_WINDOW_MS, UNREACHABLE_GRACE_MS } from "../../core/limits.ts";
import type { Missing } from "../../core/wire/follow.ts";
import type { Job, JobStatus } from "../../core/wire/job.ts";
import type { Return } from "../../core/wire/return.ts";
import { amountOf } from "./amount.ts";

/** How a rolling run goes; without one, everybody is told at once. */
export interface Pace {
  readonly size: number;
  readonly waitMs: number;
  /** More failures than this, and nobody else is told. */
  readonly failuresMax: number;
}

interface Sent {
  readonly atMs: number;
  readonly times: number;
}

export interface WatchState {
  readonly targets: ReadonlySet<string>;
  readonly deadlineMs: number;
  /** How long one peel may take, in a rolling run. */
  readonly timeoutMs: number;
  readonly pace: Pace | null;
  /** Targets that were not told yet, in order. */
  readonly queue: string[];
  readonly sent: Map<string, Sent>;
  readonly acked: Set<string>;
  /** Real returns, and those made up for the unreachable. */
  readonly returns: Map<string, Return>;
  /** Who is in `sent` and not in `returns`. Kept, so that an answer in a rolling run does not cost a look at all before it. */
  readonly unanswered: Set<string>;
  /** How many of `returns` are failures; kept for the same reason. */
  failed: number;
  /** When the last answer came in a rolling run, for its pause. */
  lastReturnMs: number;
  canceledBy: string | null;
}

/** What was heard of a job before this watch began. */
export interface HeardBefore {
  readonly acked: readonly string[];
  readonly returns: readonly Return[];
}

/** A watch over a job of which nothing was heard yet. */
export function startWatch(job: Job, targets: readonly string[]): WatchState {
  return {
    targets: new Set(targets),
    deadlineMs: job.deadlineMs ?? job.createdMs + job.timeoutMs,
    timeoutMs: job.timeoutMs,
    pace: paceOf(job, targets.length),
    queue: [...targets],
    sent: new Map(),
    acked: new Set(),
    returns: new Map(),
    unanswered: new Set(),
    failed: 0,
    lastReturnMs: -Infinity,
    canceledBy: null,
  };
}

/** Takes in what was heard before: whoever acked or returned was told, and is not told again. */
export function recall(state: WatchState, before: HeardBefore, nowMs: number): void {
  for (const peel of before.acked) hearAck(state, peel, nowMs);
  for (const given of before.returns) {
    if (given.unreachable && state.targets.has(given.peelId)) keepReturn(state, given);
    else hearReturn(state, given.peelId, given, nowMs);
  }
}

/** The pace that a job asks for, in numbers. */
export function paceOf(job: Job, targets: number): Pace | null {
  if (job.batchSize === undefined && job.maxFail === undefined) return null;
  return {
    size: job.batchSize === undefined ? Infinity : Math.max(1, amountOf(job.batchSize, targets)),
    waitMs: job.batchWaitMs ?? 0,
    failuresMax: job.maxFail === undefined ? Infinity : amountOf(job.maxFail, targets),
  };
}

export type Heard = "first" | "repeat" | "stranger";

/** Takes an ack in. A stranger is a peel that is no target: it is counted and otherwise ignored. */
export function hearAck(state: WatchState, peelId: string, nowMs: number): Heard {
  if (!state.targets.has(peelId)) return "stranger";
  if (state.acked.has(peelId)) return "repeat";
  noteTold(state, peelId, nowMs);
  state.acked.add(peelId);
  return "first";
}

/** Takes a return in: the first real one of each peel wins, also over one that was made up. */
export function hearReturn(state: WatchState, peelId: string, given: Return, nowMs: number): Heard {
  if (!state.targets.has(peelId) || given.unreachable) return "stranger";
  if (hasReturned(state, peelId)) return "repeat";
  noteTold(state, peelId, nowMs);
  keepReturn(state, given);
  state.lastReturnMs = nowMs;
  return "first";
}

/** Whether a real return of this peel is known: not one that was made up. */
export function hasReturned(state: WatchState, peelId: string): boolean {
  const known = state.returns.get(peelId);
  return known !== undefined && !known.unreachable;
}

/** Whoever answers was told, by us or by a master before us. */
function noteTold(state: WatchState, peelId: string, nowMs: number): void {
  if (state.sent.has(peelId)) return;
  state.sent.set(peelId, { atMs: nowMs, times: 1 });
  if (!state.returns.has(peelId)) state.unanswered.add(peelId);
}

function keepReturn(state: WatchState, given: Return): void {
  const before = state.returns.get(given.peelId);
  if (before !== undefined && !isSuccess(before)) state.failed--;
  if (!isSuccess(given)) state.failed++;
  state.returns.set(given.peelId, given);
  state.unanswered.delete(given.peelId);
}

export type WatchAction =
  | { do: "send"; peels: string[]; why: string }
  | { do: "give_up"; returns: Return[]; why: string }
  | { do: "finish"; verdict: Verdict; why: string };

export interface Step {
  readonly actions: WatchAction[];
  /** When to ask again, if nothing is heard before. */
  readonly wakeMs: number;
}

/** What to do now. Changes `state` as if it was done. */
export function step(state: WatchState, jid: string, nowMs: number): Step {
  const over = ending(state, nowMs);
  if (over !== null) return { actions: [over], wakeMs: Infinity };
  const actions: WatchAction[] = [...resends(state, nowMs), ...givingUp(state, jid, nowMs)];
  const late = ending(state, nowMs);
  if (late !== null) return { actions: [...actions, late], wakeMs: Infinity };
  actions.push(...sends(state, nowMs));
  return { actions, wakeMs: nextWake(state, nowMs) };
}

function ending(state: WatchState, nowMs: number): WatchAction | null {
  const finish = (why: string): WatchAction => ({
    do: "finish",
    verdict: verdict(state, why),
    why,
  });
  if (state.returns.size >= state.targets.size) return finish("all targets have answered");
  if (state.canceledBy !== null) return finish(`canceled by ${state.canceledBy}`);
  if (nowMs >= state.deadlineMs) return finish("its time is over");
  if (isStopped(state) && inFlight(state, nowMs).length === 0) {
    return finish(`stopped: ${state.failed} failed, at most ${state.pace?.failuresMax} may`);
  }
  return null;
}

/** Told once, and neither ack nor return within the window: told again, once. */
function resends(state: WatchState, nowMs: number): WatchAction[] {
  const peels = silent(state).filter(([, sent]) =>
    sent.times === 1 && nowMs >= sent.atMs + ACK_WINDOW_MS
  )
    .map(([peel]) => peel);
  for (const peel of peels) {
    state.sent.set(peel, { atMs: state.sent.get(peel)?.atMs ?? nowMs, times: 2 });
  }
  return peels.length === 0
    ? []
    : [{ do: "send", peels, why: "no ack or return within the ack window" }];
}

const UNREACHABLE = "UNREACHABLE: no ack after the request was sent twice";

/** Silent after the second time, too: called unreachable, so that nobody waits for them. A real return still counts. */
function givingUp(state: WatchState, jid: string, nowMs: number): WatchAction[] {
  const givenUpMs = ACK_WINDOW_MS + UNREACHABLE_GRACE_MS;
  const returns = silent(state).filter(([, sent]) =>
    sent.times > 1 && nowMs >= sent.atMs + givenUpMs
  )
    .map(([peelId]): Return => ({
      jid,
      peelId,
      success: false,
      returnData: null,
      error: UNREACHABLE,
      durationMs: 0,
      timestampMs: nowMs,
      unreachable: true,
    }));
  for (const given of returns) keepReturn(state, given);
  return returns.length === 0 ? [] : [{ do: "give_up", returns, why: "no ack after a resend" }];
}

function sends(state: WatchState, nowMs: number): WatchAction[] {
  if (state.queue.length === 0 || isStopped(state)) return [];
  const free = state.pace === null ? Infinity : state.pace.size - inFlight(state, nowMs).length;
  const pausing = state.pace !== null && nowMs < state.lastReturnMs + state.pace.waitMs;
  if (free <= 0 || pausing) return [];
  const peels: string[] = [];
  let taken = 0;
  for (; taken < state.queue.length && peels.length < free; taken++) {
    const peel = state.queue[taken];
    if (peel !== undefined && !state.sent.has(peel) && !state.returns.has(peel)) peels.push(peel);
  }
  state.queue.splice(0, taken);
  if (peels.length === 0) return [];
  for (const peel of peels) noteTold(state, peel, nowMs);
  return [{
    do: "send",
    peels,
    why: state.pace === null ? "targets not heard from" : "next of a rolling run",
  }];
}

/** Told, not answered, and not overdue: in a rolling run each of these holds a place. */
function inFlight(state: WatchState, nowMs: number): [string, Sent][] {
  return unanswered(state).filter(([, { atMs }]) =>
    state.pace === null || nowMs < atMs + state.timeoutMs
  );
}

function silent(state: WatchState): [string, Sent][] {
  return unanswered(state).filter(([peel]) => !state.acked.has(peel));
}

function unanswered(state: WatchState): [string, Sent][] {
  return [...state.unanswered].flatMap((peel): [string, Sent][] => {
    const sent = state.sent.get(peel);
    return sent === undefined ? [] : [[peel, sent]];
  });
}

function isStopped(state: WatchState): boolean {
  return state.pace !== null && state.failed > state.pace.failuresMax;
}

function nextWake(state: WatchState, nowMs: number): number {
  const times = [state.deadlineMs];
  for (const [, sent] of silent(state)) {
    times.push(sent.atMs + ACK_WINDOW_MS + (sent.times > 1 ? UNREACHABLE_GRACE_MS : 0));
  }
  if (state.pace !== null && state.queue.length > 0) {
    times.push(state.lastReturnMs + state.pace.waitMs);
    for (const [, { atMs }] of inFlight(state, nowMs)) times.push(atMs + state.timeoutMs);
  }
  return times.reduce((least, time) => time > nowMs && time < least ? time : least, Infinity);
}

export interface Verdict {
  readonly status: JobStatus;
  readonly returnCount: number;
  readonly successCount: number;
  readonly missing: Missing[];
  readonly reason: string;
}

/** How the job ended, from what was collected: first rule that fits wins. */
export function verdict(state: WatchState, reason: string): Verdict {
  const returns = [...state.returns.values()];
  const successCount = returns.filter(isSuccess).length;
  return {
    status: statusOf(state, successCount),
    returnCount: returns.length,
    successCount,
    missing: [...state.targets].filter((peel) => !state.returns.has(peel))
      .map((peel) => ({ peel, reason: silenceOf(state, peel) })),
    reason,
  };
}

function silenceOf(state: WatchState, peel: string): string {
  if (state.acked.has(peel)) return "accepted the job, then no answer in time";
  const sent = state.sent.get(peel);
  if (sent === undefined) {
    return isStopped(state) ? "not told: the run was stopped before" : "not told yet";
  }
  return `no ack after the request was sent ${sent.times === 1 ? "once" : "twice"}`;
}

function statusOf(state: WatchState, successCount: number): JobStatus {
  const complete = state.returns.size >= state.targets.size;
  if (state.canceledBy !== null && !complete) return "canceled";
  if (complete) return successCount < state.returns.size ? "failed" : "complete";
  if (isStopped(state)) return "failed";
  return state.returns.size > 0 ? "partial" : "timeout";
}

function isSuccess(given: Return): boolean {
  return given.success && given.error === undefined;
}

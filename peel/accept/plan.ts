/**
 * Decides what becomes of a verified request. Invariant: a jid runs at most once on a peel, at any epoch. Whatever the journal
 * knows is answered from it and not run again; if the journal cannot vouch for the past, requests from the past are refused.
 */
import { CLOCK_SKEW_MS } from "../../core/limits.ts";
import { reasonText } from "../../core/return_reason.ts";
import { JOB_STATES, type JournalEntry } from "./journal_records.ts";

export interface AcceptView {
  readonly firstIssuedMs: number;
  /** What the journal has of this jid. */
  readonly entry: Pick<JournalEntry, "state" | "isCanceled"> | undefined;
  /** Whether this process has it in hand, waiting or running. */
  readonly isLive: boolean;
  /** Whether it was canceled before it came. */
  readonly hasTombstone: boolean;
  /** Since when the journal is complete; 0 if it always was. */
  readonly completeSinceMs: number;
  /** Up to when it has dropped what was old; 0 if it never did. */
  readonly forgottenMs: number;
}

export type AcceptDecision =
  | { do: "run" }
  /** It is under way: say once more that it was accepted. */
  | { do: "acknowledge" }
  /** It is over: say again what came of it. */
  | { do: "answer" }
  /** It was accepted, and never will be finished: return it with this error. */
  | { do: "close"; error: string }
  /** It was never seen, and is not run: return it with this error. */
  | { do: "refuse"; reason: "canceled" | "journal_lost" | "expired"; error: string };

/** What to do with a request that passed the door. */
export function planAccept(view: AcceptView): AcceptDecision {
  const { entry, isLive, firstIssuedMs } = view;
  if (entry !== undefined) {
    if (JOB_STATES[entry.state].isFinished) return { do: "answer" };
    return isLive ? { do: "acknowledge" } : { do: "close", error: cutOff(entry) };
  }
  if (view.hasTombstone) {
    return { do: "refuse", reason: "canceled", error: reasonText("canceled", "before it came") };
  }
  if (isBefore(firstIssuedMs, view.completeSinceMs)) {
    return {
      do: "refuse",
      reason: "journal_lost",
      error: reasonText(
        "refused",
        `the peel's journal was lost before ${timeText(view.completeSinceMs)}, so it cannot say ` +
          `whether this older job, first issued ${timeText(firstIssuedMs)}, ran already`,
      ),
    };
  }
  if (isBefore(firstIssuedMs, view.forgottenMs)) {
    return {
      do: "refuse",
      reason: "expired",
      error: reasonText(
        "refused",
        `first issued ${timeText(firstIssuedMs)}, it is so old that the peel cannot say any more ` +
          "whether it ran or was canceled",
      ),
    };
  }
  return { do: "run" };
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** Surely before a moment that is 0 if there is none, clocks being what they are. */
function isBefore(firstIssuedMs: number, sinceMs: number): boolean {
  return sinceMs > 0 && firstIssuedMs < sinceMs + CLOCK_SKEW_MS;
}

/** What a former life of this peel left behind: it is reported, never run again by itself. */
export function cutOff({ state, isCanceled }: Pick<JournalEntry, "state" | "isCanceled">): string {
  const began = state === "started" ? "while this ran" : "before this began";
  if (isCanceled) return reasonText("canceled", `and the peel stopped ${began}`);
  return reasonText("interrupted", `the peel stopped ${began}`);
}

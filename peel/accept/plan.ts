/**
 * Decides whether a verified request runs. Invariant: a jid runs at most once on a peel, at any epoch. Whatever the journal
 * knows is not run again; if the journal cannot vouch for the past, requests from the past are refused.
 */
import { CLOCK_SKEW_MS } from "../../core/limits.ts";

export interface AcceptView {
  readonly jid: string;
  readonly firstIssuedMs: number;
  /** Whether the journal has this jid. */
  readonly known: boolean;
  /** Since when the journal is complete; 0 if it always was. */
  readonly journalCompleteSinceMs: number;
}

export type AcceptDecision =
  | { do: "run" }
  | { do: "refuse"; reason: "replayed" | "journal_lost"; why: string };

/** What to do with a request that passed the door. */
export function planAccept(view: AcceptView): AcceptDecision {
  if (view.known) {
    return { do: "refuse", reason: "replayed", why: `job ${view.jid} was accepted here before` };
  }
  const fromMs = view.journalCompleteSinceMs === 0
    ? 0
    : view.journalCompleteSinceMs + CLOCK_SKEW_MS;
  if (view.firstIssuedMs < fromMs) {
    return {
      do: "refuse",
      reason: "journal_lost",
      why: "the journal was lost or damaged, so it cannot say whether this older job ran already",
    };
  }
  return { do: "run" };
}

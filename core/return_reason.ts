/**
 * Why a peel returned a job without having done it, or not all of it. The beginning of the return's error says which, so
 * that readers can tell these from a function that failed. Stable: scripts match on them.
 */

/** What the error of such a return begins with. */
export const RETURN_REASONS = {
  /** The peel stopped or died while the job waited or ran. It is not run again by itself. */
  interrupted: "interrupted",
  /** Somebody canceled it. */
  canceled: "canceled",
  /** Too much waits already. */
  busy: "peel busy",
  /** The peel does not run it, for a reason of its own. */
  refused: "refused",
} as const;

export type ReturnReason = keyof typeof RETURN_REASONS;

/** The error of a return: the reason, then what happened. */
export function reasonText(reason: ReturnReason, what: string): string {
  return `${RETURN_REASONS[reason]}: ${what}`;
}

/** The reason in the error of a return; null for an ordinary failure. */
export function reasonOf(error: string | undefined): ReturnReason | null {
  const found = Object.entries(RETURN_REASONS).find(([, text]) => error?.startsWith(`${text}: `));
  return found ? found[0] as ReturnReason : null;
}

/** What the exit code says. Scripts depend on it: codes are added, never changed. */
import type { RunSummary } from "./run_model.ts";

/** Every exit code with its meaning. */
export const EXIT_CODES = {
  0: "done; nobody failed",
  1: "fault in zester itself",
  2: "wrong usage or configuration",
  3: "at least one peel failed",
  4: "nobody failed, but someone did not answer",
  5: "nobody matched the target",
  6: "with --detailed-exit: something changed, or would change",
  7: "refused: permission, signature, freshness, policy",
  8: "cannot reach the broker or a master",
  9: "the job was cancelled",
  10: "errors in files",
  130: "you interrupted; the job goes on",
} as const;

/**
 * The exit code of a run that was not refused. A failure weighs more than a cancel, and that more than silence. Changes count
 * only where that is asked for.
 */
export function exitCodeOf(
  { matched, changed, failed, silent, canceled, cancelled }: RunSummary,
  isDetailed = false,
): number {
  if (failed > 0) return 3;
  if (cancelled || canceled > 0) return 9;
  if (silent > 0) return 4;
  if (matched === 0) return 5;
  return isDetailed && changed > 0 ? 6 : 0;
}

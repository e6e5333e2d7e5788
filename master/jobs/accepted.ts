/** Tells whoever follows a job that it was taken, and whom it is for. */
import { JOB_TARGETS_INLINE_MAX } from "../../core/limits.ts";
import type { FollowEvent } from "../../core/wire/follow.ts";

/** A long list comes in parts: whoever reads them adds them up. */
export function tellAccepted(
  jid: string,
  targets: readonly string[],
  master: string,
  tell: (event: FollowEvent) => void,
): void {
  for (let at = 0; at === 0 || at < targets.length; at += JOB_TARGETS_INLINE_MAX) {
    tell({
      kind: "accepted",
      jid,
      targets: targets.slice(at, at + JOB_TARGETS_INLINE_MAX),
      master,
    });
  }
}

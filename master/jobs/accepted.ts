/** Tells whoever follows a job that it was taken, and whom it is for. */
import { JOB_TARGETS_INLINE_MAX } from "../../core/limits.ts";
import type { FollowEvent } from "../../core/wire/follow.ts";
import type { Job } from "../../core/wire/job.ts";
import type { JobPorts } from "./ports.ts";

/** A long list comes in parts: whoever reads them adds them up. */
export function tellAccepted(
  job: Pick<Job, "jid" | "user" | "offlineAtDispatch">,
  targets: readonly string[],
  { masterId, enrolled, isUnheard }: Pick<JobPorts, "masterId" | "enrolled" | "isUnheard">,
  tell: (event: FollowEvent) => void,
): void {
  const offline = new Set(job.offlineAtDispatch);
  const count = enrolled?.();
  for (let at = 0; at === 0 || at < targets.length; at += JOB_TARGETS_INLINE_MAX) {
    const part = targets.slice(at, at + JOB_TARGETS_INLINE_MAX);
    const absent = part.filter((peel) => offline.has(peel));
    const unheard = part.filter((peel) => !offline.has(peel) && isUnheard?.(peel));
    tell({
      kind: "accepted",
      jid: job.jid,
      targets: part,
      master: masterId,
      ...(part.length === targets.length ? {} : { matched: targets.length }),
      ...(job.user === undefined ? {} : { user: job.user }),
      ...(absent.length === 0 ? {} : { offline: absent }),
      ...(unheard.length === 0 ? {} : { unheard }),
      ...(count === undefined ? {} : { enrolled: count }),
    });
  }
}

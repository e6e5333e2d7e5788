/** Says why a target of a job has not answered, as far as it is known. Pure. */
import { formatDuration } from "../../core/duration.ts";
import type { PresenceWord } from "../../core/wire/query.ts";
import { isTerminal, type Job } from "../../core/wire/job.ts";

/** What a master knows of a peel's presence. */
export interface Seen {
  readonly presence: PresenceWord;
  readonly lastSeenMs?: number | undefined;
}

/** The job that a peel is busy with. */
export type Busy = Pick<Job, "jid" | "function" | "user">;

export interface SilenceView {
  readonly job: Pick<Job, "status" | "offlineAtDispatch">;
  readonly peel: string;
  readonly acked: boolean;
  readonly seen: Seen;
  readonly busy?: Busy | undefined;
  readonly nowMs: number;
}

/** One phrase: offline, not delivered, accepted and then silent, or busy with another job. */
export function silenceReason(view: SilenceView): string {
  const { job, acked, busy } = view;
  if (busy !== undefined) return `busy with job ${busy.jid} (${busyWords(busy)})`;
  if (acked) return acceptedThen(view);
  if (job.status === "not_sent") return "not sent: its time was over before any peel was told";
  if (job.status === "pending" || job.status === "claimed") return "not told yet";
  return notDelivered(view);
}

function busyWords({ user, function: name }: Busy): string {
  return user === undefined ? name : `${user}, ${name}`;
}

function acceptedThen(view: SilenceView): string {
  if (view.seen.presence === "offline") return `accepted the job, then went offline${since(view)}`;
  return isTerminal(view.job.status)
    ? "accepted the job, then no answer in time"
    : "accepted the job, no answer yet";
}

function notDelivered(view: SilenceView): string {
  const { job, peel, seen } = view;
  const over = isTerminal(job.status);
  if (seen.presence === "offline") return `offline${since(view)}, not delivered`;
  if (job.offlineAtDispatch?.includes(peel)) return "offline at dispatch, not delivered";
  return over ? "not delivered: no ack" : "no ack yet";
}

function since({ seen: { lastSeenMs }, nowMs }: SilenceView): string {
  if (lastSeenMs === undefined) return "";
  return ` for ${formatDuration(Math.max(0, nowMs - lastSeenMs))}`;
}

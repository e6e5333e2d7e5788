/** Tells all masters and peels that a job is to end. Whoever calls it has seen the wish in the store. */
import { streams } from "../../core/buckets.ts";
import { toZesterError } from "../../core/errors.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeJobEvent } from "../../core/wire/job_event.ts";
import type { Job } from "../../core/wire/job.ts";
import type { JobPorts } from "./ports.ts";

export type TellCancelPorts = Pick<JobPorts, "clock" | "store" | "voice" | "log">;

/** Best effort, and harmless when repeated. If it is lost, whoever takes the job over finds the stored wish and tells again. */
export async function tellCancel(job: Job, by: string, ports: TellCancelPorts): Promise<void> {
  const { jid } = job;
  const { clock, store, voice, log } = ports;
  const subject = subjects.jobCancel.of({ jid });
  const payload = encodeJobEvent({ jid, type: "canceled", data: { by }, timestampMs: clock.now() });
  // Valid as long as the job can be: a peel that was away learns of it from a resend, not from an expired message.
  const deadlineMs = job.deadlineMs ?? job.createdMs + job.timeoutMs;
  const expiresMs = Math.max(deadlineMs, clock.now());
  const headers = voice.headers(subjects.jobCancel, subject, payload, { expiresMs });
  const stored = await store.stream(streams.jobEvents.name).append(subject, payload, { headers })
    .catch((thrown) => ({ outcome: toZesterError(thrown, "cancel").code }));
  if (stored.outcome !== "ok") log.warn("cancel not told", { jid, outcome: stored.outcome });
}

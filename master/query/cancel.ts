/**
 * Cancels a job for an operator. The wish is stored first, so that it outlives this master and whoever owns the job; then it is
 * told to all masters and peels. What becomes of the job is for its owner to say.
 */
import { streams } from "../../core/buckets.ts";
import { toZesterError, ZesterError } from "../../core/errors.ts";
import { subjects } from "../../core/subjects.ts";
import { isTerminal, type Job } from "../../core/wire/job.ts";
import { encodeJobEvent } from "../../core/wire/job_event.ts";
import type { JobRequest, ReplyOf } from "../../core/wire/query.ts";
import type { Body, QueryPorts } from "./ports.ts";
import { findJob } from "./prefix.ts";

export interface Operator {
  readonly name: string;
  readonly role: string | undefined;
}

/** Answers with the status of the job as it was: a job that has ended stays as it is. */
export async function cancelJob(
  request: JobRequest,
  operator: Operator,
  ports: QueryPorts,
): Promise<Body<ReplyOf<"cancel">>> {
  const { jobs, authorizer, log } = ports;
  const job = await findJob(request.jid, jobs);
  const { jid, status, function: name } = job;
  const targets = await jobs.targets(job);
  const decision = authorizer.decide(operator, { do: "cancel", function: name, targets });
  if (!decision.allowed) throw new ZesterError("permission_denied", decision.why);
  if (isTerminal(status)) return { kind: "cancel", jid, status };
  await jobs.requestCancel(jid, operator.name);
  log.info("cancel requested", { jid, by: operator.name });
  await publishCancel(job, operator.name, ports);
  return { kind: "cancel", jid, status };
}

/** If this is lost the job is canceled all the same, only later: its owner finds the stored wish. */
async function publishCancel(job: Job, by: string, ports: QueryPorts): Promise<void> {
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

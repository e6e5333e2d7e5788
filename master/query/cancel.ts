/**
 * Cancels a job for an operator. The wish is stored first, so that it outlives this master and whoever owns the job; then it is
 * told to all masters and peels. What becomes of the job is for its owner to say.
 */
import { denial } from "../../core/roles.ts";
import { isTerminal } from "../../core/wire/job.ts";
import type { JobRequest, ReplyOf } from "../../core/wire/query.ts";
import { tellCancel } from "../jobs/tell_cancel.ts";
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
  if (!decision.allowed) throw denial(decision);
  if (isTerminal(status)) return { kind: "cancel", jid, status };
  await jobs.requestCancel(jid, operator.name);
  log.info("cancel requested", { jid, by: operator.name });
  await ports.failPoints.hit("cancel.stored");
  await tellCancel(job, operator.name, ports);
  await ports.failPoints.hit("cancel.told");
  return { kind: "cancel", jid, status };
}

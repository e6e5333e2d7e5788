/** Tells peels to run a job: one signed request each. */
import { toZesterError } from "../../core/errors.ts";
import { REQUESTS_AT_ONCE } from "../../core/limits.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeExecRequest } from "../../core/wire/exec.ts";
import type { Job } from "../../core/wire/job.ts";
import type { JobPorts } from "./ports.ts";

export interface RequestPorts
  extends Pick<JobPorts, "voice" | "clock" | "log" | "failPoints" | "peelKey"> {
  /** Whether the job is ours no more: it may be lost while many are told, and then nobody else is. */
  isOver(): boolean;
}

/**
 * Publishes the request to each of these peels. One that cannot be told does not keep the others from it.
 * `first issued` is the moment of the dispatch, whoever sends and however late: a peel that lost its journal goes by it.
 */
export async function publishRequests(
  job: Job,
  peels: readonly string[],
  ports: RequestPorts,
): Promise<void> {
  const { voice, clock, log, failPoints } = ports;
  const payload = encodeExecRequest({
    jid: job.jid,
    module: job.function,
    id: job.stateId ?? "",
    args: job.args,
    epoch: job.epoch,
    timeoutMs: job.timeoutMs,
    ...depthOf(job),
  });
  const deadlineMs = job.deadlineMs ?? job.createdMs + job.timeoutMs;
  const firstIssuedMs = Math.min(dispatchedMs(job), clock.now());
  for (const [told, peel] of peels.entries()) {
    if (told > 0 && told % REQUESTS_AT_ONCE === 0) await clock.sleep(0);
    if (ports.isOver()) return;
    const audience = ports.peelKey(peel)?.generation ?? 0;
    const expiresMs = Math.max(deadlineMs, clock.now());
    try {
      voice.say(subjects.command, subjects.command.of({ peel }), payload, {
        audience,
        firstIssuedMs,
        expiresMs,
      });
    } catch (thrown) {
      log.warn("request not sent", { jid: job.jid, peel, error: toZesterError(thrown, "publish") });
    }
    // Only where a test makes it wait: each turn of the loop would be a packet of its own otherwise.
    const held = failPoints.hit("dispatch.published_one");
    if (held !== undefined) await held;
  }
}

/** When the job was dispatched, by the clock of the master that did. */
export function dispatchedMs(job: Job): number {
  return Number(job.metadata?.[DISPATCHED] ?? job.createdMs);
}

/** Key in the record's metadata. */
export const DISPATCHED = "dispatched_ms";

function depthOf({ metadata }: Job): { reactorDepth: number } {
  const depth = Number(metadata?.["reactor_depth"] ?? 0);
  return { reactorDepth: Number.isInteger(depth) && depth > 0 ? depth : 0 };
}

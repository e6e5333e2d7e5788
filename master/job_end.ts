/** What is counted and told when a job has ended: the same whoever ends it, its watcher or a master that found it orphaned. */
import { streams } from "../core/buckets.ts";
import { toZesterError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Metrics } from "../core/metrics.ts";
import type { Voice } from "../core/outgoing.ts";
import type { Clock, Store } from "../core/ports.ts";
import { subjects } from "../core/subjects.ts";
import { encodeJobEvent, type JobEventType } from "../core/wire/job_event.ts";
import type { Job, JobStatus } from "../core/wire/job.ts";

/** How a job ended. */
export interface JobEnd {
  readonly status: JobStatus;
  readonly returnCount: number;
  readonly successCount: number;
  readonly reason: string;
}

export interface JobEndPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Call it once the end is stored. Best effort: the stored record is what counts. */
export async function tellEnd(job: Job, end: JobEnd, ports: JobEndPorts): Promise<void> {
  const { store, clock, voice, metrics, log } = ports;
  const { jid, epoch } = job;
  const { status, returnCount, successCount, reason } = end;
  metrics.jobs.inc({ status });
  metrics.jobSeconds.observe((clock.now() - job.createdMs) / 1_000);
  const subject = subjects.jobStatus.of({ jid });
  const payload = encodeJobEvent({
    jid,
    type: EVENT_TYPES[status] ?? "completed",
    data: { status, returns: returnCount, successes: successCount, reason },
    timestampMs: clock.now(),
  });
  const headers = voice.headers(subjects.jobStatus, subject, payload);
  const stored = await store.stream(streams.jobEvents.name)
    .append(subject, payload, { headers, messageId: `${jid}.status.${epoch}` })
    .catch((thrown) => ({ outcome: toZesterError(thrown, "status").code }));
  if (stored.outcome !== "ok") {
    log.warn("status event not stored", { jid, outcome: stored.outcome });
  }
}

/** A job that was never sent has failed for whoever waits for its effect. */
const EVENT_TYPES: Partial<Record<JobStatus, JobEventType>> = {
  failed: "failed",
  not_sent: "failed",
  canceled: "canceled",
  timeout: "timeout",
};

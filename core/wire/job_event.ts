/** JobEvent: a step in the life of a job, published for the record. */
import {
  anything,
  jid,
  message,
  oneOf,
  optional,
  peelId,
  required,
  timeMs,
  type TypeOf,
  version,
} from "./codec.ts";

/** The steps, and whether the job has ended with them. */
export const JOB_EVENT = {
  dispatched: { ends: false },
  acked: { ends: false },
  returned: { ends: false },
  completed: { ends: true },
  canceled: { ends: true },
  timeout: { ends: true },
  failed: { ends: true },
} as const;

export type JobEventType = keyof typeof JOB_EVENT;

export const jobEventMessage = message("JobEvent", {
  v: version,
  jid: required("jid", jid),
  type: required("type", oneOf(JOB_EVENT)),
  peelId: optional("peel_id", peelId),
  data: optional("data", anything),
  timestampMs: required("timestamp", timeMs),
});

export type JobEvent = TypeOf<typeof jobEventMessage>;

export const { encode: encodeJobEvent, decode: decodeJobEvent } = jobEventMessage;

/** Job: what was asked for and what became of it. The dispatch request, the record in the bucket, the data of its events. */
import {
  count,
  dataMap,
  durationMs,
  jid,
  listOf,
  masterId,
  message,
  omitEmpty,
  oneOf,
  optional,
  optionalTime,
  orEmpty,
  peelId,
  required,
  text,
  textMap,
  timeMs,
  type TypeOf,
  uint64,
  version,
} from "./codec.ts";

/** The states of a job. `claimed` means that nothing was published yet; a terminal one never changes. */
export const JOB_STATUS = {
  pending: { terminal: false },
  claimed: { terminal: false },
  running: { terminal: false },
  complete: { terminal: true },
  partial: { terminal: true },
  timeout: { terminal: true },
  failed: { terminal: true },
  canceled: { terminal: true },
} as const;

export type JobStatus = keyof typeof JOB_STATUS;

/** Whether a job in this state has ended. */
export function isTerminal(status: JobStatus): boolean {
  return JOB_STATUS[status].terminal;
}

export const jobMessage = message("Job", {
  v: version,
  jid: required("jid", jid),
  function: required("function", text.min(1)),
  args: orEmpty("args", dataMap, () => ({})),
  targets: orEmpty("targets", listOf(peelId), () => []),
  timeoutMs: required("timeout", durationMs),
  status: required("status", oneOf(JOB_STATUS)),
  createdMs: required("created", timeMs),
  updatedMs: required("updated", timeMs),
  user: optional("user", text),
  owner: optional("owner", masterId),
  epoch: omitEmpty("epoch", uint64, () => 0n),
  deadlineMs: optionalTime("deadline"),
  reclaimCount: optional("reclaim_count", count),
  offlineAtDispatch: optional("offline_at_dispatch", listOf(peelId)),
  stateId: optional("state_id", text),
  targetExpr: optional("target_expr", text),
  returnCount: optional("return_count", count),
  successCount: optional("success_count", count),
  metadata: optional("metadata", textMap),
});

export type Job = TypeOf<typeof jobMessage>;

export const { encode: encodeJob, decode: decodeJob } = jobMessage;

/** A job as whoever asks for it makes it. Who matches, who owns it and until when are for a master to say. */
export function newJob(
  asked: Pick<Job, "jid" | "function" | "args" | "targetExpr" | "timeoutMs" | "stateId">,
  nowMs: number,
): Job {
  return {
    ...asked,
    targets: [],
    status: "pending",
    createdMs: nowMs,
    updatedMs: nowMs,
    epoch: 0n,
    reclaimCount: 0,
    offlineAtDispatch: [],
    returnCount: 0,
    successCount: 0,
    metadata: {},
  };
}

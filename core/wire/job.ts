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
  /** Its deadline passed before any peel was told: nothing has run. */
  not_sent: { terminal: true },
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
  /** Nonce of the write that made this revision: how a master knows its own write again when the answer was lost. */
  claim: optional("claim", text),
  /** Rolling run: how many at a time (`5` or `10%`), the pause between, and how many may fail before it stops. */
  batchSize: optional("batch_size", text),
  batchWaitMs: optional("batch_wait", durationMs),
  maxFail: optional("max_fail", text),
  /** A repeatable sample of those who match: how many (`5` or `10%`), and what it is drawn with. */
  limit: optional("limit", text),
  seed: optional("seed", text),
  /** Above a limit the targets are in this many chunks of their own, and `targets` is empty. */
  targetChunks: optional("target_chunks", count),
});

export type Job = TypeOf<typeof jobMessage>;

export const { encode: encodeJob, decode: decodeJob } = jobMessage;

/** A job as whoever asks for it makes it. Who matches, who owns it and until when are for a master to say. */
export function newJob(
  asked:
    & Pick<Job, "jid" | "function" | "args" | "targetExpr" | "timeoutMs" | "stateId">
    & Partial<Pick<Job, "batchSize" | "batchWaitMs" | "maxFail" | "limit" | "seed">>,
  nowMs: number,
): Job {
  return {
    ...asked,
    targets: [],
    status: "pending",
    createdMs: nowMs,
    updatedMs: nowMs,
    epoch: 0n,
  };
}

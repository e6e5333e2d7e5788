/**
 * Query, JobRequest and Reply: what an operator asks the masters about jobs, peels and masters, and what they answer. An answer is
 * one page: it stays far below the largest payload, and `next` says where the following page begins.
 */
import {
  count,
  flag,
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
  type Tagged,
  taggedMessage,
  text,
  timeMs,
  type TypeOf,
  version,
} from "./codec.ts";
import { JOB_STATUS, jobMessage } from "./job.ts";
import { returnMessage } from "./return.ts";

/** What can be asked; the name is the last token of the subject. */
export const QUERIES = {
  jobs: { about: "recent jobs, newest first" },
  job: { about: "one job: its record, and what is known of each target" },
  active: { about: "jobs under way" },
  peels: { about: "enrolled peels" },
  peel: { about: "one peel" },
  masters: { about: "masters that are alive" },
  follow: { about: "what happens to a job from now on, as it happens" },
  prefix: { about: "the job that a shortened id means" },
} as const;

export type QueryName = keyof typeof QUERIES;

export const queryMessage = message("Query", {
  v: version,
  /** A job id, or the beginning of one. */
  jid: optional("jid", text),
  peel: optional("peel", peelId),
  /** Rows wanted at most. */
  limit: optional("limit", count),
  /** `next` of the page before. */
  after: optional("after", text),
  /** Only jobs that did not end well. */
  failed: optional("failed", flag),
  function: optional("function", text),
  user: optional("user", text),
  sinceMs: optionalTime("since"),
});

export type Query = TypeOf<typeof queryMessage>;

export const { encode: encodeQuery, decode: decodeQuery } = queryMessage;

/** What an operator wants done about a job; the verb is in the subject. */
export const jobRequestMessage = message("JobRequest", {
  v: version,
  /** A job id, or the beginning of one. */
  jid: required("jid", text),
});

export type JobRequest = TypeOf<typeof jobRequestMessage>;

export const { encode: encodeJobRequest, decode: decodeJobRequest } = jobRequestMessage;

/** A job in a list: its record with at most some of its targets, and how many there are. */
export const jobRowMessage = message("JobRow", {
  job: required("job", jobMessage.schema),
  targetCount: orEmpty("target_count", count, () => 0),
});

export type JobRow = TypeOf<typeof jobRowMessage>;

/** What is known of one target of a job. */
export const jobTargetMessage = message("JobTarget", {
  peel: required("peel", peelId),
  acked: omitEmpty("acked", flag, () => false),
  return: optional("return", returnMessage.schema),
  /** The return came after the job had ended. */
  late: omitEmpty("late", flag, () => false),
  /** Why there is no return, as far as it is known. */
  reason: optional("reason", text),
});

export type JobTarget = TypeOf<typeof jobTargetMessage>;

/** Whether a peel was heard from lately; a master that has not listened long enough cannot say. */
export const PRESENCE = { online: {}, offline: {}, unknown: {} } as const;
export type PresenceWord = keyof typeof PRESENCE;

/** An enrolled peel. */
export const peelRowMessage = message("PeelRow", {
  peel: required("peel", peelId),
  presence: required("presence", oneOf(PRESENCE)),
  lastSeenMs: optionalTime("last_seen"),
  version: optional("version", text),
  os: optional("os", text),
  arch: optional("arch", text),
  /** Only where one peel is asked for: what its host lets modules touch, in short, and the functions of its state tree. */
  policy: optional("policy", listOf(text)),
  customFunctions: optional("custom_functions", listOf(text)),
});

export type PeelRow = TypeOf<typeof peelRowMessage>;

/** A master with a heartbeat. */
export const masterRowMessage = message("MasterRow", {
  master: required("master", masterId),
  activeJobs: orEmpty("active_jobs", listOf(jid), () => []),
  activeCount: orEmpty("active_count", count, () => 0),
  heartbeatMs: required("heartbeat", timeMs),
});

export type MasterRow = TypeOf<typeof masterRowMessage>;

/** Where the next page begins, and by which clock times in this one are to be judged. */
const page = {
  v: version,
  master: required("master", masterId),
  nowMs: required("now", timeMs),
  next: optional("next", text),
} as const;

const REPLIES = {
  jobs: { ...page, jobs: orEmpty("jobs", listOf(jobRowMessage.schema), () => []) },
  job: {
    ...page,
    jid: required("jid", jid),
    /** Only in the first page. */
    job: optional("job", jobMessage.schema),
    targetCount: orEmpty("target_count", count, () => 0),
    targets: orEmpty("targets", listOf(jobTargetMessage.schema), () => []),
    canceledBy: optional("canceled_by", text),
  },
  peels: { ...page, peels: orEmpty("peels", listOf(peelRowMessage.schema), () => []) },
  masters: { ...page, masters: orEmpty("masters", listOf(masterRowMessage.schema), () => []) },
  prefix: { ...page, jid: required("jid", jid) },
  /** A cancel was asked for and is kept; `status` is the job's at that moment. A job that has ended stays as it is. */
  cancel: { ...page, jid: required("jid", jid), status: required("status", oneOf(JOB_STATUS)) },
  refused: {
    v: version,
    /** A code of `core/errors.ts`, or of a newer master's. */
    code: required("code", text.min(1)),
    message: required("message", text),
    fix: optional("fix", text),
  },
} as const;

/** One answer, told apart by `kind`. */
export type Reply = Tagged<typeof REPLIES>;
/** An answer of one kind. */
export type ReplyOf<K extends Reply["kind"]> = Extract<Reply, { kind: K }>;

/** Which kind of answer each query gets; `follow` gets a stream of Follow messages instead. */
export interface ReplyKinds {
  jobs: "jobs";
  job: "job";
  active: "jobs";
  peels: "peels";
  peel: "peels";
  masters: "masters";
  prefix: "prefix";
}

export const replyMessage = taggedMessage("Reply", REPLIES);

export const { encode: encodeReply, decode: decodeReply } = replyMessage;

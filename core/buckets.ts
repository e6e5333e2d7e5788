/**
 * Every bucket and stream, declared once: settings, who reads and writes, which durables exist. `core/grants.ts` makes
 * permissions from it, the bootstrap identity makes the real ones from it, `docs/protocol.md` shows it.
 */
import {
  BUCKET_BYTES_MAX,
  CHALLENGE_TTL_MS,
  CONTROL_BUCKET_BYTES_MAX,
  CONTROL_VALUE_BYTES_MAX,
  DEAD_LETTER_BYTES_MAX,
  DEAD_LETTER_RETENTION_MS,
  DUPLICATE_WINDOW_MS,
  EVENT_RETENTION_MS,
  EVENT_STREAM_BYTES_MAX,
  EVENT_STREAM_MESSAGES_MAX,
  FACTS_BYTES_MAX,
  JOB_RETENTION_MS,
  JOB_STREAM_BYTES_MAX,
  JOB_SUBJECT_MESSAGES_MAX,
  LEASE_TTL_MS,
  MASTER_HEARTBEAT_TTL_MS,
  PAYLOAD_BYTES_MAX,
} from "./limits.ts";
import { subjects } from "./subjects.ts";

export interface BucketSpec {
  readonly name: string;
  readonly ttlMs?: number;
  readonly history: number;
  readonly storage: "file" | "memory";
  readonly valueBytesMax: number;
  readonly bytesMax: number;
  /** Exact keys that a peel may read by direct get; `{peel}` is its own id. Masters read and write every bucket. */
  readonly peelReads: readonly string[];
  /** Keys that operators may read by direct get. */
  readonly operatorReads: readonly string[];
  /** Whether operators may ask which keys there are: one question with one answer, no consumer. Default: no. */
  readonly operatorLists?: boolean;
  readonly note: string;
}

export interface DurableSpec {
  readonly name: string;
  readonly filter: string;
  readonly deliver: "all" | "new";
  readonly ackWaitMs: number;
  readonly maxAckPending: number;
}

export interface StreamSpec {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly maxAgeMs: number;
  readonly bytesMax: number;
  readonly messagesMax?: number;
  /** On one subject; beyond, the oldest of that subject goes. */
  readonly subjectMessagesMax?: number;
  /** Largest message, headers included. */
  readonly messageBytesMax?: number;
  readonly duplicateWindowMs: number;
  readonly storage: "file" | "memory";
  /** Consumers that all masters share. Made by bootstrap: whoever may create one could take over another's name. */
  readonly durables: readonly DurableSpec[];
  /** Whether masters may make short-lived consumers of their own, to replay. */
  readonly replayable: boolean;
  readonly note: string;
}

function bucket(
  name: string,
  note: string,
  options: Partial<Omit<BucketSpec, "name" | "note">> = {},
): BucketSpec {
  return {
    name,
    note,
    history: 1,
    storage: "file",
    valueBytesMax: PAYLOAD_BYTES_MAX,
    bytesMax: BUCKET_BYTES_MAX,
    peelReads: [],
    operatorReads: [],
    ...options,
  };
}

export const buckets = {
  facts: bucket("facts", "`<peel>`: its facts, stored by masters", {
    history: 5,
    valueBytesMax: FACTS_BYTES_MAX,
    operatorReads: [">"],
  }),
  settingsFiles: bucket("settings-files", "settings without secrets, as a file set", {
    history: 3,
    peelReads: [">"],
  }),
  secrets: bucket("secrets", "`<peel>`: secrets sealed to it; `_master_curve_pub`; `_trust`", {
    peelReads: ["{peel}", "_master_curve_pub", "_trust"],
    operatorReads: ["_trust"],
  }),
  basket: bucket("basket", "`<peel>.<function>`: values that peels share", {
    peelReads: [">"],
    operatorReads: [">"],
  }),
  jobs: bucket("jobs", "`<jid>`: the job; `active.<jid>`: index of jobs under way", {
    ttlMs: JOB_RETENTION_MS,
    history: 10,
    operatorReads: [">"],
  }),
  jobReturns: bucket("job-returns", "`<jid>.<peel>`: what came back", {
    ttlMs: JOB_RETENTION_MS,
    operatorReads: [">"],
  }),
  masterHeartbeat: bucket("master-heartbeat", "`<master>`: alive while it is there", {
    ttlMs: MASTER_HEARTBEAT_TTL_MS,
    bytesMax: CONTROL_BUCKET_BYTES_MAX,
  }),
  leases: bucket("leases", "`publisher`, `facts-secrets`: who holds the lease", {
    ttlMs: LEASE_TTL_MS,
    bytesMax: CONTROL_BUCKET_BYTES_MAX,
    valueBytesMax: CONTROL_VALUE_BYTES_MAX,
  }),
  enrollments: bucket(
    "enrollments",
    "`enr-<id>`: record; `peel.<peel>`: id of the record in force",
    {
      history: 10,
      valueBytesMax: CONTROL_VALUE_BYTES_MAX,
      operatorReads: [">"],
      operatorLists: true,
    },
  ),
  enrollChallenges: bucket("enroll-challenges", "`chl-<id>`: one-time challenges", {
    ttlMs: CHALLENGE_TTL_MS,
    storage: "memory",
    bytesMax: CONTROL_BUCKET_BYTES_MAX,
    valueBytesMax: CONTROL_VALUE_BYTES_MAX,
  }),
  stateFiles: bucket("state-files", "states, as a file set", { history: 3, peelReads: [">"] }),
  reactorFiles: bucket("reactor-files", "reactor rules, as a file set", { history: 3 }),
  masterSettings: bucket("master-settings", "settings with secrets, sealed to the masters"),
} as const satisfies Record<string, BucketSpec>;

export const streams = {
  jobEvents: {
    name: "job-events",
    subjects: ["zester.job.>"],
    maxAgeMs: JOB_RETENTION_MS,
    bytesMax: JOB_STREAM_BYTES_MAX,
    subjectMessagesMax: JOB_SUBJECT_MESSAGES_MAX,
    messageBytesMax: PAYLOAD_BYTES_MAX,
    duplicateWindowMs: DUPLICATE_WINDOW_MS,
    storage: "file",
    durables: [{
      name: "schedule-results",
      filter: subjects.schedule.filter(),
      deliver: "all",
      ackWaitMs: 30_000,
      maxAckPending: 256,
    }],
    replayable: true,
    note: "acks, returns, scheduled results, dispatch and status of every job",
  },
  events: {
    name: "events",
    subjects: ["zester.event.>"],
    maxAgeMs: EVENT_RETENTION_MS,
    bytesMax: EVENT_STREAM_BYTES_MAX,
    messagesMax: EVENT_STREAM_MESSAGES_MAX,
    duplicateWindowMs: DUPLICATE_WINDOW_MS,
    storage: "file",
    durables: [{
      name: "reactor",
      filter: "zester.event.>",
      deliver: "all",
      ackWaitMs: 60_000,
      maxAckPending: 64,
    }],
    replayable: false,
    note: "events of peels, operators and masters",
  },
  deadLetters: {
    name: "dead-letters",
    subjects: ["zester.dead.>"],
    maxAgeMs: DEAD_LETTER_RETENTION_MS,
    bytesMax: DEAD_LETTER_BYTES_MAX,
    duplicateWindowMs: DUPLICATE_WINDOW_MS,
    storage: "file",
    durables: [],
    replayable: true,
    note: "events that could not be reacted to, with their reasons",
  },
} as const satisfies Record<string, StreamSpec>;

export type BucketName = (typeof buckets)[keyof typeof buckets]["name"];
export type StreamName = (typeof streams)[keyof typeof streams]["name"];

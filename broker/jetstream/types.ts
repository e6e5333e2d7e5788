/**
 * The shapes of JetStream as the engine knows them: settings with NATS's own JSON names (durations in nanoseconds), what is
 * stored, what is reported, and the records from which the whole state can be rebuilt.
 */
import type { HeaderField } from "../../core/ports.ts";

// ---- settings ------------------------------------------------------------------------------------------------

/** Settings of a stream with every default filled in. -1 means no limit, 0 for durations means none. */
export interface StreamConfig {
  name: string;
  description?: string;
  subjects: string[];
  retention: "limits" | "interest" | "workqueue";
  storage: "file" | "memory";
  num_replicas: number;
  discard: "old" | "new";
  discard_new_per_subject: boolean;
  max_age: number;
  max_bytes: number;
  max_msgs: number;
  max_msg_size: number;
  max_msgs_per_subject: number;
  max_consumers: number;
  duplicate_window: number;
  allow_direct: boolean;
  allow_rollup_hdrs: boolean;
  deny_delete: boolean;
  deny_purge: boolean;
  sealed: boolean;
  mirror_direct: boolean;
  metadata?: Record<string, string>;
}

/** What a request may leave out. */
export type StreamConfigInput = Partial<StreamConfig> & { name: string };

export type DeliverPolicy =
  | "all"
  | "last"
  | "new"
  | "by_start_sequence"
  | "by_start_time"
  | "last_per_subject";
export type AckPolicy = "none" | "all" | "explicit";

/** Settings of a consumer with every default filled in. */
export interface ConsumerConfig {
  name: string;
  durable_name?: string;
  description?: string;
  deliver_policy: DeliverPolicy;
  opt_start_seq?: number;
  /** RFC 3339. */
  opt_start_time?: string;
  ack_policy: AckPolicy;
  ack_wait: number;
  backoff?: number[];
  max_deliver: number;
  max_ack_pending: number;
  max_waiting: number;
  max_batch?: number;
  max_expires?: number;
  max_bytes?: number;
  filter_subject?: string;
  filter_subjects?: string[];
  replay_policy: "instant" | "original";
  headers_only: boolean;
  inactive_threshold: number;
  mem_storage: boolean;
  num_replicas: number;
  /** With it the consumer pushes; without, readers pull. */
  deliver_subject?: string;
  deliver_group?: string;
  flow_control: boolean;
  idle_heartbeat: number;
  metadata?: Record<string, string>;
}

/** What a request may leave out; without a name the engine makes one up (ephemeral). */
export type ConsumerConfigInput = Partial<ConsumerConfig>;

/** `create` refuses an existing one with other settings, `update` a missing one, `""` takes both. */
export type ConsumerAction = "create" | "update" | "";

// ---- messages and reports ------------------------------------------------------------------------------------

/** One message of a stream. */
export interface StoredRecord {
  readonly sequence: number;
  readonly subject: string;
  readonly headers: readonly HeaderField[];
  readonly data: Uint8Array;
  /** When the stream took it, in milliseconds (may have a fraction). */
  readonly timeMs: number;
}

export interface StreamState {
  messages: number;
  bytes: number;
  first_seq: number;
  first_ts: string;
  last_seq: number;
  last_ts: string;
  num_subjects: number;
  num_deleted: number;
  consumer_count: number;
  /** Only where a filter was asked for: messages per subject. */
  subjects?: Record<string, number>;
}

export interface StreamReport {
  config: StreamConfig;
  created: string;
  state: StreamState;
  /** RFC 3339: when this was reported. */
  ts: string;
}

export interface SequencePair {
  consumer_seq: number;
  stream_seq: number;
  last_active?: string;
}

export interface ConsumerReport {
  stream_name: string;
  name: string;
  created: string;
  config: ConsumerConfig;
  delivered: SequencePair;
  ack_floor: SequencePair;
  num_ack_pending: number;
  num_redelivered: number;
  num_waiting: number;
  num_pending: number;
  push_bound?: boolean;
  /** RFC 3339: when this was reported. */
  ts: string;
}

export interface PublishAck {
  stream: string;
  seq: number;
  duplicate?: boolean;
}

/** Conditions on an append; all that are given must hold. */
export interface AppendConditions {
  messageId?: string;
  expectedStream?: string;
  expectedLastSequence?: number;
  expectedLastMessageId?: string;
  expectedLastSubjectSequence?: number;
  /** Subject (may hold wildcards) that `expectedLastSubjectSequence` speaks of, if not the message's own. */
  expectedLastSubjectSequenceSubject?: string;
}

/** Which message to read. `seq` with `next_by_subj`: the first at or after it. */
export interface GetQuery {
  seq?: number;
  last_by_subj?: string;
  next_by_subj?: string;
}

export interface PurgeRequest {
  filter?: string;
  /** Remove below this sequence. */
  seq?: number;
  /** Keep this many of the newest. */
  keep?: number;
}

/** One pull request. Durations in nanoseconds, as on the wire. */
export interface PullRequest {
  batch: number;
  expires?: number;
  no_wait?: boolean;
  max_bytes?: number;
  idle_heartbeat?: number;
}

/** A failure that the client is told in JSON, with NATS's own numbers and texts. */
export class JetStreamApiError extends Error {
  readonly code: number;
  readonly errCode: number;
  readonly description: string;

  constructor(code: number, errCode: number, description: string) {
    super(description);
    this.name = "JetStreamApiError";
    this.code = code;
    this.errCode = errCode;
    this.description = description;
  }
}

// ---- persistence ---------------------------------------------------------------------------------------------

/** A message delivered and not yet acknowledged, as it is kept: stream sequence, consumer sequence, deliveries. */
export type PendingRecord = readonly [
  sequence: number,
  consumerSequence: number,
  deliveries: number,
];

/** Where a consumer stands. */
export interface ConsumerPosition {
  /** Consumer sequence of the last delivery. */
  deliveredConsumer: number;
  /** Stream sequence of the last first-time delivery. */
  deliveredStream: number;
  pending: PendingRecord[];
  /** What is left of the list of last messages per subject, and the sequence after which delivery goes on. */
  lastPerSubject?: { sequences: number[]; resumeAfter: number };
}

/**
 * One change, as plain data (MessagePack takes it). Replayed in order, the records rebuild the state; what limits
 * removed is not written, because the same limits remove it again.
 */
export type LogRecord =
  | {
    type: "stream_put";
    config: StreamConfig;
    createdMs: number;
    /** Everything below is gone, whatever earlier records say. */
    firstSequence: number;
    lastSequence: number;
    /** Message ids seen lately, with the sequence and the time of each. */
    messageIds: [id: string, sequence: number, timeMs: number][];
  }
  | { type: "stream_delete"; stream: string }
  | {
    type: "stored";
    stream: string;
    sequence: number;
    subject: string;
    headers: readonly HeaderField[];
    data: Uint8Array;
    timeMs: number;
  }
  | { type: "removed"; stream: string; sequences: number[] }
  | {
    type: "consumer_put";
    stream: string;
    config: ConsumerConfig;
    createdMs: number;
    position: ConsumerPosition;
  }
  | { type: "consumer_delete"; stream: string; consumer: string }
  | {
    type: "consumer_delivered";
    stream: string;
    consumer: string;
    sequence: number;
    consumerSequence: number;
    deliveries: number;
  }
  /** Acknowledged or terminated: never to be delivered again. */
  | { type: "consumer_settled"; stream: string; consumer: string; sequences: number[] };

/** Where the engine writes what must survive. */
export interface Persistence {
  write(record: LogRecord): void;
  /** Calls back once everything written so far is on disk. */
  whenDurable(callback: () => void): void;
}

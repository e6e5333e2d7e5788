/**
 * Decides what the server is told for each bucket, stream and durable of `core/buckets.ts`: plain objects with NATS's own
 * JSON names (durations in nanoseconds). Both adapters (`core/nats/`, `broker/ports.ts`) send exactly these.
 */
import type { BucketSpec, DurableSpec, StreamSpec } from "./buckets.ts";
import { DUPLICATE_WINDOW_MS } from "./limits.ts";
import type { ConsumerSpec } from "./ports.ts";

const NANOS_PER_MS = 1_000_000;

/** The settings of a stream as we send them. */
export interface StreamSettings {
  name: string;
  description: string;
  subjects: string[];
  retention: "limits";
  storage: "file" | "memory";
  num_replicas: number;
  discard: "old" | "new";
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
}

/** The settings of a pull consumer as we send them. */
export interface ConsumerSettings {
  name?: string;
  durable_name?: string;
  filter_subject?: string;
  deliver_policy: "all" | "new" | "last_per_subject" | "by_start_sequence";
  opt_start_seq?: number;
  ack_policy: "explicit";
  ack_wait: number;
  max_ack_pending: number;
  max_deliver: number;
  replay_policy: "instant";
  inactive_threshold?: number;
}

/** Milliseconds as the server's JSON wants them. */
export function nanos(milliseconds: number): number {
  return Math.round(milliseconds * NANOS_PER_MS);
}

/** The stream behind a bucket. */
export function bucketStreamName(bucket: string): string {
  return `KV_${bucket}`;
}

/** The subject of one key of a bucket; the key may hold wildcards where a filter is wanted. */
export function bucketSubject(bucket: string, key: string): string {
  return `$KV.${bucket}.${key}`;
}

/** The stream behind a bucket: refuses writes when full, and nothing but a newer value removes an older one. */
export function bucketStreamConfig(spec: BucketSpec, replicas = 1): StreamSettings {
  const ttlMs = spec.ttlMs ?? 0;
  return {
    name: bucketStreamName(spec.name),
    description: spec.note,
    subjects: [bucketSubject(spec.name, ">")],
    retention: "limits",
    storage: spec.storage,
    num_replicas: replicas,
    discard: "new",
    max_age: nanos(ttlMs),
    max_bytes: spec.bytesMax,
    max_msgs: -1,
    max_msg_size: spec.valueBytesMax,
    max_msgs_per_subject: spec.history,
    max_consumers: -1,
    duplicate_window: duplicateWindow(DUPLICATE_WINDOW_MS, ttlMs),
    allow_direct: true,
    allow_rollup_hdrs: false,
    deny_delete: true,
    deny_purge: true,
  };
}

/** A stream: drops its oldest when full, and nobody can remove from the middle of it. */
export function streamConfig(spec: StreamSpec, replicas = 1): StreamSettings {
  return {
    name: spec.name,
    description: spec.note,
    subjects: [...spec.subjects],
    retention: "limits",
    storage: spec.storage,
    num_replicas: replicas,
    discard: "old",
    max_age: nanos(spec.maxAgeMs),
    max_bytes: spec.bytesMax,
    max_msgs: spec.messagesMax ?? -1,
    max_msg_size: spec.messageBytesMax ?? -1,
    max_msgs_per_subject: spec.subjectMessagesMax ?? -1,
    max_consumers: -1,
    duplicate_window: duplicateWindow(spec.duplicateWindowMs, spec.maxAgeMs),
    allow_direct: true,
    allow_rollup_hdrs: false,
    deny_delete: true,
    deny_purge: true,
  };
}

/** A durable that bootstrap makes and all masters share. */
export function durableConfig(spec: DurableSpec): ConsumerSettings {
  return {
    name: spec.name,
    durable_name: spec.name,
    filter_subject: spec.filter,
    deliver_policy: spec.deliver,
    ack_policy: "explicit",
    ack_wait: nanos(spec.ackWaitMs),
    max_ack_pending: spec.maxAckPending,
    max_deliver: -1,
    replay_policy: "instant",
  };
}

const DELIVER_POLICY = {
  all: "all",
  new: "new",
  lastPerSubject: "last_per_subject",
} as const;

/** The consumer that `Stream.consumer(spec)` asks for. */
export function consumerConfig(spec: ConsumerSpec): ConsumerSettings {
  const config: ConsumerSettings = {
    deliver_policy: "all",
    ack_policy: "explicit",
    ack_wait: nanos(spec.ackWaitMs),
    max_ack_pending: spec.maxAckPending,
    max_deliver: spec.maxDeliver ?? -1,
    replay_policy: "instant",
  };
  if (spec.durable !== undefined) {
    config.name = spec.durable;
    config.durable_name = spec.durable;
  }
  if (spec.filter !== undefined) config.filter_subject = spec.filter;
  // The server wants a filter for this policy, even one that leaves nothing out.
  else if (spec.deliver === "lastPerSubject") config.filter_subject = ">";
  if (spec.inactiveMs !== undefined) config.inactive_threshold = nanos(spec.inactiveMs);
  if (typeof spec.deliver === "string") {
    config.deliver_policy = DELIVER_POLICY[spec.deliver];
  } else {
    config.deliver_policy = "by_start_sequence";
    config.opt_start_seq = Number(spec.deliver.fromSequence);
  }
  return config;
}

/** The server refuses a window longer than the age at which messages go. */
function duplicateWindow(windowMs: number, maxAgeMs: number): number {
  return nanos(maxAgeMs > 0 ? Math.min(windowMs, maxAgeMs) : windowMs);
}

/** Decides which consumer settings are accepted, fills in defaults, and says what an update may change. */
import {
  ACK_PENDING_MAX,
  ACK_WAIT_MS,
  BROKER_DURATION_MS_MIN,
  PULLS_WAITING_MAX,
} from "../../core/limits.ts";
import { nanos } from "../../core/stream_config.ts";
import { hasWildcard, isPattern, isSubset, overlap } from "../subject_match.ts";
import { apiErrors } from "./api_errors.ts";
import { isAssetName } from "./stream_rules.ts";
import type {
  ConsumerConfig,
  ConsumerConfigInput,
  JetStreamApiError,
  StreamConfig,
} from "./types.ts";

/** The settings in full, or an error that says what is wrong. The name must be known by now. */
export function completeConsumer(
  input: ConsumerConfigInput & { name: string },
  stream: StreamConfig,
): ConsumerConfig {
  const ackPolicy = input.ack_policy ?? "none";
  const config: ConsumerConfig = {
    ...optional(input),
    name: input.name,
    deliver_policy: input.deliver_policy ?? "all",
    ack_policy: ackPolicy,
    ack_wait: input.backoff?.[0] ??
      (input.ack_wait || (ackPolicy === "none" ? 0 : nanos(ACK_WAIT_MS))),
    max_deliver: input.max_deliver || -1,
    max_ack_pending: input.max_ack_pending || (ackPolicy === "none" ? 0 : ACK_PENDING_MAX),
    max_waiting: input.max_waiting || (input.deliver_subject ? 0 : PULLS_WAITING_MAX),
    replay_policy: input.replay_policy ?? "instant",
    headers_only: input.headers_only ?? false,
    inactive_threshold: input.inactive_threshold ?? 0,
    mem_storage: input.mem_storage ?? false,
    num_replicas: input.num_replicas ?? 0,
    flow_control: input.flow_control ?? false,
    idle_heartbeat: input.idle_heartbeat ?? 0,
  };
  const problem = problemWithNames(config) ?? problemWithDelivery(config, stream) ??
    problemWithFilters(config) ?? problemWithStart(config);
  if (problem !== undefined) throw problem;
  return config;
}

/** The settings that may be absent; empty texts and lists count as absent, as clients send them. */
function optional(input: ConsumerConfigInput): Partial<ConsumerConfig> {
  const kept: Partial<ConsumerConfig> = {};
  if (input.durable_name) kept.durable_name = input.durable_name;
  if (input.description) kept.description = input.description;
  if (input.opt_start_seq) kept.opt_start_seq = input.opt_start_seq;
  if (input.opt_start_time) kept.opt_start_time = input.opt_start_time;
  if (input.backoff?.length) kept.backoff = [...input.backoff];
  if (input.max_batch) kept.max_batch = input.max_batch;
  if (input.max_expires) kept.max_expires = input.max_expires;
  if (input.max_bytes) kept.max_bytes = input.max_bytes;
  if (input.filter_subject) kept.filter_subject = input.filter_subject;
  if (input.filter_subjects?.length) kept.filter_subjects = [...input.filter_subjects];
  if (input.deliver_subject) kept.deliver_subject = input.deliver_subject;
  if (input.deliver_group) kept.deliver_group = input.deliver_group;
  if (input.metadata) kept.metadata = { ...input.metadata };
  return kept;
}

/** The subjects a consumer wants; none means all. */
export function filtersOf(config: ConsumerConfig): string[] {
  if (config.filter_subjects !== undefined) return config.filter_subjects;
  return config.filter_subject === undefined ? [] : [config.filter_subject];
}

function problemWithNames(config: ConsumerConfig): JetStreamApiError | undefined {
  if (!isAssetName(config.name)) {
    return apiErrors.streamInvalid("consumer name can not contain '.', '*', '>', '\\', '/'");
  }
  if (config.durable_name !== undefined && config.durable_name !== config.name) {
    return apiErrors.consumerNameMismatch();
  }
  if (config.backoff && config.max_deliver !== -1 && config.backoff.length > config.max_deliver) {
    return apiErrors.backoffTooLong();
  }
  return undefined;
}

function problemWithDelivery(
  config: ConsumerConfig,
  stream: StreamConfig,
): JetStreamApiError | undefined {
  const { deliver_subject: to, idle_heartbeat: heartbeat } = config;
  if (to === undefined) {
    if (heartbeat > 0) return apiErrors.heartbeatNeedsPush();
    return config.flow_control ? apiErrors.flowControlNeedsPush() : undefined;
  }
  if (hasWildcard(to)) return apiErrors.deliverWildcards();
  if (!isPattern(to)) return apiErrors.deliverInvalid();
  if (stream.subjects.some((subject) => overlap(subject, to))) return apiErrors.deliverCycle();
  if (config.max_waiting !== 0) return apiErrors.pushMaxWaiting();
  if (config.max_ack_pending > 0 && config.ack_policy === "none") {
    return apiErrors.pendingNeedsAck();
  }
  if (heartbeat > 0 && heartbeat < nanos(BROKER_DURATION_MS_MIN)) {
    return apiErrors.heartbeatTooSmall();
  }
  if (config.flow_control && heartbeat === 0) return apiErrors.flowControlNeedsHeartbeat();
  return undefined;
}

function problemWithFilters(config: ConsumerConfig): JetStreamApiError | undefined {
  if (config.filter_subject !== undefined && config.filter_subjects !== undefined) {
    return apiErrors.bothFilters();
  }
  const filters = filtersOf(config);
  for (const [at, filter] of filters.entries()) {
    if (filter === "") return apiErrors.emptyFilter();
    if (!isPattern(filter)) return apiErrors.streamInvalid("nats: invalid subject");
    const others = filters.filter((_, other) => other !== at);
    if (others.some((other) => isSubset(filter, other))) return apiErrors.filtersOverlap();
  }
  return undefined;
}

const POLICY_WORDS = {
  all: "all",
  last: "last",
  new: "new",
  last_per_subject: "last per subject",
  by_start_sequence: "by start sequence",
  by_start_time: "by start time",
} as const;

function problemWithStart(config: ConsumerConfig): JetStreamApiError | undefined {
  const policy = config.deliver_policy;
  const words = POLICY_WORDS[policy];
  if (words === undefined) return apiErrors.invalidPolicy(`unknown deliver policy "${policy}"`);
  const extra = (what: string) =>
    apiErrors.invalidPolicy(
      `consumer delivery policy is deliver ${words}, but optional start ${what} is also set`,
    );
  const missing = (what: string) =>
    apiErrors.invalidPolicy(
      `consumer delivery policy is deliver ${words}, but optional ${what} is not set`,
    );
  const { opt_start_seq: sequence, opt_start_time: time } = config;
  if (policy === "by_start_sequence") {
    if (sequence === undefined) return missing("start sequence");
  } else if (sequence !== undefined) return extra("sequence");
  if (policy === "by_start_time") {
    if (time === undefined || Number.isNaN(Date.parse(time))) return missing("start time");
  } else if (time !== undefined) return extra("time");
  if (policy === "last_per_subject" && filtersOf(config).length === 0) {
    return missing("filter subject");
  }
  return undefined;
}

const FIXED: readonly [keyof ConsumerConfig, string][] = [
  ["deliver_policy", "deliver policy"],
  ["mem_storage", "storage type"],
  ["opt_start_seq", "start sequence"],
  ["opt_start_time", "start time"],
  ["ack_policy", "ack policy"],
  ["replay_policy", "replay policy"],
  ["idle_heartbeat", "heart beats"],
  ["flow_control", "flow control"],
  ["max_waiting", "max waiting"],
];

/** Throws when settings may not be changed in this way. */
export function checkConsumerUpdate(old: ConsumerConfig, config: ConsumerConfig): void {
  for (const [field, words] of FIXED) {
    if (old[field] !== config[field]) {
      throw apiErrors.consumerCreateFailed(`${words} can not be updated`);
    }
  }
  if (old.deliver_subject === undefined && config.deliver_subject !== undefined) {
    throw apiErrors.consumerCreateFailed("can not update pull consumer to push based");
  }
  if (old.deliver_subject !== undefined && config.deliver_subject === undefined) {
    throw apiErrors.consumerCreateFailed("can not update push consumer to pull based");
  }
}

/** Decides which stream settings are accepted, fills in defaults, and says what an update may change. */
import { BROKER_DURATION_MS_MIN, DUPLICATE_WINDOW_MS } from "../../core/limits.ts";
import { nanos } from "../../core/stream_config.ts";
import { isPattern, overlap } from "../subject_match.ts";
import { apiErrors } from "./api_errors.ts";
import type { StreamConfig, StreamConfigInput } from "./types.ts";

const DURATION_MIN = nanos(BROKER_DURATION_MS_MIN);
/** The window when a stream names none. */
const WINDOW_DEFAULT = nanos(DUPLICATE_WINDOW_MS);
/** Subjects that belong to the broker itself. */
const RESERVED = ["$JS.>", "$SYS.>"];

/** Whether it can name a stream or a consumer: one subject token that is also safe in a file name. */
export function isAssetName(name: string): boolean {
  return name.length > 0 && name.length <= 255 && !/[\s.*>\\/]/.test(name);
}

/** The settings in full, or an error that says what is wrong. */
export function completeStream(input: StreamConfigInput): StreamConfig {
  const maxAge = input.max_age ?? 0;
  const config: StreamConfig = {
    name: input.name,
    subjects: input.subjects?.length ? [...input.subjects] : [input.name],
    retention: input.retention ?? "limits",
    storage: input.storage ?? "file",
    num_replicas: input.num_replicas || 1,
    discard: input.discard ?? "old",
    discard_new_per_subject: input.discard_new_per_subject ?? false,
    max_age: maxAge,
    max_bytes: input.max_bytes || -1,
    max_msgs: input.max_msgs || -1,
    max_msg_size: input.max_msg_size || -1,
    max_msgs_per_subject: input.max_msgs_per_subject || -1,
    max_consumers: input.max_consumers || -1,
    duplicate_window: input.duplicate_window || defaultWindow(maxAge),
    allow_direct: input.allow_direct ?? false,
    allow_rollup_hdrs: input.allow_rollup_hdrs ?? false,
    deny_delete: input.deny_delete ?? false,
    deny_purge: input.deny_purge ?? false,
    sealed: input.sealed ?? false,
    mirror_direct: input.mirror_direct ?? false,
  };
  if (input.description !== undefined) config.description = input.description;
  if (input.metadata !== undefined) config.metadata = { ...input.metadata };
  const problem = problemWith(config);
  if (problem !== undefined) throw apiErrors.streamInvalid(problem);
  return config;
}

function defaultWindow(maxAge: number): number {
  return maxAge > 0 ? Math.min(maxAge, WINDOW_DEFAULT) : WINDOW_DEFAULT;
}

function problemWith(config: StreamConfig): string | undefined {
  if (!isAssetName(config.name)) {
    return "stream name is required and can not contain '.', '*', '>', '\\', '/'";
  }
  if (config.retention !== "limits") return "only limits retention is supported by this broker";
  if (config.discard !== "old" && config.discard !== "new") return "invalid discard policy";
  if (config.storage !== "file" && config.storage !== "memory") return "invalid storage type";
  return problemWithTimes(config) ?? problemWithFlags(config) ?? problemWithSubjects(config);
}

function problemWithTimes({ max_age: age, duplicate_window: window }: StreamConfig) {
  if (age < 0) return "max age can not be negative";
  if (age > 0 && age < DURATION_MIN) return "max age needs to be >= 100ms";
  if (window < 0) return "duplicates window can not be negative";
  if (age > 0 && window > age) return "duplicates window can not be larger then max age";
  if (window < DURATION_MIN) return "duplicates window needs to be >= 100ms";
  return undefined;
}

function problemWithFlags(config: StreamConfig): string | undefined {
  if (config.allow_rollup_hdrs && config.deny_purge) return "roll-ups require the purge permission";
  if (!config.discard_new_per_subject) return undefined;
  if (config.discard !== "new") {
    return "discard new per subject requires discard new policy to be set";
  }
  if (config.max_msgs_per_subject <= 0) {
    return "discard new per subject requires max msgs per subject > 0";
  }
  return undefined;
}

function problemWithSubjects({ subjects }: StreamConfig): string | undefined {
  for (const [at, subject] of subjects.entries()) {
    if (!isPattern(subject)) return "invalid subject";
    if (subject === ">") return "capturing all subjects requires no-ack to be true";
    if (RESERVED.some((reserved) => overlap(reserved, subject))) {
      return "subjects that overlap with jetstream api require no-ack to be true";
    }
    for (const other of subjects.slice(0, at)) {
      if (other === subject) return "duplicate subjects detected";
      if (overlap(other, subject)) return `subject "${subject}" overlaps with "${other}"`;
    }
  }
  return undefined;
}

/** Throws when settings may not be changed in this way. */
export function checkStreamUpdate(old: StreamConfig, config: StreamConfig): void {
  const cannot = "stream configuration update can not";
  if (old.storage !== config.storage) {
    throw apiErrors.streamInvalid(`${cannot} change storage type`);
  }
  if (old.sealed && !config.sealed) {
    throw apiErrors.streamInvalid(`${cannot} unseal a sealed stream`);
  }
  if (old.deny_delete && !config.deny_delete) {
    throw apiErrors.streamInvalid(`${cannot} cancel deny message deletes`);
  }
  if (old.deny_purge && !config.deny_purge) {
    throw apiErrors.streamInvalid(`${cannot} cancel deny purge`);
  }
}

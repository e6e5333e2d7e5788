/**
 * Owns one stream: takes messages under their conditions, remembers message ids, and lets old ones go in time. Its
 * consumers are told of every message that came or went.
 */
import type { HeaderField } from "../../core/ports.ts";
import { REMOVED_SEQUENCES_MAX } from "../../core/limits.ts";
import { Alarm } from "./alarm.ts";
import { apiErrors } from "./api_errors.ts";
import { type Context, headerValue, millis, timestamp } from "./context.ts";
import type { Consumer } from "./consumer.ts";
import { filterOf, headerBytes, MessageStore } from "./message_store.ts";
import type {
  AppendConditions,
  GetQuery,
  LogRecord,
  PublishAck,
  PurgeRequest,
  StoredRecord,
  StreamConfig,
  StreamReport,
  StreamState,
} from "./types.ts";

interface SeenId {
  readonly sequence: number;
  readonly timeMs: number;
}

export interface IncomingMessage {
  subject: string;
  data: Uint8Array;
  headers?: readonly HeaderField[];
  conditions?: AppendConditions;
}

/** One stream with its messages and consumers. */
export class Stream {
  readonly createdMs: number;
  readonly consumers = new Map<string, Consumer>();
  readonly store: MessageStore;
  readonly #context: Context;
  /** In the order they were seen, so the oldest come first. */
  readonly #messageIds = new Map<string, SeenId>();
  #lastMessageId = "";
  readonly #expiry: Alarm;

  constructor(context: Context, config: StreamConfig, createdMs: number) {
    this.#context = context;
    this.createdMs = createdMs;
    this.#expiry = new Alarm(context.clock, () => {
      this.expire();
      this.#armExpiry();
    });
    this.store = new MessageStore(config, (record) => {
      for (const consumer of this.consumers.values()) consumer.onRemoved(record);
    });
  }

  get config(): StreamConfig {
    return this.store.config;
  }

  get name(): string {
    return this.config.name;
  }

  get isWritten(): boolean {
    return this.config.storage === "file";
  }

  /** Stores a message, or throws the error that its publisher is told. */
  append(message: IncomingMessage): PublishAck {
    this.expire();
    const { subject, data, headers = [] } = message;
    const conditions = { ...conditionsOf(headers), ...message.conditions };
    const duplicate = this.#check(subject, headers, conditions);
    if (duplicate !== undefined) {
      return { stream: this.name, seq: duplicate.sequence, duplicate: true };
    }
    this.#checkSize(headers, data);
    const record: StoredRecord = {
      sequence: this.store.lastSequence + 1,
      subject,
      headers: withMessageId(headers, conditions.messageId),
      data,
      timeMs: this.#context.clock.now(),
    };
    const refusal = this.store.refusal(record);
    if (refusal !== undefined) throw apiErrors.storeFailed(refusal);
    if (this.isWritten) this.#context.write({ type: "stored", stream: this.name, ...record });
    this.apply(record);
    for (const consumer of [...this.consumers.values()]) consumer.pump();
    return { stream: this.name, seq: record.sequence };
  }

  /** Puts a message in place: a new one, or one that the log holds. */
  apply(record: StoredRecord): void {
    this.store.add(record);
    this.#rollUp(record);
    this.#lastMessageId = this.#remember(record);
    for (const consumer of this.consumers.values()) consumer.onStored(record);
    this.#armExpiry();
  }

  get(query: GetQuery): StoredRecord {
    this.expire();
    const found = this.#find(query);
    if (found === undefined) throw apiErrors.noMessageFound();
    return found;
  }

  deleteMessage(sequence: number): void {
    this.expire();
    if (this.config.sealed) throw apiErrors.streamSealed();
    if (this.config.deny_delete) throw apiErrors.deleteFailed("message delete not permitted");
    if (this.store.get(sequence) === undefined) throw apiErrors.sequenceNotFound(sequence);
    this.#removeForGood([sequence]);
  }

  purge({ filter, seq, keep }: PurgeRequest): number {
    this.expire();
    if (this.config.sealed) throw apiErrors.streamSealed();
    if (this.config.deny_purge) throw apiErrors.purgeFailed("stream purge not permitted");
    if (seq !== undefined && keep !== undefined) throw apiErrors.badRequest();
    const wanted = this.store.sequencesOf(filterOf(filter ? [filter] : []));
    const below = seq === undefined ? wanted : wanted.filter((each) => each < seq);
    const gone = below.slice(0, Math.max(0, below.length - (keep ?? 0)));
    if (gone.length === this.store.count) {
      this.store.removeBelow(this.store.lastSequence + 1);
      this.writeSettings();
    } else this.#removeForGood(gone);
    return gone.length;
  }

  update(config: StreamConfig): void {
    this.expire();
    this.store.reconfigure(config);
    this.expire();
    this.#armExpiry();
    this.writeSettings();
  }

  report(subjectsFilter?: string): StreamReport {
    this.expire();
    return {
      config: this.config,
      created: timestamp(this.createdMs),
      state: this.#state(subjectsFilter),
      ts: timestamp(this.#context.clock.now()),
    };
  }

  /** Removes what is too old. Also done by a timer; here so that nobody ever reads an expired message. */
  expire(): void {
    this.store.expire(this.#context.clock.now());
  }

  /** The settings and sequences as one record. */
  settingsRecord(): LogRecord {
    return {
      type: "stream_put",
      config: this.config,
      createdMs: this.createdMs,
      firstSequence: this.store.firstSequence,
      lastSequence: this.store.lastSequence,
      messageIds: [...this.#liveIds()].map(([id, seen]) => [id, seen.sequence, seen.timeMs]),
    };
  }

  writeSettings(): void {
    if (this.isWritten) this.#context.write(this.settingsRecord());
  }

  /** Takes over what a settings record of the log says. */
  restoreSettings(record: LogRecord & { type: "stream_put" }): void {
    this.store.reconfigure(record.config);
    this.store.raiseSequences(record.firstSequence, record.lastSequence);
    for (const [id, sequence, timeMs] of record.messageIds) {
      this.#messageIds.set(id, { sequence, timeMs });
    }
    this.#armExpiry();
  }

  close(): void {
    this.#expiry.cancel();
    for (const consumer of [...this.consumers.values()]) consumer.close();
    this.consumers.clear();
  }

  /** Throws where a condition fails; gives the earlier message when this one is a repeat. The order is the server's. */
  #check(
    subject: string,
    headers: readonly HeaderField[],
    conditions: AppendConditions,
  ): SeenId | undefined {
    if (this.config.sealed) throw apiErrors.streamSealed();
    const { expectedStream, expectedLastSequence, expectedLastSubjectSequence } = conditions;
    if (expectedStream !== undefined && expectedStream !== this.name) {
      throw apiErrors.streamMismatch();
    }
    if (headerValue(headers, "Nats-TTL") !== undefined) throw apiErrors.messageTtlDisabled();
    if (expectedLastSubjectSequence !== undefined) {
      const on = conditions.expectedLastSubjectSequenceSubject ?? subject;
      const last = this.store.lastOn(on)?.sequence ?? 0;
      if (last !== expectedLastSubjectSequence) throw apiErrors.wrongLastSequence(last);
    }
    const { lastSequence } = this.store;
    if (expectedLastSequence !== undefined && expectedLastSequence !== lastSequence) {
      throw apiErrors.wrongLastSequence(lastSequence);
    }
    const seen = this.#seen(conditions.messageId);
    if (seen !== undefined) return seen;
    const { expectedLastMessageId } = conditions;
    if (expectedLastMessageId !== undefined && expectedLastMessageId !== this.#lastMessageId) {
      throw apiErrors.wrongLastMessageId(this.#lastMessageId);
    }
    this.#checkRollUp(headers);
    return undefined;
  }

  #checkSize(headers: readonly HeaderField[], data: Uint8Array): void {
    const limit = this.config.max_msg_size;
    if (limit >= 0 && headerBytes(headers) + data.length > limit) throw apiErrors.messageTooLarge();
  }

  #checkRollUp(headers: readonly HeaderField[]): void {
    const rollUp = headerValue(headers, "Nats-Rollup");
    if (rollUp === undefined) return;
    if (!this.config.allow_rollup_hdrs) throw apiErrors.rollupFailed("rollup not permitted");
    if (rollUp !== "sub" && rollUp !== "all") {
      throw apiErrors.rollupFailed(`rollup value invalid: "${rollUp}"`);
    }
  }

  /** A roll-up message replaces all before it, on its subject or in the stream. */
  #rollUp(record: StoredRecord): void {
    if (!this.config.allow_rollup_hdrs) return;
    const rollUp = headerValue(record.headers, "Nats-Rollup");
    if (rollUp === "all") this.store.removeBelow(record.sequence);
    if (rollUp !== "sub") return;
    for (const sequence of this.store.sequencesOf(filterOf([record.subject]))) {
      if (sequence < record.sequence) this.store.remove(sequence);
    }
  }

  #remember(record: StoredRecord): string {
    const id = headerValue(record.headers, "Nats-Msg-Id");
    if (id === undefined) return "";
    this.#forgetOldIds();
    this.#messageIds.delete(id);
    this.#messageIds.set(id, { sequence: record.sequence, timeMs: record.timeMs });
    return id;
  }

  #seen(id: string | undefined): SeenId | undefined {
    if (id === undefined) return undefined;
    const seen = this.#messageIds.get(id);
    return seen !== undefined && this.#isRecent(seen) ? seen : undefined;
  }

  #isRecent(seen: SeenId): boolean {
    return this.#context.clock.now() - seen.timeMs < millis(this.config.duplicate_window);
  }

  #forgetOldIds(): void {
    for (const [id, seen] of this.#messageIds) {
      if (this.#isRecent(seen)) return;
      this.#messageIds.delete(id);
    }
  }

  #liveIds(): Map<string, SeenId> {
    this.#forgetOldIds();
    return this.#messageIds;
  }

  #find({ seq, last_by_subj: last, next_by_subj: next }: GetQuery): StoredRecord | undefined {
    if (last !== undefined) return this.store.lastOn(last);
    if (next !== undefined) return this.store.nextFrom(filterOf([next]), seq ?? 0);
    return seq === undefined ? undefined : this.store.get(seq);
  }

  #removeForGood(sequences: readonly number[]): void {
    for (let at = 0; at < sequences.length; at += REMOVED_SEQUENCES_MAX) {
      const part = sequences.slice(at, at + REMOVED_SEQUENCES_MAX);
      for (const sequence of part) this.store.remove(sequence);
      if (!this.isWritten) continue;
      this.#context.write({ type: "removed", stream: this.name, sequences: part });
    }
  }

  #state(subjectsFilter: string | undefined): StreamState {
    const { store } = this;
    const span = store.count === 0 ? 0 : store.lastSequence - store.firstSequence + 1;
    const state: StreamState = {
      messages: store.count,
      bytes: store.bytes,
      first_seq: store.firstSequence,
      first_ts: timestamp(store.first()?.timeMs ?? 0),
      last_seq: store.lastSequence,
      last_ts: timestamp(store.lastTimeMs),
      num_subjects: store.subjectCount,
      num_deleted: span - store.count,
      consumer_count: this.consumers.size,
    };
    if (subjectsFilter === undefined) return state;
    return {
      ...state,
      subjects: Object.fromEntries(store.countBySubject(filterOf([subjectsFilter]))),
    };
  }

  /** One alarm for the oldest message; when it rings, the next oldest gets it. */
  #armExpiry(): void {
    const first = this.store.first();
    const ageMs = millis(this.config.max_age);
    if (first === undefined || ageMs <= 0) return;
    this.#expiry.ringWithin(first.timeMs + ageMs - this.#context.clock.now());
  }
}

/** The conditions that a publisher put into headers. */
function conditionsOf(headers: readonly HeaderField[]): AppendConditions {
  const conditions: AppendConditions = {};
  for (const [name, value] of headers) {
    switch (name.toLowerCase()) {
      case "nats-msg-id":
        conditions.messageId = value;
        break;
      case "nats-expected-stream":
        conditions.expectedStream = value;
        break;
      case "nats-expected-last-sequence":
        conditions.expectedLastSequence = Number(value);
        break;
      case "nats-expected-last-msg-id":
        conditions.expectedLastMessageId = value;
        break;
      case "nats-expected-last-subject-sequence":
        conditions.expectedLastSubjectSequence = Number(value);
        break;
      case "nats-expected-last-subject-sequence-subject":
        conditions.expectedLastSubjectSequenceSubject = value;
        break;
    }
  }
  return conditions;
}

/** The id is kept with the message, so that a replayed log knows it. */
function withMessageId(
  headers: readonly HeaderField[],
  id: string | undefined,
): readonly HeaderField[] {
  if (id === undefined || headerValue(headers, "Nats-Msg-Id") !== undefined) return headers;
  return [...headers, ["Nats-Msg-Id", id]];
}

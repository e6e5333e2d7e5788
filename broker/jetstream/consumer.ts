/**
 * Owns one consumer: which message comes next, what is out unacknowledged, what must come again. A message is settled once
 * (acknowledged, terminated, out of deliveries or gone from the stream) and never delivered after that.
 */
import { EPHEMERAL_INACTIVE_MS } from "../../core/limits.ts";
import type { HeaderField } from "../../core/ports.ts";
import { Alarm } from "./alarm.ts";
import { filtersOf } from "./consumer_rules.ts";
import { type Context, millis, nanosAt, timestamp } from "./context.ts";
import { type Filter, filterOf, headerBytes, textBytes } from "./message_store.ts";
import { PullQueue } from "./pull_queue.ts";
import { PushTarget } from "./push_target.ts";
import { SequenceList } from "./sequence_list.ts";
import type { Stream } from "./stream.ts";
import type {
  ConsumerConfig,
  ConsumerPosition,
  ConsumerReport,
  LogRecord,
  PullRequest,
  StoredRecord,
} from "./types.ts";

const EMPTY = new Uint8Array(0);

/** A message that is out. */
interface Pending {
  /** Of its first delivery. */
  readonly consumerSequence: number;
  deliveries: number;
  /** When it comes again, on the monotonic clock; Infinity while it is queued for that. */
  dueMs: number;
}

/** The message to deliver next; `again` when it was delivered before. */
interface Candidate {
  readonly record: StoredRecord;
  readonly again: Pending | undefined;
}

/** What a consumer asks of whoever holds it. */
export interface ConsumerOwner {
  readonly context: Context;
  readonly stream: Stream;
  /** Removes it for good: nobody used it for too long. */
  retire(consumer: Consumer): void;
}

/** One consumer of one stream. */
export class Consumer {
  config: ConsumerConfig;
  readonly createdMs: number;
  readonly #owner: ConsumerOwner;
  readonly #context: Context;
  readonly #stream: Stream;
  readonly #pull: PullQueue | undefined;
  #push: PushTarget | undefined;
  #filter: Filter;
  /** Next stream sequence to look at. */
  #next = 1;
  /** Last messages per subject still to deliver before going on at `#next`. */
  #lasts = new SequenceList();
  /** Deliveries so far. */
  #delivered = 0;
  /** Matching messages not delivered yet; undefined when it must be counted anew. */
  #undelivered: number | undefined;
  /** By stream sequence, in the order of first delivery, which is rising. */
  readonly #pending = new Map<number, Pending>();
  #again: number[] = [];
  #isPumping = false;
  #isClosed = false;
  #lastActiveMs: number;
  readonly #redelivery: Alarm;
  readonly #inactivity: Alarm;

  constructor(owner: ConsumerOwner, config: ConsumerConfig, createdMs: number) {
    this.#owner = owner;
    this.#context = owner.context;
    this.#stream = owner.stream;
    this.config = config;
    this.createdMs = createdMs;
    this.#filter = filterOf(filtersOf(config));
    this.#lastActiveMs = this.#context.clock.monotonic();
    this.#redelivery = new Alarm(this.#context.clock, () => this.#queueDue());
    this.#inactivity = new Alarm(this.#context.clock, () => this.#checkInactive());
    this.#pull = config.deliver_subject === undefined ? this.#makePull() : undefined;
    this.#push = this.#makePush();
    this.#armInactivity();
  }

  get name(): string {
    return this.config.name;
  }

  get deliverSubject(): string | undefined {
    return this.config.deliver_subject;
  }

  get isWritten(): boolean {
    return this.#stream.isWritten && !this.config.mem_storage;
  }

  /** Finds where a new consumer begins. */
  start(): void {
    const { store } = this.#stream;
    const after = store.lastSequence + 1;
    switch (this.config.deliver_policy) {
      case "all":
        this.#next = Math.max(1, store.firstSequence);
        break;
      case "new":
        this.#next = after;
        break;
      case "last":
        this.#next = store.lastPerSubject(this.#filter).at(-1) ?? after;
        break;
      case "last_per_subject":
        this.#next = after;
        for (const each of store.lastPerSubject(this.#filter)) this.#lasts.push(each);
        break;
      case "by_start_sequence":
        this.#next = Math.max(this.config.opt_start_seq ?? 1, store.firstSequence);
        break;
      case "by_start_time":
        this.#next = store.sequenceAt(Date.parse(this.config.opt_start_time ?? ""));
        break;
    }
    this.#undelivered = undefined;
  }

  // ---- delivery ----------------------------------------------------------------------------------------------

  /** Delivers as long as there is a message and somebody to take it. */
  pump(): void {
    // A receiver may cause another pump while it is called: the loop that runs sees what it changed.
    if (this.#isPumping || this.#isClosed) return;
    this.#isPumping = true;
    try {
      while (this.#deliverNext());
    } finally {
      this.#isPumping = false;
    }
  }

  /** Takes a pull request, or answers why not. */
  pull(request: PullRequest, to: string): void {
    this.#touch();
    this.#stream.expire();
    if (this.#pull?.add(request, to, this.config)) this.pump();
  }

  /** Somebody subscribed to, or left, the subject that it delivers to. */
  interestChanged(): void {
    const push = this.#push;
    if (push === undefined || this.#isClosed) return;
    push.refresh();
    this.#touch();
    if (push.isActive) this.pump();
    else this.#armInactivity();
  }

  /** The receiver has read up to a flow control request. */
  flowControlAnswered(reply: string): void {
    if (this.#push?.answered(reply)) this.pump();
  }

  // ---- acknowledgements --------------------------------------------------------------------------------------

  /** Done with this message; with ack policy `all`, also with all before it. */
  settle(sequence: number): void {
    this.#touch();
    const all = this.config.ack_policy === "all";
    const settled = all
      ? [...this.#pending.keys()].filter((each) => each <= sequence)
      : [sequence].filter((each) => this.#pending.has(each));
    this.#drop(settled);
    this.pump();
  }

  /** Wanted again, after this long. */
  postpone(sequence: number, delayMs: number): void {
    const pending = this.#pending.get(sequence);
    this.#touch();
    if (pending === undefined) return;
    if (delayMs > 0) {
      this.#again = this.#again.filter((each) => each !== sequence);
      this.#wait(pending, delayMs);
      return;
    }
    if (pending.dueMs !== Infinity) this.#queueAgain(sequence, pending);
    this.pump();
  }

  /** Still being worked on. */
  extend(sequence: number): void {
    const pending = this.#pending.get(sequence);
    this.#touch();
    if (pending !== undefined && pending.dueMs !== Infinity) {
      this.#wait(pending, this.#ackWaitMs(pending.deliveries));
    }
  }

  // ---- what the stream tells ---------------------------------------------------------------------------------

  onStored(record: StoredRecord): void {
    if (this.#undelivered === undefined || record.sequence < this.#next) return;
    if (this.#filter.test(record.subject)) this.#undelivered++;
  }

  onRemoved(record: StoredRecord): void {
    const { sequence, subject } = record;
    if (this.#pending.delete(sequence)) {
      this.#again = this.#again.filter((each) => each !== sequence);
      return;
    }
    const waits = this.#lasts.remove(sequence) ||
      (sequence >= this.#next && this.#filter.test(subject));
    if (waits && this.#undelivered !== undefined) this.#undelivered--;
  }

  // ---- settings and state ------------------------------------------------------------------------------------

  update(config: ConsumerConfig): void {
    const moved = config.deliver_subject !== this.config.deliver_subject ||
      config.deliver_group !== this.config.deliver_group;
    this.config = config;
    this.#filter = filterOf(filtersOf(config));
    this.#undelivered = undefined;
    if (moved) {
      this.#push?.close();
      this.#push = this.#makePush();
      this.#push?.refresh();
    }
    this.#inactivity.cancel();
    this.#armInactivity();
    this.pump();
  }

  report(): ConsumerReport {
    const nowMs = this.#context.clock.now();
    const [first] = this.#pending;
    return {
      stream_name: this.#stream.name,
      name: this.name,
      created: timestamp(this.createdMs),
      config: this.config,
      delivered: { consumer_seq: this.#delivered, stream_seq: this.#next - 1 },
      ack_floor: first === undefined
        ? { consumer_seq: this.#delivered, stream_seq: this.#next - 1 }
        : { consumer_seq: first[1].consumerSequence - 1, stream_seq: first[0] - 1 },
      num_ack_pending: this.#pending.size,
      num_redelivered: [...this.#pending.values()].filter((each) => each.deliveries > 1).length,
      num_waiting: this.#pull?.size ?? 0,
      num_pending: this.#countUndelivered(),
      ...(this.#push === undefined ? {} : { push_bound: this.#push.isActive }),
      ts: timestamp(nowMs),
    };
  }

  /** The settings and the position as one record. */
  record(): LogRecord {
    const position: ConsumerPosition = {
      deliveredConsumer: this.#delivered,
      deliveredStream: this.#next - 1,
      pending: [...this.#pending].map((
        [sequence, each],
      ) => [sequence, each.consumerSequence, each.deliveries]),
    };
    if (this.#lasts.length > 0) {
      position.lastPerSubject = {
        sequences: this.#lasts.values(),
        resumeAfter: this.#next - 1,
      };
    }
    return {
      type: "consumer_put",
      stream: this.#stream.name,
      config: this.config,
      createdMs: this.createdMs,
      position,
    };
  }

  write(): void {
    if (this.isWritten) this.#context.write(this.record());
  }

  restorePosition(position: ConsumerPosition): void {
    this.#delivered = position.deliveredConsumer;
    this.#next = position.deliveredStream + 1;
    this.#lasts = new SequenceList();
    for (const each of position.lastPerSubject?.sequences ?? []) {
      if (this.#stream.store.get(each) !== undefined) this.#lasts.push(each);
    }
    this.#pending.clear();
    for (const [sequence, consumerSequence, deliveries] of position.pending) {
      this.#restorePending(sequence, consumerSequence, deliveries);
    }
    this.#undelivered = undefined;
  }

  restoreDelivered(sequence: number, consumerSequence: number, deliveries: number): void {
    this.#delivered = Math.max(this.#delivered, consumerSequence);
    if (deliveries === 1 && !this.#lasts.remove(sequence)) {
      this.#next = Math.max(this.#next, sequence + 1);
    }
    this.#undelivered = undefined;
    this.#restorePending(sequence, consumerSequence, deliveries);
  }

  restoreSettled(sequences: readonly number[]): void {
    for (const sequence of sequences) this.#pending.delete(sequence);
  }

  /** Ends it: waiting readers are told. */
  retire(): void {
    this.#pull?.close(409, "Consumer Deleted");
    this.close();
  }

  /** Cancels its timers. */
  close(): void {
    this.#isClosed = true;
    this.#pull?.cancel();
    this.#push?.close();
    this.#redelivery.cancel();
    this.#inactivity.cancel();
  }

  // ---- inside ------------------------------------------------------------------------------------------------

  #makePull(): PullQueue {
    return new PullQueue(this.#context, {
      available: () => this.#countUndelivered() + this.#again.length,
      heartbeatHeaders: () => this.#heartbeatHeaders(),
    });
  }

  #makePush(): PushTarget | undefined {
    const { deliver_subject: subject, deliver_group: group } = this.config;
    if (subject === undefined) return undefined;
    return new PushTarget(this.#context, {
      stream: this.#stream.name,
      name: this.name,
      heartbeatHeaders: () => this.#heartbeatHeaders(),
    }, {
      subject,
      group,
      flowControl: this.config.flow_control,
      heartbeat: this.config.idle_heartbeat,
    });
  }

  #heartbeatHeaders(): HeaderField[] {
    return [
      ["Nats-Last-Consumer", String(this.#delivered)],
      ["Nats-Last-Stream", String(this.#next - 1)],
    ];
  }

  #deliverNext(): boolean {
    const isReady = this.#push === undefined ? (this.#pull?.size ?? 0) > 0 : this.#push.isReady;
    if (!isReady) return false;
    const candidate = this.#candidate();
    if (candidate === undefined) {
      if (!this.#isFull()) this.#pull?.endOneShots();
      return false;
    }
    const message = this.#messageFor(candidate);
    const size = textBytes(message.subject) + textBytes(message.reply) +
      headerBytes(message.headers) + message.data.length;
    const outlet = this.#push === undefined
      ? this.#pull?.take(size)
      : { to: this.#push.subject, done: () => this.#push?.sent(size) };
    if (outlet === undefined) return false;
    this.#commit(candidate);
    this.#context.send(outlet.to, message);
    outlet.done();
    return true;
  }

  #candidate(): Candidate | undefined {
    this.#stream.expire();
    const sequence = this.#again[0];
    if (sequence !== undefined) {
      // Whatever leaves the stream also leaves `#pending` and this queue (onRemoved).
      const record = this.#stream.store.get(sequence);
      const again = this.#pending.get(sequence);
      if (record !== undefined && again !== undefined) return { record, again };
    }
    if (this.#isFull()) return undefined;
    const last = this.#lasts.first;
    const record = last === undefined ? this.#nextStored() : this.#stream.store.get(last);
    return record === undefined ? undefined : { record, again: undefined };
  }

  #nextStored(): StoredRecord | undefined {
    const { store } = this.#stream;
    const found = this.#countUndelivered() === 0
      ? undefined
      : store.nextFrom(this.#filter, this.#next);
    // Nothing further: the next look begins after what was looked at.
    if (found === undefined) this.#next = Math.max(this.#next, store.lastSequence + 1);
    return found;
  }

  #isFull(): boolean {
    const limit = this.config.max_ack_pending;
    return this.config.ack_policy !== "none" && limit > 0 && this.#pending.size >= limit;
  }

  #messageFor({ record, again }: Candidate) {
    const { subject, sequence, timeMs } = record;
    const deliveries = (again?.deliveries ?? 0) + 1;
    const left = this.#countUndelivered() - (again === undefined ? 1 : 0);
    const token = [deliveries, sequence, this.#delivered + 1, nanosAt(timeMs), left].join(".");
    const size: HeaderField = ["Nats-Msg-Size", String(record.data.length)];
    return {
      subject,
      reply: `$JS.ACK.${this.#stream.name}.${this.name}.${token}`,
      headers: this.config.headers_only ? [...record.headers, size] : record.headers,
      status: undefined,
      data: this.config.headers_only ? EMPTY : record.data,
    };
  }

  /** Counts the delivery, before anybody can answer to it. */
  #commit({ record: { sequence }, again }: Candidate): void {
    this.#lastActiveMs = this.#context.clock.monotonic();
    this.#delivered++;
    const pending = again ?? { consumerSequence: this.#delivered, deliveries: 0, dueMs: 0 };
    pending.deliveries++;
    if (again !== undefined) this.#again.shift();
    else {
      this.#undelivered = this.#countUndelivered() - 1;
      if (!this.#lasts.remove(sequence)) this.#next = sequence + 1;
    }
    if (this.config.ack_policy !== "none") {
      this.#pending.set(sequence, pending);
      this.#wait(pending, this.#ackWaitMs(pending.deliveries));
    }
    if (!this.isWritten) return;
    this.#context.write({
      type: "consumer_delivered",
      stream: this.#stream.name,
      consumer: this.name,
      sequence,
      consumerSequence: this.#delivered,
      deliveries: pending.deliveries,
    });
  }

  #countUndelivered(): number {
    this.#undelivered ??= this.#lasts.length +
      this.#stream.store.countFrom(this.#filter, this.#next);
    return this.#undelivered;
  }

  #ackWaitMs(deliveries: number): number {
    const { backoff, ack_wait: wait } = this.config;
    if (backoff === undefined) return millis(wait);
    return millis(backoff[Math.min(deliveries, backoff.length) - 1] ?? wait);
  }

  #wait(pending: Pending, delayMs: number): void {
    pending.dueMs = this.#context.clock.monotonic() + delayMs;
    this.#redelivery.ringWithin(delayMs);
  }

  /** Queues all whose time for an acknowledgement is over, oldest first. */
  #queueDue(): void {
    const nowMs = this.#context.clock.monotonic();
    const due = [...this.#pending].filter(([, each]) => each.dueMs <= nowMs);
    for (const [sequence, pending] of due) this.#queueAgain(sequence, pending);
    let nextMs = Infinity;
    for (const { dueMs } of this.#pending.values()) nextMs = Math.min(nextMs, dueMs);
    this.#redelivery.ringWithin(nextMs - nowMs);
    if (due.length > 0) this.pump();
  }

  #queueAgain(sequence: number, pending: Pending): void {
    const limit = this.config.max_deliver;
    if (limit > 0 && pending.deliveries >= limit) {
      this.#drop([sequence]);
      return;
    }
    pending.dueMs = Infinity;
    this.#again.push(sequence);
  }

  #drop(sequences: number[]): void {
    if (sequences.length === 0) return;
    for (const sequence of sequences) {
      const wasQueued = this.#pending.get(sequence)?.dueMs === Infinity;
      this.#pending.delete(sequence);
      if (wasQueued) this.#again = this.#again.filter((each) => each !== sequence);
    }
    if (!this.isWritten) return;
    const stream = this.#stream.name;
    this.#context.write({ type: "consumer_settled", stream, consumer: this.name, sequences });
  }

  /** A restored one gets a whole AckWait: whoever had it may still be at work. */
  #restorePending(sequence: number, consumerSequence: number, deliveries: number): void {
    if (this.config.ack_policy === "none") return;
    if (this.#stream.store.get(sequence) === undefined) return;
    const known = this.#pending.get(sequence);
    const pending = known ?? { consumerSequence, deliveries, dueMs: 0 };
    pending.deliveries = deliveries;
    this.#pending.set(sequence, pending);
    this.#wait(pending, this.#ackWaitMs(deliveries));
  }

  // ---- inactivity --------------------------------------------------------------------------------------------

  #touch(): void {
    this.#lastActiveMs = this.#context.clock.monotonic();
  }

  /** How long it may go unused; Infinity for a durable that names no limit. */
  #inactiveMs(): number {
    const { inactive_threshold: threshold, durable_name: durable } = this.config;
    if (threshold > 0) return millis(threshold);
    return durable === undefined ? EPHEMERAL_INACTIVE_MS : Infinity;
  }

  #armInactivity(): void {
    this.#inactivity.ringWithin(this.#inactiveMs());
  }

  #checkInactive(): void {
    if (this.#push?.isActive) return; // armed again when the last receiver leaves
    const limitMs = this.#inactiveMs();
    const nowMs = this.#context.clock.monotonic();
    this.#pull?.dropAbandoned();
    if ((this.#pull?.size ?? 0) > 0) {
      this.#inactivity.ringWithin(limitMs);
      return;
    }
    const leftMs = this.#lastUseMs() + limitMs - nowMs;
    if (leftMs > 0) this.#inactivity.ringWithin(leftMs);
    else this.#owner.retire(this);
  }

  /** Somebody may still be at work on what is out: that counts until its AckWait is over. */
  #lastUseMs(): number {
    let lastMs = this.#lastActiveMs;
    for (const { dueMs } of this.#pending.values()) {
      if (dueMs !== Infinity) lastMs = Math.max(lastMs, dueMs);
    }
    return lastMs;
  }
}

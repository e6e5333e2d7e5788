/** Owns all streams and consumers: finds them, makes and removes them, and rebuilds them from a log. */
import { hasWildcard, matches, overlap, SubjectIndex } from "../subject_match.ts";
import { ACK_PREFIX, parseAck, parseAckSubject } from "./ack.ts";
import type { JetStream } from "./api.ts";
import { apiErrors } from "./api_errors.ts";
import { Consumer } from "./consumer.ts";
import { checkConsumerUpdate, completeConsumer } from "./consumer_rules.ts";
import type { Context } from "./context.ts";
import { type IncomingMessage, Stream } from "./stream.ts";
import { checkStreamUpdate, completeStream } from "./stream_rules.ts";
import type {
  ConsumerAction,
  ConsumerConfig,
  ConsumerConfigInput,
  ConsumerReport,
  GetQuery,
  LogRecord,
  PublishAck,
  PullRequest,
  PurgeRequest,
  StoredRecord,
  StreamConfig,
  StreamConfigInput,
  StreamReport,
} from "./types.ts";
import { assertNever } from "../../core/errors.ts";
import { BROKER_NAME_BYTES } from "../../core/limits.ts";

/** Answers to flow control requests are sent to a subject below this. */
const FLOW_PREFIX = "$JS.FC.";

/** All of JetStream in one account. */
export class StreamRegistry implements JetStream {
  readonly #context: Context;
  readonly #streams = new Map<string, Stream>();
  readonly #bySubject = new SubjectIndex<Stream>();
  /** Push consumers by the subject that they deliver to. */
  readonly #pushing = new SubjectIndex<Consumer>();

  constructor(context: Context) {
    this.#context = context;
  }

  // ---- streams -----------------------------------------------------------------------------------------------

  createStream(input: StreamConfigInput): StreamReport {
    const config = completeStream(input);
    const existing = this.#streams.get(config.name);
    if (existing !== undefined) {
      if (!isSame(existing.config, config)) throw apiErrors.streamNameInUse();
      return existing.report();
    }
    this.#refuseOverlap(config);
    const stream = this.#addStream(config, this.#context.clock.now());
    stream.writeSettings();
    return stream.report();
  }

  updateStream(input: StreamConfigInput): StreamReport {
    const stream = this.#stream(input.name);
    const config = completeStream(input);
    checkStreamUpdate(stream.config, config);
    this.#refuseOverlap(config);
    this.#unindex(stream);
    stream.update(config);
    this.#index(stream);
    return stream.report();
  }

  deleteStream(name: string): void {
    const stream = this.#stream(name);
    for (const consumer of [...stream.consumers.values()]) this.#dropConsumer(stream, consumer);
    this.#unindex(stream);
    this.#streams.delete(name);
    stream.close();
    if (stream.isWritten) this.#context.write({ type: "stream_delete", stream: name });
  }

  streamInfo(name: string, options: { subjectsFilter?: string } = {}): StreamReport {
    return this.#stream(name).report(options.subjectsFilter);
  }

  streamNames(subject?: string): string[] {
    return [...this.#streams.values()].filter((stream) =>
      subject === undefined || stream.config.subjects.some((each) => overlap(each, subject))
    ).map((stream) => stream.name).sort();
  }

  // ---- messages ----------------------------------------------------------------------------------------------

  append(stream: string, message: IncomingMessage): PublishAck {
    return this.#stream(stream).append(message);
  }

  /** The streams that take what is published on this subject. */
  streamsFor(subject: string): Stream[] {
    return this.#bySubject.match(subject);
  }

  getMessage(stream: string, query: GetQuery): StoredRecord {
    return this.#stream(stream).get(query);
  }

  deleteMessage(stream: string, sequence: number): void {
    this.#stream(stream).deleteMessage(sequence);
  }

  purge(stream: string, request: PurgeRequest = {}): number {
    return this.#stream(stream).purge(request);
  }

  // ---- consumers ---------------------------------------------------------------------------------------------

  createConsumer(
    streamName: string,
    input: ConsumerConfigInput,
    action: ConsumerAction = "",
  ): ConsumerReport {
    const stream = this.#stream(streamName);
    stream.expire();
    const name = input.durable_name || input.name || this.#freeName(stream);
    const config = completeConsumer({ ...input, name: input.name || name }, stream.config);
    const existing = stream.consumers.get(name);
    if (existing !== undefined) return this.#updateConsumer(existing, config, action);
    if (action === "update") throw apiErrors.consumerMissing();
    const limit = stream.config.max_consumers;
    if (limit > 0 && stream.consumers.size >= limit) throw apiErrors.consumersLimit();
    const consumer = this.#addConsumer(stream, config, this.#context.clock.now());
    consumer.start();
    consumer.write();
    const report = consumer.report();
    consumer.interestChanged();
    return report;
  }

  consumerInfo(stream: string, consumer: string): ConsumerReport {
    this.#stream(stream).expire();
    return this.#consumer(stream, consumer).report();
  }

  consumerNames(stream: string): string[] {
    return [...this.#stream(stream).consumers.keys()].sort();
  }

  deleteConsumer(streamName: string, name: string): void {
    const consumer = this.#consumer(streamName, name);
    this.#dropConsumer(this.#stream(streamName), consumer);
  }

  pull(stream: string, consumer: string, request: PullRequest, deliverTo: string): void {
    this.#consumer(stream, consumer).pull(request, deliverTo);
  }

  // ---- what arrives on the broker's own subjects ---------------------------------------------------------------

  /** Takes an acknowledgement or an answer to flow control. Null: neither; otherwise whether a reply is due. */
  receive(subject: string, data: Uint8Array, reply: string | undefined): { reply: boolean } | null {
    if (subject.startsWith(FLOW_PREFIX)) return this.#receiveFlow(subject);
    if (!subject.startsWith(ACK_PREFIX)) return null;
    const target = parseAckSubject(subject);
    const consumer = target && this.#streams.get(target.stream)?.consumers.get(target.consumer);
    const ack = parseAck(data);
    if (!target || !consumer || !ack) return null;
    switch (ack.kind) {
      case "ack":
      case "term":
        consumer.settle(target.sequence);
        break;
      case "nak":
        consumer.postpone(target.sequence, ack.delayMs);
        break;
      case "working":
        consumer.extend(target.sequence);
        break;
      case "next":
        consumer.settle(target.sequence);
        if (reply !== undefined) consumer.pull(ack.request, reply);
        return { reply: false };
      default:
        assertNever(ack);
    }
    return { reply: true };
  }

  /** Somebody subscribed or left: push consumers that deliver there start or stop. */
  interestChanged(pattern: string): void {
    const affected = hasWildcard(pattern)
      ? this.#pushConsumers().filter((each) => matches(pattern, each.deliverSubject ?? ""))
      : this.#pushing.match(pattern);
    for (const consumer of affected) consumer.interestChanged();
  }

  // ---- persistence -------------------------------------------------------------------------------------------

  restore(record: LogRecord): void {
    switch (record.type) {
      case "stream_put":
        return this.#restoreStream(record);
      case "stream_delete":
        return this.#forgetStream(record.stream);
      case "stored": {
        const { type: _, stream, ...stored } = record;
        this.#streams.get(stream)?.apply(stored);
        return;
      }
      case "removed": {
        const store = this.#streams.get(record.stream)?.store;
        for (const sequence of record.sequences) store?.remove(sequence);
        return;
      }
      case "consumer_put":
        return this.#restoreConsumer(record);
      case "consumer_delete":
        return this.#forgetConsumer(record.stream, record.consumer);
      case "consumer_delivered": {
        const { sequence, consumerSequence, deliveries } = record;
        this.#find(record)?.restoreDelivered(sequence, consumerSequence, deliveries);
        return;
      }
      case "consumer_settled":
        this.#find(record)?.restoreSettled(record.sequences);
        return;
      default:
        assertNever(record);
    }
  }

  *snapshot(): Iterable<LogRecord> {
    for (const stream of this.#streams.values()) {
      if (!stream.isWritten) continue;
      stream.expire();
      yield stream.settingsRecord();
      for (const message of stream.store.all()) {
        yield { type: "stored", stream: stream.name, ...message };
      }
      for (const consumer of stream.consumers.values()) {
        if (consumer.isWritten) yield consumer.record();
      }
    }
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.close();
  }

  // ---- inside ------------------------------------------------------------------------------------------------

  #stream(name: string): Stream {
    const stream = this.#streams.get(name);
    if (stream === undefined) throw apiErrors.streamNotFound();
    return stream;
  }

  #consumer(stream: string, name: string): Consumer {
    const consumer = this.#stream(stream).consumers.get(name);
    if (consumer === undefined) throw apiErrors.consumerNotFound();
    return consumer;
  }

  #find({ stream, consumer }: { stream: string; consumer: string }): Consumer | undefined {
    return this.#streams.get(stream)?.consumers.get(consumer);
  }

  #refuseOverlap(config: StreamConfig): void {
    for (const other of this.#streams.values()) {
      if (other.name === config.name) continue;
      const clash = other.config.subjects.some((theirs) =>
        config.subjects.some((ours) => overlap(theirs, ours))
      );
      if (clash) throw apiErrors.subjectsOverlap();
    }
  }

  #addStream(config: StreamConfig, createdMs: number): Stream {
    const stream = new Stream(this.#context, config, createdMs);
    this.#streams.set(config.name, stream);
    this.#index(stream);
    return stream;
  }

  #index(stream: Stream): void {
    for (const subject of stream.config.subjects) this.#bySubject.add(subject, stream);
  }

  #unindex(stream: Stream): void {
    for (const subject of stream.config.subjects) this.#bySubject.remove(subject, stream);
  }

  #freeName(stream: Stream): string {
    for (;;) {
      const bytes = [...this.#context.random.bytes(BROKER_NAME_BYTES)];
      const name = bytes.map((each) => each.toString(16).padStart(2, "0")).join("");
      if (!stream.consumers.has(name)) return name;
    }
  }

  #addConsumer(stream: Stream, config: ConsumerConfig, createdMs: number): Consumer {
    const owner = {
      context: this.#context,
      stream,
      retire: (consumer: Consumer) => this.#dropConsumer(stream, consumer),
    };
    const consumer = new Consumer(owner, config, createdMs);
    stream.consumers.set(config.name, consumer);
    if (config.deliver_subject !== undefined) this.#pushing.add(config.deliver_subject, consumer);
    return consumer;
  }

  #updateConsumer(
    consumer: Consumer,
    config: ConsumerConfig,
    action: ConsumerAction,
  ): ConsumerReport {
    const same = isSame(consumer.config, config);
    if (action === "create" && !same) throw apiErrors.consumerExists();
    if (same) return consumer.report();
    checkConsumerUpdate(consumer.config, config);
    const from = consumer.deliverSubject;
    if (
      from !== undefined && from !== config.deliver_subject && this.#context.hasInterest(from)
    ) throw apiErrors.consumerNameInUse();
    if (from !== undefined) this.#pushing.remove(from, consumer);
    consumer.update(config);
    if (config.deliver_subject !== undefined) this.#pushing.add(config.deliver_subject, consumer);
    consumer.write();
    return consumer.report();
  }

  #dropConsumer(stream: Stream, consumer: Consumer): void {
    stream.consumers.delete(consumer.name);
    if (consumer.deliverSubject !== undefined) {
      this.#pushing.remove(consumer.deliverSubject, consumer);
    }
    consumer.retire();
    if (!consumer.isWritten) return;
    this.#context.write({
      type: "consumer_delete",
      stream: stream.name,
      consumer: consumer.name,
    });
  }

  #pushConsumers(): Consumer[] {
    return [...this.#streams.values()].flatMap((stream) => [...stream.consumers.values()])
      .filter((consumer) => consumer.deliverSubject !== undefined);
  }

  #receiveFlow(subject: string): { reply: boolean } | null {
    const [, , stream = "", consumer = ""] = subject.split(".");
    const found = this.#find({ stream, consumer });
    found?.flowControlAnswered(subject);
    return found === undefined ? null : { reply: false };
  }

  #restoreStream(record: LogRecord & { type: "stream_put" }): void {
    let stream = this.#streams.get(record.config.name);
    if (stream === undefined) stream = this.#addStream(record.config, record.createdMs);
    this.#unindex(stream);
    stream.restoreSettings(record);
    this.#index(stream);
  }

  #forgetStream(name: string): void {
    const stream = this.#streams.get(name);
    if (stream === undefined) return;
    for (const consumer of [...stream.consumers.keys()]) this.#forgetConsumer(name, consumer);
    this.#unindex(stream);
    this.#streams.delete(name);
    stream.close();
  }

  #restoreConsumer(record: LogRecord & { type: "consumer_put" }): void {
    const stream = this.#streams.get(record.stream);
    if (stream === undefined) return;
    this.#forgetConsumer(record.stream, record.config.name);
    const consumer = this.#addConsumer(stream, record.config, record.createdMs);
    consumer.restorePosition(record.position);
  }

  #forgetConsumer(streamName: string, name: string): void {
    const stream = this.#streams.get(streamName);
    const consumer = stream?.consumers.get(name);
    if (stream === undefined || consumer === undefined) return;
    stream.consumers.delete(name);
    if (consumer.deliverSubject !== undefined) {
      this.#pushing.remove(consumer.deliverSubject, consumer);
    }
    consumer.close();
  }
}

/** Whether two settings say the same, whatever the order of their fields. */
function isSame(left: object, right: object): boolean {
  return sorted(left) === sorted(right);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, each) => {
    if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => a < b ? -1 : 1));
  });
}

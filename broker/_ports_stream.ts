/** The Stream and Consumer ports over the engine: appends are publishes, fetches are pull requests to a fresh inbox. */
import { isZesterError, ZesterError } from "../core/errors.ts";
import { STORE_TIMEOUT_MS } from "../core/limits.ts";
import type {
  AppendOptions,
  AppendResult,
  Consumer,
  ConsumerInfo,
  ConsumerSpec,
  Delivery,
  HeaderField,
  Message,
  StoredMessage,
  Stream,
  StreamInfo,
} from "../core/ports.ts";
import { consumerConfig, nanos } from "../core/stream_config.ts";
import { appendTo } from "./_ports_append.ts";
import type { EngineBus, Link } from "./_ports_bus.ts";
import { calling, callingOrNull } from "./_ports_failures.ts";
import { parseAckSubject } from "./jetstream/ack.ts";
import type { GetQuery, PullRequest, StoredRecord } from "./jetstream/types.ts";

const encoder = new TextEncoder();

/** The stream of this name, whether or not it exists yet. */
export function makeStream(link: Link, name: string): Stream {
  return new EngineStream(link, name);
}

class EngineStream implements Stream {
  readonly #link: Link;
  readonly #name: string;

  constructor(link: Link, name: string) {
    this.#link = link;
    this.#name = name;
  }

  append(
    subject: string,
    data: Uint8Array,
    options: AppendOptions = {},
  ): Promise<AppendResult> {
    const headers = [...options.headers ?? [], ...conditionHeaders(options)];
    return appendTo(this.#link, this.#name, subject, { data, headers });
  }

  get(sequence: bigint): Promise<StoredMessage | null> {
    return this.#read({ seq: Number(sequence) });
  }

  lastOn(subject: string): Promise<StoredMessage | null> {
    return this.#read({ last_by_subj: subject });
  }

  async info(): Promise<StreamInfo> {
    await this.#link.bus.flush(0);
    const { state } = calling(
      `${this.#name}: info`,
      () => this.#link.engine.jetstream.streamInfo(this.#name),
    );
    return {
      messages: state.messages,
      bytes: state.bytes,
      firstSequence: BigInt(state.first_seq),
      lastSequence: BigInt(state.last_seq),
    };
  }

  async consumer(spec: ConsumerSpec): Promise<Consumer> {
    await this.#link.bus.flush(0);
    const { name } = calling(
      `${this.#name}: consumer ${spec.durable ?? ""}`,
      () => this.#link.engine.jetstream.createConsumer(this.#name, consumerConfig(spec), "create"),
    );
    return new EngineConsumer(this.#link, this.#name, name);
  }

  async #read(query: GetQuery): Promise<StoredMessage | null> {
    await this.#link.bus.flush(0);
    const record = callingOrNull(
      `${this.#name}: get`,
      () => this.#link.engine.jetstream.getMessage(this.#name, query),
    );
    return record === null ? null : toStored(record);
  }
}

class EngineConsumer implements Consumer {
  readonly #link: Link;
  readonly #stream: string;
  readonly #name: string;

  constructor(link: Link, stream: string, name: string) {
    this.#link = link;
    this.#stream = stream;
    this.#name = name;
  }

  /** Ends when all have come, or when the engine says by a status that no more will. */
  fetch(options: { max: number; waitMs: number }): Promise<Delivery[]> {
    const { bus } = this.#link;
    return new Promise((resolve, reject) => {
      const found: Delivery[] = [];
      const inbox = bus.inbox();
      const finish = () => {
        offClose();
        subscription.unsubscribe();
      };
      const subscription = bus.subscribe(inbox, (message) => {
        if (message.status === 100) return;
        if (message.status === undefined) found.push(this.#delivery(message));
        if (message.status === undefined && found.length < options.max) return;
        finish();
        if (message.description === "Consumer Deleted" && found.length === 0) reject(this.#gone());
        else resolve(found);
      });
      const offClose = bus.onClose((reason) => {
        finish();
        reject(reason);
      });
      try {
        this.#pull(options, inbox);
      } catch (thrown) {
        finish();
        throw thrown;
      }
      // With too many unacknowledged the engine, as the server, never answers a request that has no expiry.
      if (options.waitMs === 0) void bus.flush(0).finally(() => (finish(), resolve(found)));
    });
  }

  async info(): Promise<ConsumerInfo> {
    await this.#link.bus.flush(0);
    const report = calling(
      `${this.#name}: info`,
      () => this.#link.engine.jetstream.consumerInfo(this.#stream, this.#name),
    );
    return { pending: report.num_pending, ackPending: report.num_ack_pending };
  }

  async delete(): Promise<void> {
    const { bus, engine } = this.#link;
    await bus.flush(0);
    calling(
      `${this.#name}: delete`,
      () => engine.jetstream.deleteConsumer(this.#stream, this.#name),
    );
    await new Promise<void>((resolve) => engine.whenDurable(resolve));
  }

  #pull({ max, waitMs }: { max: number; waitMs: number }, inbox: string): void {
    // Both together: what is there at once, else the first that comes.
    const request: PullRequest = {
      batch: max,
      no_wait: true,
      ...(waitMs > 0 ? { expires: nanos(waitMs) } : {}),
    };
    calling(
      `${this.#name}: fetch`,
      () => this.#link.engine.jetstream.pull(this.#stream, this.#name, request, inbox),
    );
  }

  #gone(): ZesterError {
    return new ZesterError("not_found", `${this.#stream}: consumer ${this.#name} was removed`);
  }

  #delivery(message: Message): Delivery {
    const { bus } = this.#link;
    const subject = message.reply ?? "";
    const { sequence, deliveries, timeMs } = parseAckSubject(subject) ??
      { sequence: 0, deliveries: 0, timeMs: 0 };
    // Lost words do no harm: without an acknowledgement the message comes again.
    const say = (text: string) => {
      if (bus.connected) bus.publish(subject, encoder.encode(text));
    };
    return {
      subject: message.subject,
      headers: message.headers,
      data: message.data,
      sequence: BigInt(sequence),
      storedMs: timeMs,
      deliveries,
      ack: () => acknowledge(bus, subject),
      nak: (delayMs) => say(delayMs ? `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}` : "-NAK"),
      working: () => say("+WPI"),
      term: (reason) => say(reason ? `+TERM ${reason}` : "+TERM"),
    };
  }
}

async function acknowledge(bus: EngineBus, subject: string): Promise<void> {
  try {
    await bus.request(subject, encoder.encode("+ACK"), { timeoutMs: STORE_TIMEOUT_MS });
  } catch (cause) {
    if (!isZesterError(cause, "no_responders")) throw cause;
    throw new ZesterError("timeout", `${subject}: nobody took it; it may come again`, { cause });
  }
}

function conditionHeaders(options: AppendOptions): HeaderField[] {
  const { messageId, expectedLastSequence, expectedLastSubjectSequence } = options;
  const headers: HeaderField[] = [];
  if (messageId !== undefined) headers.push(["Nats-Msg-Id", messageId]);
  if (expectedLastSequence !== undefined) {
    headers.push(["Nats-Expected-Last-Sequence", String(expectedLastSequence)]);
  }
  if (expectedLastSubjectSequence !== undefined) {
    headers.push(["Nats-Expected-Last-Subject-Sequence", String(expectedLastSubjectSequence)]);
  }
  return headers;
}

function toStored(record: StoredRecord): StoredMessage {
  return {
    subject: record.subject,
    headers: record.headers,
    data: record.data,
    sequence: BigInt(record.sequence),
    storedMs: Math.floor(record.timeMs),
  };
}

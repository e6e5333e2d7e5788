/** The broker without any I/O: sessions, routing and JetStream over a clock and a source of chance. */
import type { Clock, HeaderField, Message, Random } from "../core/ports.ts";
import type { JetStream } from "./jetstream/api.ts";
import { statusMessage } from "./jetstream/context.ts";
import { StreamRegistry } from "./jetstream/jetstream.ts";
import type { IncomingMessage, Stream } from "./jetstream/stream.ts";
import {
  JetStreamApiError,
  type LogRecord,
  type Persistence,
  type PublishAck,
} from "./jetstream/types.ts";
import { type Client, Router } from "./router.ts";

/** A message as the server sends it: `description` follows the status code on the status line. */
export interface BrokerMessage extends Message {
  readonly description?: string;
}

/** Subject lists of one direction. Without `allow` everything is allowed; an empty `allow` allows nothing. */
export interface SubjectRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

export interface Permissions {
  readonly publish?: SubjectRules;
  readonly subscribe?: SubjectRules;
}

export interface ConnectOptions {
  name: string;
  permissions?: Permissions;
  /** Whether a request to nobody is answered with a status 503. Default true. */
  noResponders?: boolean;
  /** Whether the session gets its own messages. Default true. */
  echo?: boolean;
  /** Called synchronously, once per matching subscription. */
  deliver(message: BrokerMessage, sid: string): void;
}

export type Verdict = "ok" | "denied";

/** One client of the broker. */
export interface Session {
  publish(
    subject: string,
    data: Uint8Array,
    options?: {
      headers?: readonly HeaderField[];
      reply?: string;
      status?: number;
      description?: string;
    },
  ): Verdict;
  subscribe(sid: string, subject: string, queue?: string): Verdict;
  /** With `maxMessages`, only once that many have been delivered in all. */
  unsubscribe(sid: string, maxMessages?: number): void;
  close(): void;
}

export interface EngineOptions {
  clock: Clock;
  random: Random;
  /** Default: memory only, durable at once. */
  persistence?: Persistence;
}

export interface Engine {
  readonly jetstream: JetStream;
  connect(options: ConnectOptions): Session;
  /** Whether somebody subscribes to this subject (with a queue group counts too). */
  hasInterest(subject: string): boolean;
  /** Calls back once every change made so far is durable (at once when in memory). */
  whenDurable(callback: () => void): void;
  /** Applies one record of the log. At start only, before any session. */
  restore(record: LogRecord): void;
  /** The fewest records that rebuild what is kept on disk. */
  snapshot(): Iterable<LogRecord>;
  /** Cancels all timers. */
  close(): void;
}

/** Makes an engine with nothing in it. */
export function createEngine(options: EngineOptions): Engine {
  return new MemoryEngine(options);
}

/** What is kept in memory only is as durable as it gets at once. */
const IN_MEMORY: Persistence = {
  write() {},
  whenDurable(callback) {
    callback();
  },
};

const EMPTY = new Uint8Array(0);
const OWN_PREFIX = "$JS.";
/**
 * The broker never sends an answer or a stored message to its own subjects or to those of buckets: whoever asks names the reply
 * subject, and could so have the broker order itself, or write what they may not.
 */
const NEVER_ANSWERED = [OWN_PREFIX, "$KV."];

class MemoryEngine implements Engine {
  readonly jetstream: StreamRegistry;
  readonly #router: Router;
  readonly #persistence: Persistence;

  constructor({ clock, random, persistence = IN_MEMORY }: EngineOptions) {
    this.#persistence = persistence;
    const changed = (pattern: string) => this.jetstream.interestChanged(pattern);
    this.#router = new Router(random, { gained: changed, lost: changed });
    this.jetstream = new StreamRegistry({
      clock,
      random,
      send: (to, message) => this.#send(to, message),
      hasInterest: (subject, queue) => this.#router.hasInterest(subject, queue),
      write: (record) => persistence.write(record),
    });
  }

  connect(options: ConnectOptions): Session {
    const client = this.#router.connect(options);
    let open = true;
    return {
      publish: (subject, data, more = {}) => {
        if (!open || !client.mayPublish(subject)) return "denied";
        const { headers = [], reply, status, description } = more;
        const message: BrokerMessage = { subject, reply, headers, status, data };
        const described = description === undefined ? message : { ...message, description };
        if (!this.#route(described, client)) this.#answerNobody(client, message);
        return "ok";
      },
      subscribe: (sid, subject, queue) =>
        open ? this.#router.subscribe(client, sid, subject, queue) : "denied",
      unsubscribe: (sid, maxMessages) => this.#router.unsubscribe(client, sid, maxMessages),
      close: () => {
        open = false;
        this.#router.disconnect(client);
      },
    };
  }

  hasInterest(subject: string): boolean {
    return this.#router.hasInterest(subject);
  }

  whenDurable(callback: () => void): void {
    this.#persistence.whenDurable(callback);
  }

  restore(record: LogRecord): void {
    this.jetstream.restore(record);
  }

  snapshot(): Iterable<LogRecord> {
    return this.jetstream.snapshot();
  }

  close(): void {
    this.jetstream.close();
  }

  /** Gives a message to whoever listens: subscribers, streams, and the broker itself. False when nobody did. */
  #route(message: BrokerMessage, from?: Client): boolean {
    const { subject } = message;
    const delivered = this.#router.deliver(subject, message, from);
    const streams = this.jetstream.streamsFor(subject);
    for (const stream of streams) this.#capture(stream, message);
    return delivered > 0 || streams.length > 0 || this.#receive(message);
  }

  #capture(stream: Stream, message: BrokerMessage): void {
    const { subject, reply, data, headers } = message;
    if (reply === undefined) {
      attempt(stream, { subject, data, headers });
      return;
    }
    const answer = attempt(stream, { subject, data, headers });
    const send = () => this.#send(reply, plainMessage(reply, encodeJson(answer)));
    // A refusal changed nothing, so there is nothing to wait for; memory streams have no disk to wait for.
    if ("error" in answer || !stream.isWritten) send();
    else this.whenDurable(send);
  }

  #receive({ subject, data, reply }: BrokerMessage): boolean {
    if (!subject.startsWith(OWN_PREFIX)) return false;
    const received = this.jetstream.receive(subject, data, reply);
    if (received?.reply && reply !== undefined) {
      this.whenDurable(() => this.#send(reply, plainMessage(reply, EMPTY)));
    }
    return received !== null;
  }

  #answerNobody(client: Client, { reply }: BrokerMessage): void {
    if (reply === undefined || client.options.noResponders === false) return;
    this.#router.deliverToClient(client, reply, statusMessage(reply, 503, ""));
  }

  /** Sends from the broker itself. A stream may take what is sent under its own subject, as with a client's. */
  #send(to: string, message: BrokerMessage): void {
    if (NEVER_ANSWERED.some((prefix) => to.startsWith(prefix))) return;
    this.#router.deliver(to, message);
    // Deliveries of consumers are not stored again: two streams could feed each other without end.
    if (to !== message.subject || message.status !== undefined) return;
    for (const stream of this.jetstream.streamsFor(to)) this.#capture(stream, message);
  }
}

function plainMessage(subject: string, data: Uint8Array): BrokerMessage {
  return { subject, reply: undefined, headers: [], status: undefined, data };
}

type PublishAnswer = PublishAck & {
  error?: { code: number; err_code: number; description: string };
};

/** Stores the message and says what its publisher is told. */
function attempt(stream: Stream, message: IncomingMessage): PublishAnswer {
  try {
    return stream.append(message);
  } catch (thrown) {
    if (!(thrown instanceof JetStreamApiError)) throw thrown;
    const { code, errCode, description } = thrown;
    return { error: { code, err_code: errCode, description }, stream: stream.name, seq: 0 };
  }
}

function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/**
 * All that a service may touch of the outside: bus, store, time, chance, keys, files, programs.
 * Services take these as arguments; only a `main.ts` (or a test) builds them. Adapters: `core/nats/` over a real
 * server, `broker/ports.ts` over the in-process engine, `tests/sim/` over a seeded network.
 */
import type { BucketSpec, StreamSpec } from "./buckets.ts";
import type { ZesterError } from "./errors.ts";

// ---- messages ------------------------------------------------------------------------------------------------

/** One header line. Names keep their spelling; compare them without case. */
export type HeaderField = readonly [name: string, value: string];

/** A message as it came from the wire: nothing in it is to be trusted before `core/ingress.ts` has seen it. */
export interface Message {
  readonly subject: string;
  readonly reply: string | undefined;
  readonly headers: readonly HeaderField[];
  /** Status code of an inline status line (`NATS/1.0 503`), which only servers send. */
  readonly status: number | undefined;
  readonly data: Uint8Array;
}

// ---- bus -----------------------------------------------------------------------------------------------------

export interface PublishOptions {
  headers?: readonly HeaderField[];
  reply?: string;
}

export interface RequestOptions {
  headers?: readonly HeaderField[];
  timeoutMs: number;
}

export interface Subscription {
  /** Stops delivery at once. Harmless when called again. */
  unsubscribe(): void;
}

export interface Bus {
  /**
   * Hands one message to the connection. Throws `disconnected` when there is none: nothing is buffered for later,
   * because a late command is worse than an error. No throw does not mean delivered.
   */
  publish(subject: string, data: Uint8Array, options?: PublishOptions): void;
  /** Delivers every match to `handler`, one at a time, in order per publisher. `queue`: one of many gets each. */
  subscribe(
    subject: string,
    handler: (message: Message) => void,
    options?: { queue?: string },
  ): Subscription;
  /** First reply, or `no_responders`, `timeout`, `disconnected`. */
  request(subject: string, data: Uint8Array, options: RequestOptions): Promise<Message>;
  /** Resolves when the server has seen all that was sent before; `timeout` or `disconnected` otherwise. */
  flush(timeoutMs: number): Promise<void>;
  /** A fresh subject under this client's own inbox prefix. */
  inbox(): string;
  readonly connected: boolean;
}

// ---- store ---------------------------------------------------------------------------------------------------

/**
 * What became of a write that may race. `unknown` (no answer, connection lost) may have happened: it is resolved by
 * looking for one's own nonce in a `leader` read, never by assuming failure.
 */
export type WriteResult =
  | { outcome: "ok"; revision: bigint }
  | { outcome: "conflict" }
  | { outcome: "unknown"; cause: ZesterError };

export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: bigint;
  /** When the store took it, in milliseconds. */
  readonly createdMs: number;
}

/** What a watch reports. `replayed` comes once, after the values that were there when the watch began. */
export type WatchEvent =
  | { kind: "put"; entry: Entry }
  | { kind: "delete"; key: string; revision: bigint }
  | { kind: "replayed" };

export interface Watch {
  stop(): void;
  /** Resolves when the watch has ended, with the reason if it was not `stop()`. The caller starts a new one. */
  readonly ended: Promise<ZesterError | undefined>;
}

export interface ReadOptions {
  /**
   * Ask the leader instead of any replica. Slower; use it only to resolve an `unknown`. Neither kind of read may decide
   * ownership: only the outcome of a compare-and-set does.
   */
  leader?: boolean;
}

export interface Bucket {
  /** The current value; null when there is none or it was deleted. */
  get(key: string, options?: ReadOptions): Promise<Entry | null>;
  /** Writes only where no value is (never was, was deleted, or has expired). */
  create(key: string, value: Uint8Array): Promise<WriteResult>;
  /** Writes only over exactly this revision. */
  update(key: string, value: Uint8Array, revision: bigint): Promise<WriteResult>;
  /** Writes whatever is there. Never `conflict`. */
  put(key: string, value: Uint8Array): Promise<WriteResult>;
  /** Deletes; with `revision`, only if that is still the current one. */
  delete(key: string, options?: { revision?: bigint }): Promise<WriteResult>;
  /** Keys below `prefix` (whole tokens: `active` gives `active.x`, not `active`); all keys without. Sorted. */
  keys(prefix?: string): Promise<string[]>;
  /** Stored revisions of one key, oldest first, deletions left out. */
  history(key: string): Promise<Entry[]>;
  /**
   * Current values of what `filter` matches (`*` and `>` allowed), then `replayed`, then changes. What is not among the
   * current values is not there: whoever begins a watch anew forgets it. A key that expires makes no event.
   */
  watch(filter: string, handler: (event: WatchEvent) => void): Promise<Watch>;
}

export type AppendResult =
  | { outcome: "ok"; sequence: bigint; duplicate: boolean }
  | { outcome: "conflict" }
  | { outcome: "unknown"; cause: ZesterError };

export interface AppendOptions {
  headers?: readonly HeaderField[];
  /** Dropped as a duplicate if this id was seen within the stream's window. */
  messageId?: string;
  /** The stream's last sequence must be this. */
  expectedLastSequence?: bigint;
  /** The last sequence on this very subject must be this (0: none yet). */
  expectedLastSubjectSequence?: bigint;
}

export interface StoredMessage {
  readonly subject: string;
  readonly headers: readonly HeaderField[];
  readonly data: Uint8Array;
  readonly sequence: bigint;
  /** The stream's clock, not the publisher's. */
  readonly storedMs: number;
}

export interface StreamInfo {
  messages: number;
  bytes: number;
  firstSequence: bigint;
  lastSequence: bigint;
}

export interface ConsumerSpec {
  /** With a name the consumer is durable and shared by all readers that name it; without, it is this reader's own. */
  durable?: string;
  /** Subjects wanted; all of the stream when absent. */
  filter?: string;
  deliver: "all" | "new" | "lastPerSubject" | { fromSequence: bigint };
  ackWaitMs: number;
  /** How many may be out unacknowledged; more are not handed out. */
  maxAckPending: number;
  /** Deliveries per message; absent means no limit. */
  maxDeliver?: number;
  /** An unnamed consumer goes away after this long without a reader. */
  inactiveMs?: number;
}

export interface ConsumerInfo {
  /** Matching messages not delivered yet. */
  pending: number;
  /** Delivered, not acknowledged. */
  ackPending: number;
}

export interface Delivery extends StoredMessage {
  /** 1 on first delivery. */
  readonly deliveries: number;
  /** Done. Resolves when the server has taken it; `timeout` means it may come again. */
  ack(): Promise<void>;
  /** Not now: deliver again, after the delay. */
  nak(delayMs?: number): void;
  /** Still at it: AckWait starts again. */
  working(): void;
  /** Never again. */
  term(reason?: string): void;
}

export interface Consumer {
  /** What is there at once, up to `max` messages; else whatever comes first within `waitMs`; else none. */
  fetch(options: { max: number; waitMs: number }): Promise<Delivery[]>;
  info(): Promise<ConsumerInfo>;
  /** Removes the consumer from the server. */
  delete(): Promise<void>;
}

export interface Stream {
  append(subject: string, data: Uint8Array, options?: AppendOptions): Promise<AppendResult>;
  get(sequence: bigint): Promise<StoredMessage | null>;
  lastOn(subject: string): Promise<StoredMessage | null>;
  info(): Promise<StreamInfo>;
  /** Creates the consumer, or binds to it if its durable exists with the same settings. */
  consumer(spec: ConsumerSpec): Promise<Consumer>;
}

export interface Store {
  bucket(name: string): Bucket;
  stream(name: string): Stream;
}

/** What only the bootstrap identity may do: make buckets and streams, or bring their settings up to date. */
export interface StoreAdmin {
  ensureBucket(spec: BucketSpec): Promise<void>;
  ensureStream(spec: StreamSpec): Promise<void>;
}

// ---- time and chance -----------------------------------------------------------------------------------------

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall clock in milliseconds since 1970: for stamps and expiries that others read. */
  now(): number;
  /** Never steps back: for durations. */
  monotonic(): number;
  after(delayMs: number, callback: () => void): Timer;
  every(intervalMs: number, callback: () => void): Timer;
  /** Resolves after the delay; rejects with `closed` when the signal aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  bytes(length: number): Uint8Array;
  /** In [0, 1). */
  float(): number;
}

// ---- keys ----------------------------------------------------------------------------------------------------

/** Signs with a private key that stays inside. Synchronous, so that a simulated run repeats. */
export interface Signer {
  readonly keyId: string;
  readonly publicKey: Uint8Array;
  sign(bytes: Uint8Array): Uint8Array;
}

export interface Hash {
  sha256(bytes: Uint8Array): Uint8Array;
}

// ---- files and programs --------------------------------------------------------------------------------------

export interface Files {
  /** Content of a regular file up to `maxBytes`; null when there is no such file. */
  read(path: string, maxBytes: number): Promise<Uint8Array | null>;
  /** Old or new, never between: staged beside the target, fsync, rename, fsync of the folder. */
  replace(path: string, content: Uint8Array, mode: number): Promise<void>;
  /** Appends and flushes to disk before it resolves. Creates the file with `mode`. */
  appendDurably(path: string, content: Uint8Array, mode: number): Promise<void>;
  makeFolder(path: string, mode: number): Promise<void>;
  remove(path: string): Promise<void>;
}

/** Runs one program with an argument array, never through a shell. */
export interface Runner {
  run(
    program: string,
    args: readonly string[],
    options: {
      timeoutMs: number;
      outputBytesMax: number;
      environment?: Readonly<Record<string, string>>;
    },
  ): Promise<{ code: number; stdout: Uint8Array; stderr: Uint8Array }>;
}

/** Renders one template. In a worker without permissions in production, in process in the simulation. */
export interface Renderer {
  render(source: string, values: Readonly<Record<string, unknown>>): Promise<string>;
}

// ---- tests ---------------------------------------------------------------------------------------------------

/** A place where a test may stop the process. Production passes one that does nothing. */
export interface FailPoints {
  hit(name: string): void | Promise<void>;
}

export const NO_FAIL_POINTS: FailPoints = { hit: () => {} };

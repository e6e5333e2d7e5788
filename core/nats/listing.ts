/**
 * Reads what a bucket's stream holds, by a consumer that lives for one listing or one watch. Pulled, not pushed: then the
 * server never sends to a subject of our choosing, and a slow reader slows only itself.
 */
import { toZesterError, ZesterError } from "../errors.ts";
import {
  CONSUMER_INACTIVE_MS,
  FETCH_GRACE_MS,
  WATCH_HEARTBEAT_MS,
  WATCH_PULL_MESSAGES,
  WATCH_PULL_MS,
} from "../limits.ts";
import type { Message, Watch } from "../ports.ts";
import { nanos } from "../stream_config.ts";
import type { JetStreamApi } from "./api.ts";
import type { DeliveryInfo } from "./messages.ts";
import { type Pull, startPull } from "./pull.ts";

export interface ListingOptions {
  stream: string;
  filter: string;
  deliver: "all" | "last_per_subject";
  headersOnly?: boolean;
}

interface Reader {
  stream: string;
  name: string;
  /** Messages that were there when it was made. */
  count: number;
}

type Receive = (message: Message, info: DeliveryInfo) => void;

async function makeReader(api: JetStreamApi, options: ListingOptions): Promise<Reader> {
  const { stream, filter } = options;
  const name = `r-${crypto.randomUUID()}`;
  const info = await api.demand<{ num_pending: number }>(
    `CONSUMER.CREATE.${stream}.${name}.${filter}`,
    {
      stream_name: stream,
      action: "create",
      config: {
        name,
        filter_subject: filter,
        deliver_policy: options.deliver,
        ack_policy: "none",
        replay_policy: "instant",
        inactive_threshold: nanos(CONSUMER_INACTIVE_MS),
        mem_storage: true,
        num_replicas: 1,
        ...(options.headersOnly === true ? { headers_only: true } : {}),
      },
    },
  );
  return { stream, name, count: info.num_pending };
}

/** It would go away by itself; this only makes it sooner, so a failure to say so does not matter. */
async function dropReader(api: JetStreamApi, { stream, name }: Reader): Promise<void> {
  await api.ask(`CONSUMER.DELETE.${stream}.${name}`).catch(() => {});
}

/** Hands all matching messages that are stored now to `receive`. */
export async function list(
  api: JetStreamApi,
  options: ListingOptions,
  receive: Receive,
): Promise<void> {
  const reader = await makeReader(api, options);
  let isDone = reader.count === 0;
  try {
    while (!isDone) {
      const pull = pullNow(api, reader, (message, info) => {
        receive(message, info);
        isDone ||= info.pending === 0;
      });
      // A pause means that what was left has expired or been replaced meanwhile.
      if (await pull.ended !== "full") isDone = true;
    }
  } finally {
    await dropReader(api, reader);
  }
}

function pullNow(api: JetStreamApi, { stream, name }: Reader, receive: Receive): Pull {
  const request = {
    stream,
    consumer: name,
    batch: WATCH_PULL_MESSAGES,
    waitMs: FETCH_GRACE_MS,
    noWait: true,
  };
  return startPull(api.link, request, receive);
}

export interface WatchHandlers {
  receive: Receive;
  replayed(): void;
}

/** Like `list`, then goes on with what is stored later, until it is stopped or the reader is lost. */
export async function startWatch(
  api: JetStreamApi,
  options: ListingOptions,
  handlers: WatchHandlers,
): Promise<Watch> {
  const reader = await makeReader(api, options);
  const run = new WatchRun(api, reader, handlers);
  return { stop: () => run.stop(), ended: run.ended };
}

class WatchRun {
  readonly ended: Promise<ZesterError | undefined>;
  readonly #api: JetStreamApi;
  readonly #reader: Reader;
  readonly #handlers: WatchHandlers;
  #pull: Pull | undefined;
  #isStopped = false;
  #isReplayed = false;
  #received = 0n;
  #failure: ZesterError | undefined;

  constructor(api: JetStreamApi, reader: Reader, handlers: WatchHandlers) {
    this.#api = api;
    this.#reader = reader;
    this.#handlers = handlers;
    this.ended = this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    this.#pull?.cancel();
  }

  async #run(): Promise<ZesterError | undefined> {
    // Nothing is handed out before the caller has the watch in hands.
    await Promise.resolve();
    if (this.#reader.count === 0) this.#markReplayed();
    try {
      while (!this.#isStopped) {
        this.#pull = this.#nextPull();
        const end = await this.#pull.ended;
        if (end !== "full") this.#markReplayed();
      }
      return this.#failure;
    } catch (error) {
      return toZesterError(error, `watch of ${this.#reader.stream}`);
    } finally {
      await dropReader(this.#api, this.#reader);
    }
  }

  #nextPull(): Pull {
    const receive: Receive = (message, info) => this.#take(message, info);
    if (!this.#isReplayed) return pullNow(this.#api, this.#reader, receive);
    const request = {
      stream: this.#reader.stream,
      consumer: this.#reader.name,
      batch: WATCH_PULL_MESSAGES,
      waitMs: WATCH_PULL_MS,
      noWait: false,
      heartbeatMs: WATCH_HEARTBEAT_MS,
    };
    return startPull(this.#api.link, request, receive);
  }

  #take(message: Message, info: DeliveryInfo): void {
    if (this.#isStopped) return;
    if (info.consumerSequence !== this.#received + 1n) {
      this.#fail(`lost ${info.consumerSequence - this.#received - 1n} messages`);
      return;
    }
    this.#received = info.consumerSequence;
    this.#handlers.receive(message, info);
    if (info.pending === 0 || this.#received >= BigInt(this.#reader.count)) this.#markReplayed();
  }

  #markReplayed(): void {
    if (this.#isReplayed || this.#isStopped) return;
    this.#isReplayed = true;
    this.#handlers.replayed();
  }

  #fail(why: string): void {
    this.#failure = new ZesterError("disconnected", `watch of ${this.#reader.stream}: ${why}`);
    this.stop();
  }
}

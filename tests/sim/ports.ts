/** The bus and store of one simulated node: the broker's own ports, behind the seeded network. */
import { isZesterError, ZesterError } from "../../core/errors.ts";
import { STORE_TIMEOUT_MS } from "../../core/limits.ts";
import type {
  AppendResult,
  Bucket,
  Bus,
  Consumer,
  Delivery,
  Message,
  Store,
  Stream,
  Watch,
  WatchEvent,
  WriteResult,
} from "../../core/ports.ts";
import { type Life, never } from "./life.ts";
import type { Network } from "./network.ts";

/** The ports that work without fault. */
export interface InnerPorts {
  readonly bus: Bus;
  readonly store: Store;
}

/** Wraps ports so that everything that passes through them can go wrong. */
export function simulatedPorts(life: Life, inner: InnerPorts, network: Network): InnerPorts {
  const link = { life, network };
  return {
    bus: simulatedBus(link, inner.bus),
    store: {
      bucket: (store) => simulatedBucket({ ...link, store }, inner.store.bucket(store)),
      stream: (store) => simulatedStream({ ...link, store }, inner.store.stream(store)),
    },
  };
}

/** From a node to the broker, about one bucket or stream. */
interface Link {
  readonly life: Life;
  readonly network: Network;
  readonly store: string;
}

function simulatedBus({ life, network }: Omit<Link, "store">, inner: Bus): Bus {
  return {
    publish(subject, data, options) {
      if (life.reach.isNoticed) {
        throw new ZesterError("disconnected", `${life.node}: publish ${subject}: no connection`);
      }
      network.tell(life, `publish ${subject}`, () => inner.publish(subject, data, options));
    },
    subscribe(subject, handler, options) {
      if (!life.isAlive) return { unsubscribe: () => {} };
      let isOpen = true;
      const receive = (message: Message) =>
        network.deliver(life, `message ${message.subject}`, () => {
          if (isOpen) handler(message);
        });
      const subscription = inner.subscribe(subject, receive, options);
      life.atEnd(() => subscription.unsubscribe());
      return {
        unsubscribe() {
          isOpen = false;
          subscription.unsubscribe();
        },
      };
    },
    request: (subject, data, options) =>
      network.call(life, `request ${subject}`, {
        timeoutMs: options.timeoutMs,
        apply: () => inner.request(subject, data, options),
      }),
    flush: (timeoutMs) =>
      network.call(life, "flush", { timeoutMs, apply: () => Promise.resolve() }),
    inbox: () => inner.inbox(),
    get connected() {
      return !life.reach.isNoticed;
    },
  };
}

/** A read or another call that simply fails when there is no answer. */
function ask<T>(link: Link, what: string, apply: () => Promise<T>): Promise<T> {
  const { life, network, store } = link;
  const timeoutMs = STORE_TIMEOUT_MS;
  return network.call(life, what, { timeoutMs, apply: network.asking(store, apply) });
}

/** A write: without an answer nobody knows whether it happened. */
async function write<T extends { outcome: string }>(
  link: Link,
  what: string,
  apply: () => Promise<T>,
): Promise<T | { outcome: "unknown"; cause: ZesterError }> {
  try {
    return await ask(link, what, apply);
  } catch (thrown) {
    if (!isZesterError(thrown, "timeout") && !isZesterError(thrown, "disconnected")) throw thrown;
    link.network.sawUnknown(link.life, what);
    return { outcome: "unknown", cause: thrown };
  }
}

function simulatedBucket(link: Link, inner: Bucket): Bucket {
  const { network, life, store: name } = link;
  const remembering = async (key: string, result: Promise<WriteResult>, value?: Uint8Array) => {
    const answer = await result;
    if (answer.outcome === "ok") {
      network.remember(name, key, value ? { value, revision: answer.revision } : null);
    }
    return answer;
  };
  return {
    get: (key, options) =>
      ask(link, `${name} get ${key}${options?.leader ? " from the leader" : ""}`, async () => {
        const stale = options?.leader ? undefined : network.staleRead(life, name, key);
        return stale === undefined ? await inner.get(key, options) : stale.entry;
      }),
    create: (key, value) =>
      write(link, `${name} create ${key}`, () => remembering(key, inner.create(key, value), value)),
    update: (key, value, revision) =>
      write(
        link,
        `${name} update ${key} over ${revision}`,
        () => remembering(key, inner.update(key, value, revision), value),
      ),
    put: (key, value) =>
      write(link, `${name} put ${key}`, () => remembering(key, inner.put(key, value), value)),
    delete: (key, options) =>
      write(
        link,
        `${name} delete ${key} at ${options?.revision ?? "any"}`,
        () => remembering(key, inner.delete(key, options)),
      ),
    keys: (prefix) => ask(link, `${name} keys ${prefix ?? ""}`, () => inner.keys(prefix)),
    history: (key) => ask(link, `${name} history ${key}`, () => inner.history(key)),
    async watch(filter, handler) {
      const what = `${name} watch ${filter}`;
      const relay = new WatchRelay(link, what, handler);
      try {
        return await ask(link, what, async () => {
          return relay.over(await inner.watch(filter, (event) => relay.pass(event)));
        });
      } catch (thrown) {
        relay.end(undefined);
        throw thrown;
      }
    },
  };
}

/** Passes the events of a watch on, in order; a lost one ends the watch, as a cut connection would. */
class WatchRelay {
  readonly #link: Link;
  readonly #what: string;
  readonly #handler: (event: WatchEvent) => void;
  readonly #ended = Promise.withResolvers<ZesterError | undefined>();
  #isOpen = true;
  #isReplayed = false;
  #inner: Watch | undefined;

  constructor(link: Link, what: string, handler: (event: WatchEvent) => void) {
    this.#link = link;
    this.#what = what;
    this.#handler = handler;
    link.life.reach.whenRestored(() => this.end(this.#disconnected()));
  }

  over(inner: Watch): Watch {
    this.#inner = inner;
    const { life } = this.#link;
    if (!life.isAlive || !this.#isOpen) inner.stop();
    else life.atEnd(() => inner.stop());
    inner.ended.then((reason) => this.end(reason));
    return { stop: () => this.end(undefined), ended: this.#ended.promise };
  }

  pass(event: WatchEvent): void {
    const { life, network } = this.#link;
    if (event.kind === "replayed") this.#isReplayed = true;
    network.send(life, "in", this.#what, {
      isPart: !this.#isReplayed,
      arrive: () =>
        life.enter(() => {
          if (this.#isOpen) this.#handler(event);
        }),
      lost: () => this.end(this.#disconnected()),
    });
  }

  end(reason: ZesterError | undefined): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#inner?.stop();
    this.#link.life.enter(() => this.#ended.resolve(reason));
  }

  #disconnected(): ZesterError {
    return new ZesterError("disconnected", `${this.#link.life.node}: ${this.#what}: cut off`);
  }
}

function simulatedStream(link: Link, inner: Stream): Stream {
  const { store: name } = link;
  return {
    append: (subject, data, options): Promise<AppendResult> =>
      write(link, `${name} append ${subject}`, () => inner.append(subject, data, options)),
    get: (sequence) => ask(link, `${name} get ${sequence}`, () => inner.get(sequence)),
    lastOn: (subject) => ask(link, `${name} last on ${subject}`, () => inner.lastOn(subject)),
    info: () => ask(link, `${name} info`, () => inner.info()),
    consumer: (spec) =>
      ask(
        link,
        `${name} consumer ${spec.durable ?? ""}`,
        async () => simulatedConsumer(link, await inner.consumer(spec)),
      ),
  };
}

function simulatedConsumer(link: Link, inner: Consumer): Consumer {
  const { life, network, store: stream } = link;
  return {
    async fetch(options) {
      try {
        const deliveries = await network.call(life, `${stream} fetch`, {
          timeoutMs: options.waitMs + STORE_TIMEOUT_MS,
          apply: network.asking(stream, () => inner.fetch(options)),
        });
        return deliveries.map((each) => simulatedDelivery(link, each));
      } catch (thrown) {
        // No answer looks like no messages: those that were lost on the way come again after AckWait.
        if (isZesterError(thrown, "timeout")) return [];
        throw thrown;
      }
    },
    info: () => ask(link, `${stream} consumer info`, () => inner.info()),
    delete: () => ask(link, `${stream} consumer delete`, () => inner.delete()),
  };
}

function simulatedDelivery(link: Link, inner: Delivery): Delivery {
  const { life, network, store: stream } = link;
  const { subject, headers, data, sequence, storedMs, deliveries } = inner;
  const what = (verb: string) => `${stream} ${verb} ${sequence}`;
  return {
    subject,
    headers,
    data,
    sequence,
    storedMs,
    deliveries,
    ack: () => life.isAlive ? ask(link, what("ack"), () => inner.ack()) : never(),
    nak: (delayMs) => network.tell(life, what("nak"), () => inner.nak(delayMs)),
    working: () => network.tell(life, what("working"), () => inner.working()),
    term: (reason) => network.tell(life, what("term"), () => inner.term(reason)),
  };
}

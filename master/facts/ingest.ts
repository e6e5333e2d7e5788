/** Takes the facts that peels publish: verify, decode, store if newer, answer. Together with all other masters. */
import { isZesterError, toZesterError, ZesterError } from "../../core/errors.ts";
import { type Accepted, ingest, type Keyring } from "../../core/ingress.ts";
import {
  FACTS_MESSAGE_BYTES_MAX,
  FACTS_READY_POLL_MS,
  FACTS_WAITING_MAX,
  FACTS_WRITES_MAX,
} from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Voice } from "../../core/outgoing.ts";
import type { Bus, Clock, Message, Store, Subscription, Timer } from "../../core/ports.ts";
import { isInboxOf, subjects } from "../../core/subjects.ts";
import {
  decodeFacts,
  encodeFactsAnswer,
  type Facts,
  type FactsAnswer,
} from "../../core/wire/facts.ts";
import type { FactsDirectory } from "./directory.ts";
import { storeFacts } from "./store.ts";

export interface FactsPorts {
  readonly masterId: string;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly keyring: Keyring;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly facts: Pick<FactsDirectory, "ready" | "stored">;
  /** Whether this master knows who is enrolled. */
  knowsPeels(): boolean;
}

export interface FactsTaker {
  /** Takes no more, and waits for what is being written. */
  stop(): Promise<void>;
}

type Verified = Accepted<typeof subjects.fact.pattern>;

/**
 * Starts to take facts, as soon as this master knows the peels: before that it would only keep them from a master that does. A flood
 * (a fleet that comes back at once) waits in a line of bounded length.
 */
export function takeFacts(ports: FactsPorts): FactsTaker {
  const waiting: (() => Promise<void>)[] = [];
  const writing = new Set<Promise<void>>();

  function startNext(): void {
    while (writing.size < FACTS_WRITES_MAX) {
      const next = waiting.shift();
      if (next === undefined) return;
      const work = next();
      writing.add(work);
      work.finally(() => {
        writing.delete(work);
        startNext();
      });
    }
  }

  function take(message: Message): void {
    const taken = opened(message, ports);
    if (taken === null) return;
    if (waiting.length >= FACTS_WAITING_MAX) {
      ports.log.debug("facts dropped: too many wait already", { waiting: waiting.length });
      return void ports.metrics.factsSyncErrors.inc();
    }
    waiting.push(() => handle(taken.door, taken.inbox, ports));
    startNext();
  }

  const { queue = "" } = subjects.fact;
  let subscription: Subscription | undefined;
  let poll: Timer | undefined;
  function listenOnceReady(): void {
    if (ports.facts.ready && ports.knowsPeels()) {
      subscription = ports.bus.subscribe(subjects.fact.filter(), take, { queue });
    } else {
      poll = ports.clock.after(FACTS_READY_POLL_MS, listenOnceReady);
    }
  }

  listenOnceReady();
  return {
    async stop() {
      poll?.cancel();
      subscription?.unsubscribe();
      waiting.length = 0; // peels send again, to somebody else
      await Promise.allSettled(writing);
    },
  };
}

/** What came in, if it may: signed by the peel that the subject names, with an inbox of its own to answer to. */
function opened(
  message: Message,
  { keyring, clock, metrics, log }: FactsPorts,
): { door: Verified; inbox: string } | null {
  const door = ingest(message, { rule: subjects.fact, keyring, nowMs: clock.now() });
  if (!door.ok) {
    metrics.ingressRefused.inc({ reason: door.reason });
    if (door.isNews) log.warn("facts refused", { reason: door.reason, detail: door.detail });
    return null;
  }
  const { peel } = door.fields;
  if (!isInboxOf(message.reply, "peel", peel)) {
    metrics.ingressRefused.inc({ reason: "misaddressed" });
    log.warn("facts refused", { reason: "misaddressed", peel });
    return null;
  }
  return { door, inbox: message.reply };
}

async function handle(door: Verified, inbox: string, ports: FactsPorts): Promise<void> {
  const { metrics, log } = ports;
  const { peel } = door.fields;
  try {
    const facts = decoded(door.payload, peel);
    const { boot, sequence } = await stored(facts, peel, ports);
    metrics.factsSync.inc();
    answer(inbox, { boot, sequence }, ports);
  } catch (thrown) {
    const error = toZesterError(thrown, `facts of ${peel}`);
    const isFinal = error.remedy === "reject" && error.code !== "internal";
    metrics.factsSyncErrors.inc();
    log.warn("facts not stored", { peel, error });
    // Otherwise silence: the peel sends them again, and maybe another master can.
    if (isFinal) answer(inbox, { boot: 0n, sequence: 0n, refused: error.message }, ports);
  }
}

function decoded(payload: Uint8Array, peel: string): Facts {
  if (payload.length > FACTS_MESSAGE_BYTES_MAX) {
    throw new ZesterError(
      "payload_too_large",
      `facts of ${peel}: ${payload.length} bytes, at most ${FACTS_MESSAGE_BYTES_MAX}`,
    );
  }
  return decodeFacts(payload);
}

async function stored(facts: Facts, peelId: string, ports: FactsPorts) {
  const { masterId, clock, store } = ports;
  const { boot, sequence } = facts;
  const record = {
    peelId,
    boot,
    sequence,
    facts: facts.facts,
    master: masterId,
    storedMs: clock.now(),
  };
  return await storeFacts(record, ports.facts.stored(peelId), store);
}

function answer(inbox: string, said: FactsAnswer, { voice, log }: FactsPorts): void {
  try {
    voice.answer(inbox, encodeFactsAnswer(said));
  } catch (thrown) {
    if (!isZesterError(thrown)) throw thrown;
    log.debug("facts not answered", { error: thrown });
  }
}

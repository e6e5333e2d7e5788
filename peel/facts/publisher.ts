/**
 * Tells the masters what this peel says of itself: at start, after a reconnect, and when something has changed. Facts are sent
 * until a master answers that they, or something newer, are stored.
 */
import { toZesterError, ZesterError } from "../../core/errors.ts";
import { ingest, type Keyring, replyRule } from "../../core/ingress.ts";
import {
  FACTS_ANSWER_MS,
  FACTS_INTERVAL_MS,
  FACTS_RETRY_MS,
  FACTS_RETRY_MS_MAX,
} from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import { encode } from "../../core/msgpack.ts";
import type { Voice } from "../../core/outgoing.ts";
import type { Bus, Clock, Hash, Random } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import {
  compareAge,
  decodeFactsAnswer,
  encodeFacts,
  type Facts,
  type FactsAnswer,
} from "../../core/wire/facts.ts";
import type { FactValues } from "./collect.ts";

export interface FactsPorts {
  readonly peelId: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly voice: Voice;
  readonly keyring: Keyring;
  readonly hash: Hash;
  readonly metrics: Metrics;
  readonly log: Log;
  collect(): Promise<FactValues>;
}

export interface FactsPublisher {
  /** Sends what is known again: the connection came back, and the store may have changed behind it. */
  reconnected(): void;
  stop(): Promise<void>;
}

/** Starts to publish. */
export function publishFacts(ports: FactsPorts): FactsPublisher {
  const publisher = new Publisher(ports);
  const done = publisher.run();
  return {
    reconnected: () => publisher.sendAgain(),
    async stop() {
      publisher.stop();
      await done;
    },
  };
}

class Publisher {
  readonly #ports: FactsPorts;
  readonly #stopping = new AbortController();
  #wake = new AbortController();
  #boot: bigint;
  #sequence = 0n;
  #current: { readonly digest: string; readonly facts: FactValues } | undefined;
  /** Whether a master has said that the current facts are stored. */
  #stored = false;
  /** How often a reconnect asked to send again: an answer to what was sent before it does not count. */
  #round = 0;

  constructor(ports: FactsPorts) {
    this.#ports = ports;
    this.#boot = BigInt(ports.clock.now());
  }

  stop(): void {
    this.#stopping.abort();
  }

  sendAgain(): void {
    this.#stored = false;
    this.#round++;
    this.#wake.abort();
  }

  async run(): Promise<void> {
    let waitMs = FACTS_RETRY_MS;
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController();
      await this.#look();
      if (!this.#stored) await this.#send();
      if (this.#stored) {
        waitMs = FACTS_RETRY_MS;
        await this.#sleep(FACTS_INTERVAL_MS);
      } else {
        // Half of the wait at random: what made all of a fleet fail at once must not make it come back at once.
        await this.#sleep(waitMs * (1 + this.#ports.random.float()) / 2);
        waitMs = Math.min(waitMs * 2, FACTS_RETRY_MS_MAX);
      }
    }
  }

  async #sleep(durationMs: number): Promise<void> {
    const { signal } = this.#wake;
    const either = AbortSignal.any([this.#stopping.signal, signal]);
    await this.#ports.clock.sleep(durationMs, either).catch(() => {});
  }

  /** Collects, and takes the next number if anything has changed. */
  async #look(): Promise<void> {
    const { collect, hash, log, clock, metrics } = this.#ports;
    try {
      const startedMs = clock.monotonic();
      const facts = await collect();
      metrics.peelFactsSeconds.observe((clock.monotonic() - startedMs) / 1_000);
      const digest = hash.sha256(encode(facts, "Facts")).toHex();
      if (digest === this.#current?.digest) return;
      this.#current = { digest, facts };
      this.#sequence++;
      this.#stored = false;
    } catch (thrown) {
      log.error("facts not collected", { error: toZesterError(thrown, "facts") });
    }
  }

  async #send(): Promise<void> {
    const { log } = this.#ports;
    if (this.#current === undefined) return;
    const round = this.#round;
    const sent: Facts = {
      boot: this.#boot,
      sequence: this.#sequence,
      facts: { ...this.#current.facts },
    };
    try {
      const answer = await this.#ask(sent);
      if (answer.refused !== undefined) {
        log.error("facts refused by a master", { why: answer.refused });
        this.#stored = round === this.#round; // until they change: sending the same again is useless
      } else if (compareAge(answer, sent) > 0) {
        this.#goAbove(answer);
      } else if (compareAge(answer, sent) === 0) {
        this.#stored = round === this.#round;
      }
    } catch (thrown) {
      const error = toZesterError(thrown, "facts");
      // That nobody answers is usual while masters start; anything else is worth a look.
      log[error.remedy === "retry" ? "debug" : "warn"]("facts not stored yet", { error });
    }
  }

  /** Something newer is stored under our name: this clock once was ahead, or another process has our id. */
  #goAbove({ boot, sequence }: FactsAnswer): void {
    this.#ports.log.warn("newer facts of this peel are stored; going on above them", {
      boot: String(boot),
      sequence: String(sequence),
    });
    if (boot > this.#boot) [this.#boot, this.#sequence] = [boot + 1n, 1n];
    else this.#sequence = sequence + 1n;
  }

  async #ask(facts: Facts): Promise<FactsAnswer> {
    const { peelId, bus, clock, voice, keyring } = this.#ports;
    const subject = subjects.fact.of({ peel: peelId });
    const payload = encodeFacts(facts);
    const reply = await bus.request(subject, payload, {
      headers: voice.headers(subjects.fact, subject, payload),
      timeoutMs: FACTS_ANSWER_MS,
    });
    const rule = replyRule(reply.subject);
    const door = ingest(reply, { rule, keyring, nowMs: clock.now() });
    if (!door.ok) throw new ZesterError(door.reason, `answer refused: ${door.detail}`);
    return decodeFactsAnswer(door.payload);
  }
}

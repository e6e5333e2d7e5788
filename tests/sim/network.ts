/** What is between a node and the broker: it delays, loses, repeats and cuts, as the seed says. */
import { ZesterError } from "../../core/errors.ts";
import type { Entry } from "../../core/ports.ts";
import { type FaultRates, NO_FAULTS, type Sometimes } from "./faults.ts";
import { type Life, never } from "./life.ts";
import { RUN_BEGINS_MS } from "./node_clock.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded_random.ts";
import type { Trace } from "./trace.ts";

/** `out`: from the node to the broker. */
export type Direction = "out" | "in";

const USUAL_DELAY_MS = [0.2, 5] as const;
const LATE_MS = [50, 4_000] as const;
/** A connection that stands still for longer than any deadline, and then delivers after all. */
const STALL_MS = [5_000, 20_000] as const;
/** How far behind a replica may be. */
const REPLICA_LAG_MS = 20_000;

export interface NetworkOptions {
  scheduler: Scheduler;
  random: SeededRandom;
  trace: Trace;
  sometimes: Sometimes;
  /** Ends a life in the middle of what it does. */
  crash: (life: Life, where: string) => void;
}

/** The links of all nodes, and the replicas that lag behind. */
export class Network {
  rates: FaultRates = NO_FAULTS;
  readonly #options: NetworkOptions;
  /** Buckets and streams that were ever asked, and those that give no answer now. */
  readonly #stores = new Set<string>();
  readonly #out = new Set<string>();
  readonly #replicas = new Map<string, { atMs: number; entry: Entry | null }[]>();

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Carries one message one way. Either `arrive` or `lost` is called, in virtual time. */
  send(
    life: Life,
    direction: Direction,
    what: string,
    { arrive, lost = () => {}, isPart = false }: {
      arrive: () => void;
      lost?: () => void;
      /** Part of an answer in many messages, which is lost as a whole or not at all. */
      isPart?: boolean;
    },
  ): void {
    const { scheduler } = this.#options;
    const isLost = !isPart && this.#happens("loss");
    const isCutAtStart = life.reach.isCut;
    const atMs = Math.max(
      life.lastArrivalMs[direction],
      scheduler.nowMs + (isPart ? 0 : this.#delayMs(life, what)),
    );
    life.lastArrivalMs[direction] = atMs;
    scheduler.after(atMs - scheduler.nowMs, () => {
      if (isLost) this.#note(life, "loss", what);
      else if (isCutAtStart || life.reach.isCut) this.#trace(life, `cut off: ${what}`);
      else return arrive();
      lost();
    });
  }

  /** Delivers a core message, sometimes twice. */
  deliver(life: Life, what: string, arrive: () => void): void {
    this.send(life, "in", what, { arrive: () => life.enter(arrive) });
    if (!this.#happens("repeat")) return;
    this.#note(life, "repeat", what);
    this.send(life, "in", `repeat of ${what}`, { arrive: () => life.enter(arrive) });
  }

  /**
   * A request and its answer. Rejects with `timeout` when no answer came in time, whether or not `apply` was done; with
   * `disconnected` when the client knows that there is no connection. The node may die before, in or after it.
   */
  call<T>(
    life: Life,
    what: string,
    options: { timeoutMs: number; apply: () => Promise<T> },
  ): Promise<T> {
    if (!life.isAlive) return never();
    const dies = this.#dies();
    if (dies === "before") return this.#crash(life, `before ${what}`);
    if (life.reach.isNoticed) return this.#refuse(life, what);
    this.#trace(life, `→ ${what}`);
    return new Promise((resolve, reject) => {
      const deadline = life.clock.after(options.timeoutMs, () => {
        reject(new ZesterError("timeout", `${life.node}: ${what}: no answer`));
      });
      const answer = (settle: () => void) => {
        if (dies === "applied") return void this.#crash(life, `after ${what}, before its answer`);
        this.send(life, "in", `answer to ${what}`, {
          arrive: () =>
            life.enter(() => {
              if (dies === "answered") return void this.#crash(life, `with the answer to ${what}`);
              deadline.cancel();
              settle();
            }),
        });
      };
      this.send(life, "out", what, {
        arrive: () =>
          options.apply().then(
            (value) => answer(() => resolve(value)),
            (thrown) => answer(() => reject(thrown)),
          ),
      });
    });
  }

  /** A message that expects no answer. */
  tell(life: Life, what: string, arrive: () => void): void {
    if (!life.isAlive) return;
    const dies = this.#dies();
    if (dies === "before") return void this.#crash(life, `before ${what}`);
    this.#trace(life, `→ ${what}`);
    this.send(life, "out", what, { arrive });
    if (dies !== null) this.#crash(life, `after ${what}`);
  }

  /** A place where the node may die without any call. */
  failPoint(life: Life, where: string): void | Promise<void> {
    if (!life.isAlive) return never();
    if (this.#dies() !== null) return this.#crash(life, `at ${where}`);
  }

  /** Takes away one bucket or stream, as when its servers have no leader; gives a function that brings it back. */
  takeAway(): () => void {
    const { random, sometimes, trace, scheduler } = this.#options;
    if (this.#stores.size === 0) return () => {};
    const name = random.pick([...this.#stores]);
    sometimes.saw("outage");
    trace.add(scheduler.nowMs, "*", `outage of ${name}`);
    this.#out.add(name);
    return () => void this.#out.delete(name);
  }

  /** Brings back all that was taken away. */
  bringBack(): void {
    this.#out.clear();
  }

  /** Asks a bucket or a stream; one that is away says nothing. */
  asking<T>(store: string, apply: () => Promise<T>): () => Promise<T> {
    this.#stores.add(store);
    return () => this.#out.has(store) ? never() : apply();
  }

  /** Remembers what a key held from now on, for replicas that lag. */
  remember(bucket: string, key: string, now: { value: Uint8Array; revision: bigint } | null): void {
    const id = `${bucket} ${key}`;
    const atMs = this.#options.scheduler.nowMs;
    const entry = now && { key, ...now, createdMs: Math.floor(RUN_BEGINS_MS + atMs) };
    const past = this.#replicas.get(id) ?? [{ atMs: 0, entry: null }];
    past.push({ atMs, entry });
    this.#replicas.set(id, past.slice(-20));
  }

  /** What a lagging replica says of a key; undefined when this read is up to date. */
  staleRead(life: Life, bucket: string, key: string): { entry: Entry | null } | undefined {
    const past = this.#replicas.get(`${bucket} ${key}`);
    if (past === undefined || !this.#happens("staleRead")) return undefined;
    const atMs = this.#options.scheduler.nowMs - this.#options.random.between(0, REPLICA_LAG_MS);
    const seen = past.findLast((each) => each.atMs <= atMs);
    if (seen === undefined || seen === past.at(-1)) return undefined;
    this.#note(life, "staleRead", `${bucket} ${key}`);
    return seen;
  }

  /** Counts a write that ended as unknown. */
  sawUnknown(life: Life, what: string): void {
    this.#note(life, "unknown", what);
  }

  /** Even a refusal takes time, or a program that tries again at once would stop the world. */
  #refuse<T>(life: Life, what: string): Promise<T> {
    return new Promise((_, reject) => {
      life.clock.after(USUAL_DELAY_MS[0], () => {
        reject(new ZesterError("disconnected", `${life.node}: ${what}: no connection`));
      });
    });
  }

  #happens(fault: "loss" | "repeat" | "staleRead"): boolean {
    return this.rates[fault] > 0 && this.#options.random.chance(this.rates[fault]);
  }

  #dies(): "before" | "applied" | "answered" | null {
    const { random } = this.#options;
    if (this.rates.crashAtCall === 0 || !random.chance(this.rates.crashAtCall)) return null;
    return random.pick(["before", "applied", "answered"]);
  }

  #delayMs(life: Life, what: string): number {
    const { random } = this.#options;
    const { delay, stall } = this.rates;
    const range = stall > 0 && random.chance(stall)
      ? STALL_MS
      : delay > 0 && random.chance(delay)
      ? LATE_MS
      : USUAL_DELAY_MS;
    if (range !== USUAL_DELAY_MS) this.#note(life, "delay", what);
    return random.between(range[0], range[1]);
  }

  #crash<T>(life: Life, where: string): Promise<T> {
    if (life.isAlive) {
      this.#options.sometimes.saw("crashAtCall");
      this.#options.crash(life, where);
    }
    return never();
  }

  #note(life: Life, fault: string, what: string): void {
    this.#options.sometimes.saw(fault);
    this.#trace(life, `${fault}: ${what}`);
  }

  #trace(life: Life, what: string): void {
    this.#options.trace.add(this.#options.scheduler.nowMs, life.node, what);
  }
}

/** One run of a node's program, from its start to its stop or crash. What belongs to it dies with it. */
import type { Clock } from "../../core/ports.ts";
import { type ClockErrors, nodeClock } from "./node_clock.ts";
import type { Scheduler } from "./scheduler.ts";

/** A promise that never settles: what a call gives to a program that is dead. */
export function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** Lets callbacks into a program: at once, later when it is paused, never when it is dead. */
export class Life {
  readonly node: string;
  /** Which start of the node this is, from 1. */
  readonly number: number;
  readonly clock: Clock;
  /** While the broker cannot be reached; shared by all lives of a node. */
  readonly reach: Reach;
  /** When the last message of each direction arrives: a connection keeps its order. */
  readonly lastArrivalMs = { out: 0, in: 0 };
  readonly #scheduler: Scheduler;
  readonly #cleanups: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #isAlive = true;
  #isPaused = false;

  constructor(
    node: string,
    options: { number: number; scheduler: Scheduler; errors: ClockErrors; reach: Reach },
  ) {
    this.node = node;
    this.number = options.number;
    this.reach = options.reach;
    this.#scheduler = options.scheduler;
    this.clock = nodeClock(options.scheduler, options.errors, (run) => this.enter(run));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  enter(run: () => void): void {
    if (!this.#isAlive) return;
    if (this.#isPaused) this.#waiting.push(run);
    else run();
  }

  /** Undone when the life ends, such as a subscription at the broker. */
  atEnd(cleanup: () => void): void {
    this.#cleanups.push(cleanup);
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** What came meanwhile happens now, one by one, in its order. */
  resume(): void {
    this.#isPaused = false;
    for (const run of this.#waiting.splice(0)) {
      this.#scheduler.after(0, () => this.enter(run));
    }
  }

  end(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#waiting.length = 0;
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }
}

/** Whether a node can reach the broker, and since when it cannot. */
export class Reach {
  readonly #scheduler: Scheduler;
  #cutSinceMs: number | null = null;
  readonly #onRestored = new Set<(wasNoticed: boolean) => void>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get isCut(): boolean {
    return this.#cutSinceMs !== null;
  }

  /** Whether the client has noticed by now: until then it believes that it is connected. */
  get isNoticed(): boolean {
    return this.#cutSinceMs !== null && this.#scheduler.nowMs - this.#cutSinceMs > NOTICED_AFTER_MS;
  }

  cut(): void {
    this.#cutSinceMs ??= this.#scheduler.nowMs;
  }

  restore(): void {
    const wasNoticed = this.isNoticed;
    this.#cutSinceMs = null;
    const callbacks = [...this.#onRestored];
    this.#onRestored.clear();
    for (const callback of callbacks) callback(wasNoticed);
  }

  /** Called once, when the node is connected again. */
  whenRestored(callback: (wasNoticed: boolean) => void): void {
    this.#onRestored.add(callback);
  }
}

const NOTICED_AFTER_MS = 3_000;

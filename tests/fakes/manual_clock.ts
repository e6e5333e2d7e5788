/** A clock that stands still until a test moves it. */
import { ZesterError } from "../../core/errors.ts";
import type { Clock, Random, Timer } from "../../core/ports.ts";

interface Pending {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Timers run in the order they are due, those due together in the order they were set. */
export class ManualClock implements Clock {
  #nowMs: number;
  #elapsedMs = 0;
  readonly #timers = new Set<Pending>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  /** How many timers are set: a test can show that nothing was left behind. */
  get timers(): number {
    return this.#timers.size;
  }

  after(delayMs: number, callback: () => void): Timer {
    const timer: Pending = {
      dueMs: this.#elapsedMs + Math.max(0, delayMs),
      callback,
    };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  every(intervalMs: number, callback: () => void): Timer {
    const again = (): Timer =>
      this.after(intervalMs, () => {
        timer = again();
        callback();
      });
    let timer = again();
    return { cancel: () => timer.cancel() };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const closed = () => new ZesterError("closed", "sleep: stopped before its time");
      if (signal?.aborted) return reject(closed());
      const timer = this.after(delayMs, resolve);
      signal?.addEventListener("abort", () => {
        timer.cancel();
        reject(closed());
      }, { once: true });
    });
  }

  /** Moves time on and runs what is due on the way. */
  advance(durationMs: number): void {
    const endMs = this.#elapsedMs + durationMs;
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#timers.delete(next);
      this.#move(next.dueMs - this.#elapsedMs);
      next.callback();
    }
    this.#move(endMs - this.#elapsedMs);
  }

  /** The same, in steps, letting promises settle after each, so that code that awaits can set new timers. */
  async advanceSettling(durationMs: number, stepMs = durationMs): Promise<void> {
    await settle();
    for (let leftMs = durationMs; leftMs > 0; leftMs -= stepMs) {
      this.advance(Math.min(stepMs, leftMs));
      await settle();
    }
  }

  /** Sets the wall clock, as somebody who corrects it would. Timers and durations do not see it. */
  setWall(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  #move(byMs: number): void {
    this.#nowMs += byMs;
    this.#elapsedMs += byMs;
  }

  #next(endMs: number): Pending | undefined {
    let best: Pending | undefined;
    for (const each of this.#timers) {
      if (each.dueMs > endMs) continue;
      if (best === undefined || each.dueMs < best.dueMs) best = each;
    }
    return best;
  }
}

/** Lets everything that only waits for resolved promises run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** Chance that repeats: the same seed gives the same numbers (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    float: next,
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)),
  };
}

/** One timer that can be set to an earlier moment at any time. */
import { TIMER_DELAY_MS_MAX } from "../../core/limits.ts";
import type { Clock, Timer } from "../../core/ports.ts";

/** Rings once at the earliest moment asked for since it last rang. */
export class Alarm {
  readonly #clock: Clock;
  readonly #onRing: () => void;
  #timer: Timer | undefined;
  /** On the monotonic clock. */
  #dueMs = Infinity;

  constructor(clock: Clock, onRing: () => void) {
    this.#clock = clock;
    this.#onRing = onRing;
  }

  /** Rings after this long at the latest; `Infinity` asks for nothing. It may ring early, never late. */
  ringWithin(delayMs: number): void {
    if (delayMs === Infinity) return;
    const waitMs = Math.min(Math.max(0, delayMs), TIMER_DELAY_MS_MAX);
    const dueMs = this.#clock.monotonic() + waitMs;
    if (dueMs >= this.#dueMs) return;
    this.#timer?.cancel();
    this.#dueMs = dueMs;
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined;
      this.#dueMs = Infinity;
      this.#onRing();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueMs = Infinity;
  }
}

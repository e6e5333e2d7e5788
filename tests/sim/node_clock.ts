/** The clock of one node: virtual time, seen through a wall clock that is off and a quartz that runs fast or slow. */
import { ZesterError } from "../../core/errors.ts";
import type { Clock, Timer } from "../../core/ports.ts";
import type { Scheduler } from "./scheduler.ts";

/** Where every run begins on the wall clock: a fixed moment, so that stamps repeat. */
export const RUN_BEGINS_MS = Date.UTC(2030, 0, 1);

export interface ClockErrors {
  /** How far the wall clock is off. */
  readonly skewMs: number;
  /** How much faster than true time it runs: 0.001 gains a millisecond a second. */
  readonly drift: number;
}

export const TRUE_TIME: ClockErrors = { skewMs: 0, drift: 0 };

/** Makes a clock. `enter` runs a callback inside its node: later if the node is paused, never if it has crashed. */
export function nodeClock(
  scheduler: Scheduler,
  errors: ClockErrors,
  enter: (run: () => void) => void,
): Clock {
  const speed = 1 + errors.drift;
  const monotonic = () => scheduler.nowMs * speed;
  const after = (delayMs: number, callback: () => void): Timer => {
    let isCancelled = false;
    const timer = scheduler.after(delayMs / speed, () =>
      enter(() => {
        // A node that was paused may have cancelled the timer since it was due.
        if (!isCancelled) callback();
      }));
    return {
      cancel() {
        isCancelled = true;
        timer.cancel();
      },
    };
  };
  return {
    now: () => Math.floor(RUN_BEGINS_MS + errors.skewMs + monotonic()),
    monotonic,
    after,
    every: (intervalMs, callback) => repeating(after, intervalMs, callback),
    sleep: (delayMs, signal) => sleeping(after, delayMs, signal),
  };
}

function repeating(after: Clock["after"], intervalMs: number, callback: () => void): Timer {
  let timer = after(intervalMs, tick);
  function tick(): void {
    timer = after(intervalMs, tick);
    callback();
  }
  return { cancel: () => timer.cancel() };
}

function sleeping(after: Clock["after"], delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopped = () =>
      reject(new ZesterError("closed", "sleep: stopped before its time was up"));
    if (signal?.aborted) return stopped();
    const timer = after(delayMs, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    function stop(): void {
      timer.cancel();
      stopped();
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

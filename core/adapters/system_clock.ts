/** The clock port over the machine's own clock and timers. */
import { ZesterError } from "../errors.ts";
import { TIMER_DELAY_MS_MAX } from "../limits.ts";
import type { Clock, Timer } from "../ports.ts";

/** The real clock: what every program but a simulation runs on. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after,
  every,
  sleep,
};

function after(delayMs: number, callback: () => void): Timer {
  let handle: ReturnType<typeof setTimeout> | undefined;
  const arm = (leftMs: number) => {
    const stepMs = Math.min(leftMs, TIMER_DELAY_MS_MAX);
    handle = setTimeout(() => leftMs > stepMs ? arm(leftMs - stepMs) : callback(), stepMs);
  };
  arm(Math.max(0, delayMs));
  return { cancel: () => clearTimeout(handle) };
}

function every(intervalMs: number, callback: () => void): Timer {
  const handle = setInterval(callback, Math.min(intervalMs, TIMER_DELAY_MS_MAX));
  return { cancel: () => clearInterval(handle) };
}

function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stoppedEarly());
    const timer = after(delayMs, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    function stop(): void {
      timer.cancel();
      reject(stoppedEarly());
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function stoppedEarly(): ZesterError {
  return new ZesterError("closed", "sleep: stopped before its time was up");
}

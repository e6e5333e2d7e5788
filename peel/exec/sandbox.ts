/**
 * The one maker of workers. It always passes a permissions object, since without one a worker inherits everything; it
 * handles the worker's errors, since an unhandled one ends the whole process; and it ends the worker by a deadline.
 */
import type { PlainValue } from "../../core/module.ts";
import type { Clock } from "../../core/ports.ts";

export interface WorkerRequest {
  readonly module: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What is left of a function that somebody else ended. */
const ENDED: WorkerReply = { ok: false, message: "ended from outside" };

export type WorkerReply = { ok: true; value: PlainValue } | { ok: false; message: string };

export interface WorkerOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends the worker when it aborts. */
  readonly signal: AbortSignal;
  /** Called when the worker is over, however it ended: ends what it started outside of itself. */
  cleanUp?(): void;
}

/** Runs one function in a worker of its own that may touch nothing outside. */
export function runInWorker(
  request: WorkerRequest,
  { clock, timeoutMs, signal, cleanUp }: WorkerOptions,
): Promise<WorkerReply> {
  if (signal.aborted) return Promise.resolve(ENDED);
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions: "none" },
  });
  const { promise, resolve } = Promise.withResolvers<WorkerReply>();
  const deadline = clock.after(timeoutMs, () => {
    resolve({ ok: false, message: `still running after ${timeoutMs} ms, ended` });
  });
  const end = () => resolve(ENDED);
  signal.addEventListener("abort", end, { once: true });
  worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => resolve(data);
  worker.onmessageerror = () => resolve({ ok: false, message: "its result cannot be passed on" });
  worker.onerror = (event) => {
    event.preventDefault();
    resolve({ ok: false, message: event.message });
  };
  worker.postMessage(request);
  return promise.finally(() => {
    deadline.cancel();
    signal.removeEventListener("abort", end);
    worker.terminate();
    cleanUp?.();
  });
}

/**
 * The one maker of workers. A worker gets a permissions object that allows nothing, since without one it inherits
 * everything; and its errors are handled here, since an unhandled one ends the whole process.
 *
 * Ending a worker does not end code in it that never waits: the runtime (2.9) leaves it running, out of reach of the peel but
 * not of its processor. So one that calls its host after its end sleeps for ever in that call. A loop that calls nobody
 * cannot be stopped at all; only a process of its own can be.
 */
import type { Clock } from "../../core/ports.ts";
import { openExchange, type Sandbox } from "./exchange.ts";
import type { ToWorker } from "./protocol.ts";

export type { HostDoor, Sandbox, TaskOptions } from "./exchange.ts";

/** Makes one worker. It starts at once, so that it is warm when its first task comes. */
export function openSandbox(clock: Clock): Sandbox {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions: "none" },
  });
  const ended = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const exchange = openExchange({
    send: (message) => worker.postMessage(message),
    end() {
      Atomics.store(ended, 0, 1);
      worker.terminate();
    },
  }, clock);
  worker.postMessage({ kind: "begin", ended } satisfies ToWorker);
  worker.onmessage = ({ data }) => exchange.take(data);
  worker.onmessageerror = () => exchange.close({ message: "it sent what cannot be passed on" });
  worker.onerror = (event) => {
    event.preventDefault();
    exchange.close({ message: event.message });
  };
  return exchange.sandbox;
}

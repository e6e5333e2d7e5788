/**
 * The one maker of workers. A worker gets a permissions object that allows nothing, since without one it inherits
 * everything; and its errors are handled here, since an unhandled one ends the whole process.
 */
import type { Clock } from "../../core/ports.ts";
import { openExchange, type Sandbox } from "./exchange.ts";

export type { HostDoor, Sandbox, TaskOptions } from "./exchange.ts";

/** Makes one worker. It starts at once, so that it is warm when its first task comes. */
export function openSandbox(clock: Clock): Sandbox {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions: "none" },
  });
  const exchange = openExchange({
    send: (message) => worker.postMessage(message),
    end: () => worker.terminate(),
  }, clock);
  worker.onmessage = ({ data }) => exchange.take(data);
  worker.onmessageerror = () => exchange.close({ message: "it sent what cannot be passed on" });
  worker.onerror = (event) => {
    event.preventDefault();
    exchange.close({ message: event.message });
  };
  return exchange.sandbox;
}

/**
 * Keeps a daemon alive when its connection is reset at a bad moment. The client takes all listeners off a socket before it
 * destroys it; an error that is on its way by then (a refused login is enough: the server closes with data unread) has
 * nobody to go to and would end the whole process.
 */
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

let isOn = false;

/** From now on no socket of the client is ever without a listener for errors. Harmless when called again. */
export function guardSockets(): void {
  if (isOn) return;
  isOn = true;
  subscribe(
    "net.client.socket",
    (message) => keepListening((message as { socket: Socket }).socket),
  );
}

function keepListening(socket: Socket): void {
  const removeAll = socket.removeAllListeners.bind(socket);
  socket.removeAllListeners = (...args: Parameters<typeof removeAll>) => {
    removeAll(...args);
    // What the client does about a lost connection hangs on "close"; the error itself says nothing more.
    return socket.on("error", () => {});
  };
}

/** Sends signals to processes for modules, but never to the peel itself or to the mother of all processes. */
import process from "node:process";
import { ZesterError } from "../../../core/errors.ts";
import { named } from "./system_error.ts";

/** What may be sent: what ends, stops, wakes or nudges a process. */
const SIGNALS = ["HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "TERM", "CONT", "STOP"] as const;

/** Sends a signal, named with or without `SIG`, to one process. */
export async function sendSignal(pid: number, name: string): Promise<void> {
  const short = SIGNALS.find((each) => name === each || name === `SIG${each}`);
  if (short === undefined) {
    throw new ZesterError("bad_params", `the signal must be one of ${SIGNALS.join(", ")}`);
  }
  // Zero and what is below would mean whole groups of processes.
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === Deno.pid) {
    throw new ZesterError("bad_params", `process ${String(pid)} is not sent signals`);
  }
  await named(`send SIG${short} to process ${pid}`, () => void process.kill(pid, `SIG${short}`));
}

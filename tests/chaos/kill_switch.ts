/**
 * Ends this process by SIGKILL at one of its fail points. Which, and at which pass, is the first argument of the entrypoints of this
 * folder, as `dispatch.claimed:2:0`: programs that users run have no such switch.
 */
import { type FailPoints, NO_FAIL_POINTS } from "../../core/ports.ts";

/** Where a process is to be killed. */
export interface KillOrder {
  readonly point: string;
  /** At which pass; the first when absent. */
  readonly nth?: number;
  /** Held there this long before: what was just handed to the connection leaves the process. */
  readonly heldMs?: number;
}

/** The argument that says it; empty for one that is to live. */
export function killArgument(order: KillOrder | undefined): string {
  if (order === undefined) return "";
  const { point, nth = 1, heldMs = 0 } = order;
  return `${point}:${nth}:${heldMs}`;
}

/** The fail points that the argument asks for. */
export function killSwitch(argument: string): FailPoints {
  if (argument === "") return NO_FAIL_POINTS;
  const [point, nth, heldMs] = argument.split(":");
  let left = Number(nth);
  return {
    hit: (name) => name === point && --left === 0 ? die(Number(heldMs)) : undefined,
  };
}

/** At once if nothing is to be waited for: not even what is ready to run next may run. */
function die(heldMs: number): Promise<never> {
  const kill = () => Deno.kill(Deno.pid, "SIGKILL");
  if (heldMs === 0) kill();
  else setTimeout(kill, heldMs);
  return new Promise(() => {});
}

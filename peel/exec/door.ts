/** The only way out of a worker: checks one host call against the grant of the call it belongs to, then has it done. */
import { ZesterError } from "../../core/errors.ts";
import { type Grant, type Need, refusal } from "../../core/module/grant.ts";
import { HOST_CALLS, type HostCallName, type HostCalls } from "../../core/module/host.ts";
import type { HostDoor } from "./sandbox.ts";

/** What does the calls. `signal` ends what a call has started. */
export type HostOf = (context: HostContext) => HostCalls;

export interface HostContext {
  readonly signal: AbortSignal;
  readonly grant: Grant;
  /** Depth of the reaction that the job belongs to, stamped on events that it sends. */
  readonly reactorDepth: number;
  /** Not even links that root has placed lead out of the grant. */
  readonly isConfined: boolean;
}

export interface DoorOptions {
  /** `file.managed`, for messages. */
  readonly module: string;
  readonly grant: Grant;
  readonly reactorDepth: number;
  /** The module is not ours: it may have had links placed for itself. */
  readonly isConfined: boolean;
  readonly hostOf: HostOf;
  /** Called with everything that was asked for, granted or not. */
  onNeed?(need: Need): void;
}

/** The door of one call of a module. */
export function doorFor(
  { module, grant, reactorDepth, isConfined, hostOf, onNeed }: DoorOptions,
): HostDoor {
  return async ({ name, args }, signal) => {
    for (const need of needsOf(name, args)) {
      onNeed?.(need);
      const why = refusal(grant, need);
      if (why !== null) {
        throw new ZesterError("grant_denied", `${module}: ${why}`, {
          fix: "the module asked for more than its parameters say: this is a bug of the module",
        });
      }
    }
    const host = hostOf({ signal, grant, reactorDepth, isConfined });
    const call = host[name] as (...args: unknown[]) => Promise<unknown>;
    return await call.apply(host, [...args]);
  };
}

function needsOf(name: HostCallName, args: readonly unknown[]): Need[] {
  // Own names only: what comes from a worker is not to be trusted, and every object answers to `constructor`.
  if (!Object.hasOwn(HOST_CALLS, name) || !Array.isArray(args)) {
    throw new ZesterError("grant_denied", `there is no host call ${JSON.stringify(name)}`);
  }
  const needs = HOST_CALLS[name] as (...args: readonly unknown[]) => Need[];
  const asked = needs(...args);
  if (asked.every(isWellFormed)) return asked;
  throw new ZesterError("grant_denied", `${name}: its arguments are not what they should be`);
}

function isWellFormed(need: Need): boolean {
  if (need.kind !== "run") return typeof need.what === "string";
  const { program } = need;
  return Array.isArray(program) && program.length > 0 &&
    program.every((part) => typeof part === "string" && !part.includes("\0"));
}

/**
 * Runs calls of modules in workers: checks together, changes alone. All checks of a namespace share one worker, whose
 * host calls are checked against the looking part of the grant of the very call that makes them; every apply, revert and
 * function gets a worker of its own that ends with it. With `sandbox: "run"` one worker per namespace does it all.
 */
import type { ErrorCode } from "../../core/errors.ts";
import type { Change, Drift, Facts, PlainValue } from "../../core/module.ts";
import { type Grant, lookingPart, type Need } from "../../core/module/grant.ts";
import type { PreparedCall } from "../../core/module/prepare.ts";
import type { Clock } from "../../core/ports.ts";
import { doorFor, type HostOf } from "./door.ts";
import { openOwnWorkers } from "./own_workers.ts";
import type { Isolation } from "./isolation/choose.ts";
import { openProcessSandbox } from "./isolation/process_sandbox.ts";
import type { ModuleSource, PassedError, Reply, Work } from "./protocol.ts";
import { openSandbox, type Sandbox } from "./sandbox.ts";

/** One module with one set of parameters, what it may touch, and where a worker takes it from. */
export interface Call extends PreparedCall {
  readonly source: ModuleSource;
  /** Where it runs if it comes from the state tree. Absent: in a worker. */
  readonly isolation?: Isolation;
}

/** `ok`, or what went wrong with what is known nevertheless. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: PassedError };

export interface ModuleRun {
  check(call: Call): Promise<Outcome<Drift | null>>;
  apply(call: Call, context: { isForced: boolean }): Promise<Outcome<Change | null>>;
  revert(call: Call, memo: unknown): Promise<Outcome<Change | null>>;
  answer(call: Call, options: { isDryRun: boolean }): Promise<Outcome<PlainValue>>;
  /** Says how many calls will follow that get a worker of their own: the next worker starts while one works. */
  expect(count: number): void;
  /** Ends every worker that is left. */
  close(): void;
}

export interface RunPorts {
  readonly clock: Clock;
  readonly hostOf: HostOf;
  readonly facts: Facts;
  readonly signal: AbortSignal;
  /** When the whole run must be over, on the monotonic clock. */
  readonly deadlineMs: number;
  readonly reactorDepth: number;
  readonly sandbox: "alone" | "run";
  /** Told of everything that modules ask for: tests compare it with the grants. */
  onNeed?(call: Call, need: Need): void;
}

/** Begins a run. Close it. */
export function openRun(ports: RunPorts): ModuleRun {
  const shared = new Map<string, Sandbox>();
  const own = openOwnWorkers(() => openSandbox(ports.clock));
  const apart = openOwnWorkers(() => openProcessSandbox(ports.clock));

  function sharedFor(namespace: string): Sandbox {
    const found = shared.get(namespace);
    // A module that looped or died took its worker along; those after it get a fresh one.
    if (found !== undefined && !found.isClosed) return found;
    const made = openSandbox(ports.clock);
    shared.set(namespace, made);
    return made;
  }

  async function perform<T>(call: Call, work: Work, grant: Grant): Promise<Outcome<T>> {
    const isShared = call.source.from === "shipped" &&
      (work.do === "check" || ports.sandbox === "run");
    const alone = call.isolation === "process" ? apart : own;
    const reply = isShared
      ? await performIn(sharedFor(namespaceOf(call.name)), call, { work, grant })
      : await alone.use((sandbox) => performIn(sandbox, call, { work, grant }));
    return reply.ok ? { ok: true, value: reply.value as T } : reply;
  }

  function performIn(
    sandbox: Sandbox,
    call: Call,
    { work, grant }: { work: Work; grant: Grant },
  ): Promise<Reply> {
    const { source: module, params } = call;
    return sandbox.perform({ module, params, facts: ports.facts, work }, {
      timeoutMs: Math.max(0, ports.deadlineMs - ports.clock.monotonic()),
      signal: ports.signal,
      door: doorFor({
        module: call.name,
        grant,
        reactorDepth: ports.reactorDepth,
        isConfined: call.source.from === "tree",
        hostOf: ports.hostOf,
        ...(ports.onNeed === undefined ? {} : { onNeed: (need) => ports.onNeed?.(call, need) }),
      }),
    });
  }

  return {
    check: (call) => perform(call, { do: "check" }, lookingPart(call.grant)),
    apply: (call, context) => perform(call, { do: "apply", context }, call.grant),
    revert: (call, memo) => perform(call, { do: "revert", memo }, call.grant),
    answer: (call, { isDryRun }) =>
      perform(call, { do: "run" }, isDryRun ? lookingPart(call.grant) : call.grant),
    expect: (count) => ports.sandbox === "alone" ? own.expect(count) : undefined,
    close() {
      own.close();
      apart.close();
      for (const each of shared.values()) each.close();
      shared.clear();
    },
  };
}

function namespaceOf(name: string): string {
  return name.split(".", 1)[0]!;
}

/** The error as the operator reads it: `file.managed: rename …`, with the module's name once. */
export function failureText(name: string, { message }: { message: string }): string {
  return message.startsWith(`${name}:`) ? message : `${name}: ${message}`;
}

/** Whether the error means that the run was ended from outside. */
export function wasEnded({ code }: { code?: ErrorCode }): boolean {
  return code === "closed";
}

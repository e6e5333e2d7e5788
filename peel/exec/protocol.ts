/**
 * What a worker and its peel say to each other: one union each way, matched by id. A worker is given tasks; while it works
 * on one it makes host calls in the name of that task; it ends each task with one reply.
 */
import type { ErrorCode } from "../../core/errors.ts";
import type { ApplyContext, Details, Facts, Params } from "../../core/module.ts";
import type { HostCallName } from "../../core/module/host.ts";

/** Where a worker takes a module from. */
export type ModuleSource =
  | { readonly from: "shipped"; readonly name: string }
  /** Verified source of a module from the state tree. */
  | { readonly from: "tree"; readonly name: string; readonly source: string };

/** One thing to do with one module. */
export type Work =
  | { readonly do: "check" }
  | { readonly do: "apply"; readonly context: ApplyContext }
  | { readonly do: "revert"; readonly memo: unknown }
  | { readonly do: "run" }
  /** Make the call of a module ready that is not to be trusted with more than computing. */
  | { readonly do: "prepare"; readonly id: string };

export interface Task {
  readonly id: number;
  readonly module: ModuleSource;
  readonly params: Params;
  readonly facts: Facts;
  readonly work: Work;
}

export type ToWorker =
  /** The first message to a worker: the number becomes 1 when it is to stop. */
  | { readonly kind: "begin"; readonly ended: Int32Array }
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "answer"; readonly call: number; readonly answer: Answer };

export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: PassedError };

export type FromWorker =
  | {
    readonly kind: "call";
    readonly call: number;
    readonly task: number;
    readonly name: HostCallName;
    readonly args: readonly unknown[];
  }
  | { readonly kind: "reply"; readonly task: number; readonly reply: Reply }
  /** Something was thrown outside of a task: the worker is in no known state any more. */
  | { readonly kind: "broken"; readonly message: string };

/** What became of a task. */
export type Reply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: PassedError };

/** An error as plain data: what is left of it past a worker. */
export interface PassedError {
  readonly message: string;
  readonly code?: ErrorCode;
  readonly details?: Details;
  /** The work had changed something when it failed. */
  readonly changed?: boolean;
  readonly memo?: unknown;
}

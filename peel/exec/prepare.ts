/**
 * Makes a call ready: parameters decoded, grant asked for and held against the policy of the host. A module of the state tree
 * is asked in a worker that may do nothing but compute, and its answer is checked before it is believed.
 */
import { ZesterError } from "../../core/errors.ts";
import type { Facts } from "../../core/module.ts";
import { type Grant, GRANT_KINDS, PEEL_SERVICES } from "../../core/module/grant.ts";
import { prepareCall, type PreparedCall } from "../../core/module/prepare.ts";
import { CUSTOM_PREPARE_MS_MAX } from "../../core/limits.ts";
import type { Clock } from "../../core/ports.ts";
import type { Found } from "./catalog.ts";
import { type Isolation, isolationOf } from "./isolation/choose.ts";
import { openProcessSandbox } from "./isolation/process_sandbox.ts";
import { type Policy, policyRefusal } from "./policy.ts";
import type { Call } from "./run.ts";
import { openSandbox } from "./sandbox.ts";

export interface Given {
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface PreparePorts {
  readonly clock: Clock;
  readonly facts: Facts;
  readonly policy: Policy;
  readonly signal: AbortSignal;
  /** Where modules of the state tree run unless their state asks for more. Default: in workers. */
  readonly isolation?: Isolation;
}

/** The call, or `bad_params`, `bad_module`, `grant_denied`. */
export async function prepare(found: Found, given: Given, ports: PreparePorts): Promise<Call> {
  const prepared = await describe(found, given, ports);
  const refused = policyRefusal(ports.policy, prepared.name, prepared.grant);
  if (refused === null) return callOf(prepared, found, isolationFor(given, ports));
  throw new ZesterError(
    "grant_denied",
    `${prepared.name}: the policy of this host refuses it: ${refused}`,
    { fix: "zester peel show prints the policy; it is set in policy.zy on the host" },
  );
}

function callOf(prepared: PreparedCall, { from, source }: Found, isolation: Isolation): Call {
  return { ...prepared, source, ...(from === "tree" ? { isolation } : {}) };
}

function isolationFor({ args }: Given, { isolation = "worker" }: Pick<PreparePorts, "isolation">) {
  return isolationOf(isolation, args["isolation"]);
}

/** The call without regard to the policy. */
export async function describe(
  found: Found,
  given: Given,
  ports: Omit<PreparePorts, "policy">,
): Promise<PreparedCall> {
  if (found.from === "shipped") return prepareCall(found.module, given, ports.facts);
  return await describeInWorker(found, given, ports);
}

async function describeInWorker(
  { source, path }: Found & { from: "tree" },
  given: Given,
  ports: Omit<PreparePorts, "policy">,
): Promise<PreparedCall> {
  const { clock, facts, signal } = ports;
  const { id, args } = given;
  const sandbox = isolationFor(given, ports) === "process"
    ? openProcessSandbox(clock)
    : openSandbox(clock);
  try {
    const reply = await sandbox.perform(
      { module: source, params: args, facts, work: { do: "prepare", id } },
      { timeoutMs: CUSTOM_PREPARE_MS_MAX, signal, door: refuseCalls },
    );
    if (!reply.ok) throw loadFailure(path, reply.error);
    return checkedCall(source.name, path, reply.value);
  } finally {
    sandbox.close();
  }
}

function refuseCalls(): Promise<never> {
  return Promise.reject(
    new ZesterError("grant_denied", "permissions() may only compute, it has no host"),
  );
}

function loadFailure(path: string, error: { message: string; code?: string }): ZesterError {
  if (error.code === "bad_params") return new ZesterError("bad_params", error.message);
  const { message } = error;
  return new ZesterError("bad_module", message.startsWith(path) ? message : `${path}: ${message}`);
}

/** What came out of the worker, if it has the shape that it must have. */
function checkedCall(name: string, path: string, value: unknown): PreparedCall {
  const call = value as Partial<PreparedCall> | null | undefined;
  const isSound = call?.name === name && (call.kind === "state" || call.kind === "function") &&
    typeof call.params === "object" && call.params !== null && Array.isArray(call.sensitive);
  if (!isSound) throw new ZesterError("bad_module", `${path}: it does not declare a module`);
  return {
    name,
    kind: call.kind!,
    isReadOnly: call.isReadOnly === true,
    canRevert: call.canRevert === true,
    whyNoRevert: String(call.whyNoRevert ?? ""),
    params: call.params!,
    grant: checkedGrant(path, call.grant),
    sensitive: call.sensitive!.map(String),
  };
}

function checkedGrant(path: string, value: unknown): Grant {
  if (typeof value !== "object" || value === null) throw badGrant(path, "it is no map");
  for (const [kind, things] of Object.entries(value)) {
    if (!Object.hasOwn(GRANT_KINDS, kind)) throw badGrant(path, `there is no kind "${kind}"`);
    if (!Array.isArray(things)) throw badGrant(path, `${kind} is no list`);
    const isSound = kind === "run" || kind === "probe" ? isProgram : isThing(kind);
    if (!things.every(isSound)) throw badGrant(path, `${kind} holds what cannot be granted`);
  }
  return value as Grant;
}

function isThing(kind: string): (thing: unknown) => boolean {
  return (thing) =>
    typeof thing === "string" && (kind !== "peel" || Object.hasOwn(PEEL_SERVICES, thing));
}

function isProgram(thing: unknown): boolean {
  return Array.isArray(thing) && thing.length > 0 &&
    thing.every((part) => typeof part === "string");
}

function badGrant(path: string, why: string): ZesterError {
  return new ZesterError("bad_module", `${path}: permissions(): ${why}`);
}

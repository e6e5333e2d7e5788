/** Runs one function and says what came of it: in this process if it only computes, in a worker otherwise. */
import { modules } from "../../modules/mod.ts";
import type { ModuleSpec, PlainValue } from "../../core/module.ts";
import { nearest } from "../../core/nearest.ts";
import type { Clock } from "../../core/ports.ts";
import type { ExecRequest, ExecResponse } from "../../core/wire/exec.ts";
import { runInWorker, type WorkerReply } from "./sandbox.ts";

export interface ExecutionPorts {
  readonly clock: Clock;
  readonly peelId: string;
  /** How long one function may take. */
  readonly timeoutMs: number;
}

/** Whether a function changes nothing. One that does not exist changes nothing either. */
export async function isReadOnly(name: string): Promise<boolean> {
  const load = modules[name];
  return load === undefined || (await load()).default.readOnly;
}

/** Runs the request. Never throws: whatever goes wrong is the answer. Ends soon after the signal aborts. */
export async function execute(
  request: ExecRequest,
  ports: ExecutionPorts,
  signal: AbortSignal = new AbortController().signal,
): Promise<ExecResponse> {
  const started = ports.clock.monotonic();
  const reply = await attempt(request, ports, signal);
  const durationMs = ports.clock.monotonic() - started;
  const common = { peelId: ports.peelId, jid: request.jid, success: reply.ok, test: false };
  const result = { name: request.module, changed: false, diff: "", durationMs, skipped: false };
  if (reply.ok) {
    return { ...common, results: [{ ...result, details: { result: shown(reply.value) } }] };
  }
  return {
    ...common,
    results: [{ ...result, details: {}, error: reply.message }],
    error: reply.message,
  };
}

async function attempt(
  request: ExecRequest,
  ports: ExecutionPorts,
  signal: AbortSignal,
): Promise<WorkerReply> {
  // Own names only: every object also answers to `constructor`.
  const load = Object.hasOwn(modules, request.module) ? modules[request.module] : undefined;
  if (load === undefined) return { ok: false, message: unknownFunction(request.module) };
  const { default: spec } = await load();
  const params = request.args;
  const wrong = unknownParameter(spec, params);
  if (wrong !== null) return { ok: false, message: wrong };
  if (!spec.inline) {
    const { clock, timeoutMs } = ports;
    return await runInWorker({ module: spec.name, params }, { clock, timeoutMs, signal });
  }
  try {
    return { ok: true, value: await spec.run(params) };
  } catch (thrown) {
    return {
      ok: false,
      message: `${spec.name}: ${thrown instanceof Error ? thrown.message : thrown}`,
    };
  }
}

function unknownFunction(name: string): string {
  const close = nearest(name, Object.keys(modules));
  return `no function ${JSON.stringify(name)} here${
    close === null ? "" : `: did you mean ${close}?`
  }`;
}

function unknownParameter(
  spec: ModuleSpec,
  params: Readonly<Record<string, unknown>>,
): string | null {
  const wrong = Object.keys(params).find((name) => !Object.hasOwn(spec.params, name));
  if (wrong === undefined) return null;
  const close = nearest(wrong, Object.keys(spec.params));
  const known = Object.keys(spec.params).join(", ") || "none";
  const hint = close === null ? "" : `: did you mean ${close}?`;
  return `${spec.name} has no argument ${JSON.stringify(wrong)}${hint} (it has: ${known})`;
}

function shown(value: PlainValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Runs one function of a job and says what came of it. Never throws: whatever goes wrong is the answer. */
import { ZesterError } from "../../core/errors.ts";
import type { Change, Drift, Facts, FunctionModule, Host, PlainValue } from "../../core/module.ts";
import { type Grant, grantRows } from "../../core/module/grant.ts";
import type { Clock } from "../../core/ports.ts";
import type { ExecRequest, ExecResponse, StateResult } from "../../core/wire/exec.ts";
import { type Catalog, type Found, openCatalog } from "./catalog.ts";
import type { HostOf } from "./door.ts";
import { forwarded } from "./forward.ts";
import type { Isolation } from "./isolation/choose.ts";
import { DEFAULT_POLICY, type Policy } from "./policy.ts";
import { prepare } from "./prepare.ts";
import { hiding } from "./redact.ts";
import { type Call, failureText, type ModuleRun, openRun, type Outcome } from "./run.ts";

export interface ExecutionPorts {
  readonly clock: Clock;
  readonly peelId: string;
  /** How long one function may take. */
  readonly timeoutMs: number;
  /** Absent: functions can only compute. */
  readonly hostOf?: HostOf;
  readonly policy?: Policy;
  /** Absent: the shipped modules. */
  readonly catalog?: Catalog;
  readonly facts?: () => Facts | Promise<Facts>;
  /** Where modules of the state tree run unless their state asks for more. */
  readonly isolation?: Isolation;
}

const SHIPPED = openCatalog();

const NO_HOST_CALLS: HostOf = () => {
  throw new ZesterError("grant_denied", "this peel has no host to call");
};

/** Runs the request. Ends soon after the signal aborts. */
export async function execute(
  request: ExecRequest,
  ports: ExecutionPorts,
  signal: AbortSignal = new AbortController().signal,
): Promise<ExecResponse> {
  const startedMs = ports.clock.monotonic();
  const isDryRun = asksForDryRun(request.args["test"]);
  const result = await resultOf(request, ports, { signal, isDryRun });
  const durationMs = ports.clock.monotonic() - startedMs;
  const { error } = result;
  return {
    peelId: ports.peelId,
    jid: request.jid,
    success: error === undefined,
    test: isDryRun,
    results: [{ ...result, durationMs }],
    ...(error === undefined ? {} : { error }),
  };
}

const TRUTHY = new Set(["true", "yes", "1", "on"]);

function asksForDryRun(test: unknown): boolean {
  return test === true || TRUTHY.has(String(test ?? "").trim().toLowerCase());
}

type Result = Omit<StateResult, "durationMs">;

interface Attempt {
  readonly signal: AbortSignal;
  readonly isDryRun: boolean;
}

async function resultOf(
  request: ExecRequest,
  ports: ExecutionPorts,
  attempt: Attempt,
): Promise<Result> {
  try {
    const facts = await ports.facts?.() ?? {};
    const catalog = ports.catalog ?? SHIPPED;
    const asked = forwarded(request);
    const found = await catalog.find(asked.module);
    const call = await prepare(found, asked, {
      clock: ports.clock,
      facts,
      policy: ports.policy ?? DEFAULT_POLICY,
      ...(ports.isolation === undefined ? {} : { isolation: ports.isolation }),
      signal: attempt.signal,
    });
    const hide = hiding(call);
    return hide(await perform(found, call, { request, ports, attempt, facts }));
  } catch (thrown) {
    if (!(thrown instanceof ZesterError)) throw thrown;
    const { code, fix, message } = thrown;
    const details = { code, ...(fix === undefined ? {} : { fix }) };
    return { ...plain(request.module), details, error: message };
  }
}

interface Circumstances {
  readonly request: ExecRequest;
  readonly ports: ExecutionPorts;
  readonly attempt: Attempt;
  readonly facts: Facts;
}

async function perform(found: Found, call: Call, around: Circumstances): Promise<Result> {
  const inline = inlineOf(found);
  if (inline !== null) {
    return answered(
      call,
      await attemptInline(() => inline.run(call.params, NO_HOST)),
    );
  }
  const { ports, attempt: { signal, isDryRun }, request, facts } = around;
  const run = openRun({
    clock: ports.clock,
    hostOf: ports.hostOf ?? NO_HOST_CALLS,
    facts,
    signal,
    deadlineMs: ports.clock.monotonic() + ports.timeoutMs,
    reactorDepth: request.reactorDepth ?? 0,
    // There is one call: a worker that looked and then mends still does so for this call alone.
    sandbox: "run",
  });
  try {
    if (call.kind === "state") return await performState(run, call, isDryRun);
    if (isDryRun && !call.isReadOnly) return wouldRun(call);
    return answered(call, await run.answer(call, { isDryRun }));
  } finally {
    run.close();
  }
}

/** The function if it may run in this very process: one of ours that only computes. */
function inlineOf(found: Found): FunctionModule | null {
  if (found.from !== "shipped" || found.module.kind !== "function") return null;
  return found.module.isInline ? found.module : null;
}

async function attemptInline(
  run: () => PlainValue | Promise<PlainValue>,
): Promise<Outcome<PlainValue>> {
  try {
    return { ok: true, value: await run() };
  } catch (thrown) {
    return {
      ok: false,
      error: { message: thrown instanceof Error ? thrown.message : `${thrown}` },
    };
  }
}

/** Inline functions compute on their parameters alone: reaching for the host is a bug of theirs. */
const NO_HOST = new Proxy({}, {
  get(_target, name) {
    throw new Error(`an inline function has no host (it asked for ${String(name)})`);
  },
}) as Host;

/** Looks; mends if there is drift and this is no dry run. */
export async function performState(run: ModuleRun, call: Call, isDryRun: boolean): Promise<Result> {
  const looked = await run.check(call);
  if (!looked.ok) return failed(call.name, looked.error);
  const drift = looked.value;
  if (isDryRun) return previewed(call, drift);
  if (drift === null) return plain(call.name);
  const mended = await run.apply(call, { isForced: false });
  return mended.ok ? changed(call.name, mended.value) : failed(call.name, mended.error);
}

// ---- results -------------------------------------------------------------------------------------------------

function plain(name: string): Result {
  return { name, changed: false, diff: "", details: {}, skipped: false };
}

/** In a dry run `changed` means "would change", and the grant is shown. */
function previewed({ name, grant }: Call, drift: Drift | null): Result {
  return {
    ...plain(name),
    changed: drift !== null,
    diff: drift === null ? "" : drift.isUnsure ? `cannot say: ${drift.diff}` : drift.diff,
    details: { grant: shownGrant(grant) },
  };
}

function changed(name: string, change: Change | null): Result {
  if (change === null) return plain(name);
  const { diff, details = {}, changed = true } = change;
  return { ...plain(name), changed, diff, details };
}

function answered({ name }: Call, outcome: Outcome<PlainValue>): Result {
  if (!outcome.ok) return failed(name, outcome.error);
  return { ...plain(name), details: { result: shown(outcome.value) } };
}

function wouldRun({ name, grant }: Call): Result {
  return {
    ...plain(name),
    changed: true,
    diff: `would run ${name}`,
    details: { grant: shownGrant(grant) },
  };
}

function failed(
  name: string,
  error: { message: string; details?: Readonly<Record<string, string>>; changed?: boolean },
): Result {
  const { details = {}, changed = false } = error;
  return { ...plain(name), changed, details, error: failureText(name, error) };
}

/** One line per granted thing. */
export function shownGrant(grant: Grant): string {
  return grantRows(grant).map(({ kind, what }) => `${kind} ${what}`).join("\n");
}

function shown(value: PlainValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

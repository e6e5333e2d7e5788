/** Runs many calls of modules the way a state run does: all looks together, then what has drifted. */
import { systemClock } from "../core/adapters/system_clock.ts";
import type { Drift, Facts } from "../core/module.ts";
import { openCatalog } from "../peel/exec/catalog.ts";
import { systemHost } from "../peel/exec/host/system.ts";
import { DEFAULT_POLICY } from "../peel/exec/policy.ts";
import { prepare } from "../peel/exec/prepare.ts";
import { type Call, failureText, type ModuleRun, openRun, type Outcome } from "../peel/exec/run.ts";

/** One state: a module and what it is given. */
export interface State {
  readonly module: string;
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const FACTS: Facts = { id: "bench", os: "debian", os_family: "debian", kernel: "linux" };
const TIMEOUT_MS = 120_000;

/** Looks at all states and mends what has drifted. Gives how many changed; a failure is thrown. */
export async function applyStates(
  states: readonly State[],
  { sandbox }: { sandbox: "alone" | "run" },
): Promise<number> {
  const { signal } = new AbortController();
  const run = openRun({
    clock: systemClock,
    hostOf: systemHost({ clock: systemClock, statesDir: null, defaultTimeoutMs: TIMEOUT_MS }),
    facts: FACTS,
    signal,
    deadlineMs: systemClock.monotonic() + TIMEOUT_MS,
    reactorDepth: 0,
    sandbox,
  });
  try {
    const calls = await Promise.all(states.map((state) => callOf(state, signal)));
    const drifts = await Promise.all(
      calls.map(async (call) => valueOf(call, await run.check(call))),
    );
    return await mend(
      run,
      calls.filter((_call, index) => (drifts[index] as Drift | null) !== null),
    );
  } finally {
    run.close();
  }
}

async function callOf({ module, id, args }: State, signal: AbortSignal): Promise<Call> {
  const ports = { clock: systemClock, facts: FACTS, policy: DEFAULT_POLICY, signal };
  return await prepare(await CATALOG.find(module), { id, args }, ports);
}

const CATALOG = openCatalog();

/** All at once: the run itself decides how many work at a time. */
async function mend(run: ModuleRun, calls: readonly Call[]): Promise<number> {
  run.expect(calls.length);
  const changes = await Promise.all(
    calls.map(async (call) => valueOf(call, await run.apply(call, { isForced: false }))),
  );
  return changes.filter((change) => change !== null).length;
}

function valueOf<T>(call: Call, outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(failureText(call.name, outcome.error));
}

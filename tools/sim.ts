/**
 * `deno task sim`: runs simulated scenarios from seeds, and replays one seed.
 *
 *   deno task sim                                   every scenario, 500 seeds each
 *   deno task sim --scenario=lease --seeds=10000    more seeds of one scenario
 *   deno task sim --scenario=jobs --seeds=20000 --processes=2   spread over processes
 *   deno task sim --scenario=lease --seed=42 --trace   one run, with all that happened in it
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Sometimes } from "../tests/sim/faults.ts";
import { scenarios } from "../tests/sim/scenarios.ts";
import { explain, type RunResult, simulate, simulateMany } from "../tests/sim/simulate.ts";
import type { Scenario } from "../tests/sim/world.ts";

const SEEDS = 500;
/** Seeds that one process runs before it tells how it went. */
const PART_SEEDS = 250;

interface Wishes {
  readonly chosen: readonly Scenario[];
  readonly seed: number | undefined;
  readonly from: number;
  readonly seeds: number;
  readonly processes: number;
  readonly trace: boolean;
  /** Tell the outcome as one line of JSON, for the process that spreads the seeds. */
  readonly json: boolean;
}

/** What came of many seeds. */
interface Outcome {
  readonly runs: number;
  readonly steps: number;
  readonly counts: readonly (readonly [string, number])[];
  /** What failed first, explained; null if nothing did. */
  readonly failure: string | null;
}

if (import.meta.main) Deno.exit(await main(Deno.args));

/** Returns the exit code: 0 all well, 1 a violation, 2 bad usage. */
export async function main(args: readonly string[]): Promise<number> {
  const wishes = readWishes(args);
  if (typeof wishes === "string") {
    console.error(wishes);
    return 2;
  }
  let code = 0;
  for (const scenario of wishes.chosen) {
    const isWell = wishes.seed === undefined
      ? await runMany(scenario, wishes)
      : await runOne(scenario, wishes.seed, wishes.trace);
    if (!isWell) code = 1;
  }
  return code;
}

function readWishes(args: readonly string[]): Wishes | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: "string" },
        from: { type: "string", default: "1" },
        seeds: { type: "string", default: String(SEEDS) },
        processes: { type: "string", default: "1" },
        scenario: { type: "string" },
        trace: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
      },
    });
    return {
      chosen: choose(values.scenario),
      seed: values.seed === undefined ? undefined : wholeNumber("seed", values.seed),
      from: wholeNumber("from", values.from),
      seeds: wholeNumber("seeds", values.seeds),
      processes: wholeNumber("processes", values.processes),
      trace: values.trace,
      json: values.json,
    };
  } catch (thrown) {
    return `sim: ${thrown instanceof Error ? thrown.message : thrown}`;
  }
}

function choose(name: string | undefined): Scenario[] {
  if (name === undefined) return Object.values(scenarios);
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
  if (scenario !== undefined) return [scenario];
  throw new Error(`--scenario=${name}: there are ${Object.keys(scenarios).join(", ")}`);
}

function wholeNumber(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error(`--${flag}=${text}: not a whole number`);
}

async function runMany(scenario: Scenario, wishes: Wishes): Promise<boolean> {
  const beganMs = performance.now();
  const outcome = wishes.processes > 1
    ? await runSpread(scenario, wishes)
    : await runHere(scenario, wishes);
  if (wishes.json) console.log(JSON.stringify(outcome));
  else report(scenario, outcome, (performance.now() - beganMs) / 1_000);
  return outcome.failure === null;
}

async function runHere(
  scenario: Scenario,
  { from, seeds }: Pick<Wishes, "from" | "seeds">,
): Promise<Outcome> {
  const { runs, steps, failed, sometimes } = await simulateMany(scenario, { from, seeds });
  const failure = failed === null ? null : explain(failed);
  return { runs, steps, counts: [...sometimes.counts], failure };
}

/** Hands parts of the seeds to processes until all are done or one has failed. */
async function runSpread(scenario: Scenario, wishes: Wishes): Promise<Outcome> {
  const { from, seeds, processes } = wishes;
  const parts = Array.from({ length: Math.ceil(seeds / PART_SEEDS) }, (_, at) => ({
    from: from + at * PART_SEEDS,
    seeds: Math.min(PART_SEEDS, seeds - at * PART_SEEDS),
  }));
  const sometimes = new Sometimes();
  let [runs, steps] = [0, 0];
  let failure: string | null = null;
  async function work(): Promise<void> {
    for (let part; failure === null && (part = parts.shift()) !== undefined;) {
      const outcome = await runElsewhere(scenario, part);
      runs += outcome.runs;
      steps += outcome.steps;
      failure ??= outcome.failure;
      sometimes.add(new Map(outcome.counts));
      console.log(`${new Date().toISOString()} ${scenario.name}: ${runs} of ${seeds} seeds`);
    }
  }
  await Promise.all(Array.from({ length: processes }, work));
  return { runs, steps, counts: [...sometimes.counts], failure };
}

async function runElsewhere(
  { name }: Scenario,
  { from, seeds }: { from: number; seeds: number },
): Promise<Outcome> {
  const flags = [`--scenario=${name}`, `--from=${from}`, `--seeds=${seeds}`, "--json"];
  const { stdout, code, signal } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-all", fileURLToPath(import.meta.url), ...flags],
    stderr: "inherit",
  }).output();
  if (stdout.length > 0) return JSON.parse(new TextDecoder().decode(stdout));
  const failure = `seeds ${from} to ${from + seeds - 1}: their process ended by ${signal ?? code}`;
  return { runs: 0, steps: 0, counts: [], failure };
}

function report(
  { name }: Scenario,
  { runs, steps, counts, failure }: Outcome,
  seconds: number,
): void {
  if (failure !== null) return console.log(failure);
  console.log(`scenario ${name}: ${runs} seeds ok, ${steps} events, ${seconds.toFixed(1)} s`);
  for (const [what, count] of counts.toSorted()) {
    console.log(`  ${String(count).padStart(8)}  ${what}`);
  }
}

async function runOne(scenario: Scenario, seed: number, trace: boolean): Promise<boolean> {
  const result = await simulate({ seed, scenario, keepTrace: trace });
  if (trace) console.log(result.trace.join("\n"));
  console.log(
    result.failure === null ? summary(result) : explain(result, trace ? { lines: 0 } : {}),
  );
  return result.failure === null;
}

function summary(result: RunResult): string {
  const settled = ((result.settledAfterMs ?? 0) / 1_000).toFixed(1);
  return `scenario ${result.scenario}, seed ${result.seed}: ok, ${result.steps} events, ` +
    `settled ${settled} s after healing, trace ${result.hash}`;
}

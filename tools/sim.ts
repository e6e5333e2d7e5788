/**
 * `deno task sim`: runs simulated scenarios from seeds, and replays one seed.
 *
 *   deno task sim                                   every scenario, 500 seeds each
 *   deno task sim --scenario=lease --seeds=10000    more seeds of one scenario
 *   deno task sim --scenario=lease --seed=42 --trace   one run, with all that happened in it
 */
import { parseArgs } from "node:util";
import { scenarios } from "../tests/sim/scenarios.ts";
import { explain, type RunResult, simulate, simulateMany } from "../tests/sim/simulate.ts";
import type { Scenario } from "../tests/sim/world.ts";

const SEEDS = 500;

interface Wishes {
  readonly chosen: readonly Scenario[];
  readonly seed: number | undefined;
  readonly seeds: number;
  readonly trace: boolean;
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
      ? await runMany(scenario, wishes.seeds)
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
        seeds: { type: "string", default: String(SEEDS) },
        scenario: { type: "string" },
        trace: { type: "boolean", default: false },
      },
    });
    return {
      chosen: choose(values.scenario),
      seed: values.seed === undefined ? undefined : wholeNumber("seed", values.seed),
      seeds: wholeNumber("seeds", values.seeds),
      trace: values.trace,
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

async function runMany(scenario: Scenario, seeds: number): Promise<boolean> {
  const beganMs = performance.now();
  const { runs, failed, sometimes, steps } = await simulateMany(scenario, { seeds });
  if (failed !== null) {
    console.log(explain(failed));
    return false;
  }
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
  console.log(`scenario ${scenario.name}: ${runs} seeds ok, ${steps} events, ${seconds} s`);
  for (const [what, count] of [...sometimes.counts].sort()) {
    console.log(`  ${String(count).padStart(8)}  ${what}`);
  }
  return true;
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

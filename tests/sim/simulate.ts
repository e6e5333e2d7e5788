/** Runs one scenario with one seed: faults, then healing, then all must settle. */
import { type FaultRates, Sometimes } from "./faults.ts";
import { promisesSettled } from "./scheduler.ts";
import { type Checks, type Scenario, World } from "./world.ts";

/** No run needs this many events: beyond it a program does something over and over without waiting. */
const STEPS_MAX = 300_000;

export interface RunOptions {
  seed: number;
  scenario: Scenario;
  /** Keep every line of the trace, not only the last ones. */
  keepTrace?: boolean;
  /** Instead of the faults that the seed draws. */
  faults?: FaultRates;
}

export interface RunResult {
  readonly seed: number;
  readonly scenario: string;
  /** What was violated, or null. */
  readonly failure: string | null;
  /** The same seed gives the same hash: it covers every line of the trace. */
  readonly hash: string;
  readonly trace: readonly string[];
  /** Events that were run, and when in virtual time the run ended. */
  readonly steps: number;
  readonly endMs: number;
  /** How long after healing all was well; null if never. */
  readonly settledAfterMs: number | null;
  readonly sometimes: ReadonlyMap<string, number>;
}

/** Runs one seed. A violation is in the result, with the trace that led to it. */
export async function simulate(options: RunOptions): Promise<RunResult> {
  const { seed, scenario } = options;
  const world = new World({
    seed,
    ...(options.keepTrace === undefined ? {} : { keepTrace: options.keepTrace }),
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    ...(scenario.traffic === undefined ? {} : { traffic: scenario.traffic }),
  });
  const run = new Run(world, scenario);
  const onUnhandled = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    run.fail(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", onUnhandled);
  try {
    await run.all();
  } catch (thrown) {
    run.fail(thrown);
  } finally {
    world.close();
    globalThis.removeEventListener("unhandledrejection", onUnhandled);
  }
  return run.result(seed);
}

/** Runs many seeds; stops at the first that fails. */
export async function simulateMany(
  scenario: Scenario,
  { from = 1, seeds }: { from?: number; seeds: number },
): Promise<{ runs: number; failed: RunResult | null; sometimes: Sometimes; steps: number }> {
  const sometimes = new Sometimes();
  let steps = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const result = await simulate({ seed, scenario });
    sometimes.add(result.sometimes);
    steps += result.steps;
    if (result.failure !== null) return { runs: seed - from + 1, failed: result, sometimes, steps };
  }
  return { runs: seeds, failed: null, sometimes, steps };
}

/** Says what failed, what led to it, and how to see it again. */
export function explain(result: RunResult, { lines = 40 }: { lines?: number } = {}): string {
  return [
    `scenario ${result.scenario}, seed ${result.seed}: ${result.failure ?? "ok"}`,
    ...result.trace.slice(-lines),
    `replay: deno task sim --seed=${result.seed} --scenario=${result.scenario}`,
  ].join("\n");
}

class Run {
  readonly #world: World;
  readonly #scenario: Scenario;
  #failure: string | null = null;
  #settledSinceMs: number | null = null;
  #healedMs = 0;

  constructor(world: World, scenario: Scenario) {
    this.#world = world;
    this.#scenario = scenario;
  }

  fail(thrown: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = thrown instanceof Error ? thrown.message : String(thrown);
    this.#world.trace.add(this.#world.nowMs, "*", `FAILED: ${this.#failure}`);
  }

  async all(): Promise<void> {
    const { chaosMs, settleMs } = this.#scenario;
    const checks = await this.#scenario.build(this.#world);
    await promisesSettled();
    this.#world.begin();
    await this.#world.scheduler.runUntil(chaosMs, () => this.#check(checks));
    if (this.#failure !== null) return;
    this.#world.heal();
    this.#healedMs = this.#world.nowMs;
    await this.#world.scheduler.runUntil(chaosMs + settleMs, () => this.#checkSettling(checks));
    if (this.#failure !== null) return;
    if (!this.#isSteady()) throw new Error(`not settled ${settleMs} ms after all faults ended`);
    checks.atEnd?.();
  }

  result(seed: number): RunResult {
    const { trace, scheduler, sometimes } = this.#world;
    const since = this.#settledSinceMs;
    return {
      seed,
      scenario: this.#scenario.name,
      failure: this.#failure,
      hash: trace.hash(),
      trace: trace.lines(),
      steps: scheduler.steps,
      endMs: scheduler.nowMs,
      settledAfterMs: since === null ? null : since - this.#healedMs,
      sometimes: sometimes.counts,
    };
  }

  #check(checks: Checks): "go on" | "stop" {
    try {
      const { steps } = this.#world.scheduler;
      if (steps > STEPS_MAX) throw new Error(`${steps} steps: something runs in circles`);
      checks.afterEach?.();
    } catch (thrown) {
      this.fail(thrown);
    }
    return this.#failure === null ? "go on" : "stop";
  }

  #checkSettling(checks: Checks): "go on" | "stop" {
    if (this.#check(checks) === "stop") return "stop";
    if (!checks.settled()) this.#settledSinceMs = null;
    else this.#settledSinceMs ??= this.#world.nowMs;
    return this.#isSteady() ? "stop" : "go on";
  }

  #isSteady(): boolean {
    const since = this.#settledSinceMs;
    return since !== null && this.#world.nowMs - since >= this.#scenario.steadyMs;
  }
}

/**
 * Measures a subject beside its floor in the same run: floor, subject, floor, subject, so that whatever else the machine
 * does falls on both. Absolute times mean little on a shared machine; the ratio does.
 */
import {
  type Aim,
  ratioOf,
  type Result,
  type Sample,
  type SideSummary,
  summariseSide,
} from "./summary.ts";

export interface Side {
  readonly name: string;
  /** Does the work once and says what it cost. */
  run(): Promise<Sample>;
}

export interface Scenario {
  readonly name: string;
  readonly what: string;
  /** The least that the work can cost. */
  readonly floor: Side;
  readonly subject: Side;
  readonly aim?: Aim;
  /** Rounds that are not measured; one, if it does not say. More for programs that run for days and become quicker at first. */
  readonly warmups?: number;
  /** Lines about the runs that time and CPU do not tell. */
  notes?(): readonly string[];
}

/** What one bench file offers: scenarios that share servers, and how to end those. Or why it cannot run here. */
export type Opened =
  | { readonly scenarios: readonly Scenario[]; close(): Promise<void> }
  | { readonly skipped: string };

/** Runs a scenario `repeats` times after unmeasured rounds that fill caches and have the code compiled. */
export async function measure(
  scenario: Scenario,
  { repeats }: { repeats: number },
): Promise<Result> {
  const { floor, subject, aim, warmups = 1 } = scenario;
  const samples: Record<"floor" | "subject", Sample[]> = { floor: [], subject: [] };
  for (let round = 0; round < warmups; round++) {
    await floor.run();
    await subject.run();
  }
  for (let round = 0; round < repeats; round++) {
    samples.floor.push(await floor.run());
    samples.subject.push(await subject.run());
  }
  const floorSummary = summariseSide(floor.name, samples.floor);
  const subjectSummary = summariseSide(subject.name, samples.subject);
  return {
    scenario: scenario.name,
    what: scenario.what,
    repeats,
    floor: floorSummary,
    subject: subjectSummary,
    ...judged(floorSummary, subjectSummary, aim),
    notes: scenario.notes?.() ?? [],
  };
}

function judged(
  floor: SideSummary,
  subject: SideSummary,
  aim: Aim | undefined,
): Pick<Result, "ratio" | "aim"> {
  const ratio = ratioOf(subject, floor);
  return aim === undefined
    ? { ratio }
    : { ratio, aim: { ...aim, met: ratio[aim.of] <= aim.ratio } };
}

/** Times `work`; `cpu` reads the CPU seconds used so far by all that takes part in it. */
export async function sample(work: () => Promise<void>, cpu: () => number): Promise<Sample> {
  const cpuBefore = cpu();
  const before = performance.now();
  await work();
  const seconds = (performance.now() - before) / 1_000;
  return { seconds, cpuSeconds: cpu() - cpuBefore };
}

/** Turns samples of a subject and of its floor into medians, spreads and ratios. Pure. */

/** One run: how long it took, and the CPU time that it cost all processes involved. NaN where that cannot be known. */
export interface Sample {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface SideSummary {
  readonly name: string;
  readonly seconds: Spread;
  readonly cpuSeconds: Spread;
}

/** What a ratio is made of. */
export type Measure = "seconds" | "cpuSeconds";

/** The ratio to stay within. */
export interface Aim {
  readonly ratio: number;
  readonly of: Measure;
}

export interface Result {
  readonly scenario: string;
  readonly what: string;
  readonly repeats: number;
  readonly floor: SideSummary;
  readonly subject: SideSummary;
  /** Subject over floor, of the medians. */
  readonly ratio: Readonly<Record<Measure, number>>;
  readonly aim?: Aim & { readonly met: boolean };
  readonly notes: readonly string[];
}

/** Median, smallest and largest; NaN for no values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? NaN;
  const high = sorted[Math.floor(middle)] ?? NaN;
  return { median: (low + high) / 2, min: sorted[0] ?? NaN, max: sorted.at(-1) ?? NaN };
}

/** The samples of one side. */
export function summariseSide(name: string, samples: readonly Sample[]): SideSummary {
  return {
    name,
    seconds: spreadOf(samples.map((sample) => sample.seconds)),
    cpuSeconds: spreadOf(samples.map((sample) => sample.cpuSeconds)),
  };
}

/** Subject over floor. */
export function ratioOf(subject: SideSummary, floor: SideSummary): Record<Measure, number> {
  return {
    seconds: subject.seconds.median / floor.seconds.median,
    cpuSeconds: subject.cpuSeconds.median / floor.cpuSeconds.median,
  };
}

/** A result as lines for people. */
export function renderResult(result: Result): string {
  const { floor, subject, ratio, aim } = result;
  const width = Math.max(floor.name.length, subject.name.length, "ratio".length);
  const rows = [floor, subject].map((side) =>
    `  ${side.name.padEnd(width)}  ${renderSpread(side.seconds)}  CPU ${
      renderSpread(side.cpuSeconds)
    }`
  );
  const judged = aim === undefined
    ? ""
    : `  (aim: ${aim.ratio} in ${aim.of === "seconds" ? "time" : "CPU time"}: ${
      aim.met ? "met" : "MISSED"
    })`;
  const ratios = `time ${renderRatio(ratio.seconds)}  CPU ${renderRatio(ratio.cpuSeconds)}`;
  return [
    `${result.scenario}: ${result.what} (${result.repeats} repeats, median [min–max])`,
    ...rows,
    `  ${"ratio".padEnd(width)}  ${ratios}${judged}`,
    ...result.notes.map((note) => `  ${note}`),
  ].join("\n");
}

function renderSpread({ median, min, max }: Spread): string {
  return `${renderSeconds(median).padStart(8)} [${renderSeconds(min)}–${renderSeconds(max)}]`;
}

/** Three digits in the unit that fits. */
export function renderSeconds(seconds: number): string {
  if (Number.isNaN(seconds)) return "–";
  if (seconds >= 1) return `${seconds.toPrecision(3)} s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return `${(seconds * 1e6).toPrecision(3)} µs`;
}

function renderRatio(ratio: number): string {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : "–";
}

/** Every flag of the CLI, once: the parser and the help are made from it. One name means one thing everywhere. */

/** Forms in which an answer can be printed. */
export const OUTPUTS = ["table", "wide", "json", "jsonl", "yaml", "text", "ids"] as const;
export type Output = typeof OUTPUTS[number];

/** When to use colour. */
export const COLORS = ["auto", "always", "never"] as const;
export type Color = typeof COLORS[number];

/** How much of a run is printed. */
export const SHOWS = ["changes", "failed", "all", "summary"] as const;
export type Show = typeof SHOWS[number];

interface FlagSpec {
  readonly long: `--${string}`;
  readonly short?: `-${string}`;
  /** What the value looks like; a flag without it takes none. */
  readonly value?: string;
  readonly help: string;
}

/** The table, in the order of the help. */
export const FLAGS = {
  output: {
    long: "--output",
    short: "-o",
    value: OUTPUTS.join("|"),
    help: "form of the answer",
  },
  fields: {
    long: "--fields",
    value: "a,b.c",
    help: "only these members, as columns or data; the names are those of -o json",
  },
  show: {
    long: "--show",
    value: SHOWS.join("|"),
    help: "how much of a run: what changed, answered or failed (default), or less, or more",
  },
  watch: { long: "--watch", short: "-w", help: "stay and update a list; Ctrl-C ends it" },
  test: { long: "--test", help: "dry run: say what would change, and change nothing" },
  detailedExit: {
    long: "--detailed-exit",
    help: "exit with 6 when something changed, or with --test would change",
  },
  direct: {
    long: "--direct",
    help: "command peels without a master and without a job; needs the role for it",
  },
  timeout: {
    long: "--timeout",
    value: "5m",
    help: "how long to wait for peels (default 60s; state.apply 5m, highstate 10m)",
  },
  async: { long: "--async", help: "print the job id and return; job watch follows it" },
  batch: { long: "--batch", value: "N|N%", help: "rolling run: so many peels at a time" },
  batchWait: { long: "--batch-wait", value: "30s", help: "pause between the peels of a batch" },
  maxFail: { long: "--max-fail", value: "N|N%", help: "stop a rolling run when more have failed" },
  limit: {
    long: "--limit",
    value: "N|N%",
    help: "at most so many: of the peels that match, or rows",
  },
  seed: { long: "--seed", value: "WORD", help: "the same word gives the same sample with --limit" },
  failed: { long: "--failed", help: "only what failed (job list, job rerun)" },
  silent: { long: "--silent", help: "only who did not answer (job rerun)" },
  function: { long: "--function", value: "NAME", help: "only jobs of this function (job list)" },
  user: { long: "--user", value: "NAME", help: "only jobs of this operator (job list)" },
  since: { long: "--since", value: "24h|TIME", help: "only what is newer than that (job list)" },
  context: { long: "--context", value: "NAME", help: "fleet to use, by name or path" },
  color: { long: "--color", value: COLORS.join("|"), help: "colours; NO_COLOR is honoured" },
  noProgress: { long: "--no-progress", help: "nothing live while a job runs" },
  origin: { long: "--origin", help: "say where each value comes from (context show)" },
  quiet: { long: "--quiet", short: "-q", help: "only the answer" },
  verbose: { long: "--verbose", short: "-v", help: "say more on the way, and why errors happened" },
  help: { long: "--help", short: "-h", help: "help for what is on the line" },
} as const satisfies Record<string, FlagSpec>;

export type FlagName = keyof typeof FLAGS;

const SPECS: readonly FlagSpec[] = Object.values(FLAGS);

/** Whether the word after this one is its value, and not a word of its own. */
export function takesNextWord(word: string): boolean {
  return SPECS.some(({ long, short, value }) =>
    value !== undefined && (word === long || word === short)
  );
}

/** What the value of a flag looks like. */
export function valueForm(long: string): string {
  return SPECS.find((spec) => spec.long === long)?.value ?? "";
}

/** Flags that a run takes; the others are for lists and for what else there is. */
export const RUN_FLAG_NAMES: readonly FlagName[] = [
  "output",
  "fields",
  "show",
  "test",
  "detailedExit",
  "direct",
  "timeout",
  "async",
  "batch",
  "batchWait",
  "maxFail",
  "limit",
  "seed",
  "context",
  "color",
  "noProgress",
  "quiet",
  "verbose",
];

/** Two lines per flag, for the help: all flags, or those named. */
export function flagHelp(names?: readonly FlagName[]): string {
  const specs: readonly FlagSpec[] = names === undefined ? SPECS : names.map((name) => FLAGS[name]);
  const shown = specs.map(({ long, short, value, help }) => {
    const names = short === undefined ? long : `${short}, ${long}`;
    return { names: value === undefined ? names : `${names} ${value}`, help };
  });
  return shown.map(({ names, help }) => `  ${names}\n        ${help}`).join("\n");
}

/** Values that every command takes. */
export interface CommonFlags {
  readonly output?: Output;
  readonly fields?: readonly string[];
  readonly context?: string;
  readonly color?: Color;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Values that lists take. */
export interface ListFlags extends CommonFlags {
  readonly watch?: boolean;
}

/** Every flag of the CLI, once: the parser and the help are made from it. One name means one thing everywhere. */

/** Forms in which an answer can be printed. */
export const OUTPUTS = ["table", "json", "jsonl", "yaml", "text", "ids"] as const;
export type Output = typeof OUTPUTS[number];

/** When to use colour. */
export const COLORS = ["auto", "always", "never"] as const;
export type Color = typeof COLORS[number];

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

/** One line per flag, for the help. */
export function flagHelp(): string {
  const shown = SPECS.map(({ long, short, value, help }) => {
    const names = short === undefined ? long : `${short}, ${long}`;
    return { names: value === undefined ? names : `${names} ${value}`, help };
  });
  return shown.map(({ names, help }) => `  ${names}\n        ${help}`).join("\n");
}

/** Values that every command takes. */
export interface CommonFlags {
  readonly output?: Output;
  readonly context?: string;
  readonly color?: Color;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

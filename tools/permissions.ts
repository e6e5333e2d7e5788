/**
 * Reads the permission flags of each program from the one place that says them, its task in `deno.json`
 * (`deno run --no-prompt --allow-… X/main.ts`), so that compiled and started programs get exactly the same.
 */
import config from "../deno.json" with { type: "json" };

/** The tasks of `deno.json` that start a program. */
export type Entrypoint = "master" | "peel" | "cli" | "broker";

export interface EntrypointCommand {
  /** Everything between `run` and the file: `--no-prompt`, `--allow-…`, `--deny-…`. */
  readonly flags: string[];
  /** The program's file, relative to the root of the repository. */
  readonly main: string;
}

/** The flags and the file of one program. */
export function entrypointFlags(name: Entrypoint): EntrypointCommand {
  return parseEntrypointTask(config.tasks[name], name);
}

/** The `unstable` features of `deno.json` as flags, for a program that runs without that file. */
export function unstableFlags(): string[] {
  return config.unstable.map((feature) => `--unstable-${feature}`);
}

/**
 * Splits a task line into flags and file. It refuses whatever it would have to guess about: quotes, variables, several
 * commands, arguments of the program.
 */
export function parseEntrypointTask(line: string, name: string): EntrypointCommand {
  const refuse = (why: string): never => {
    throw new Error(`deno.json: task "${name}": ${why}: ${line}`);
  };
  if (/["'`$\\;&|<>]/.test(line)) refuse("has shell syntax, which compile and up cannot reuse");
  const words = line.trim().split(/\s+/);
  if (words[0] !== "deno" || words[1] !== "run") refuse('does not begin with "deno run"');
  const main = words.at(-1) ?? "";
  if (!main.endsWith("/main.ts")) refuse("does not end with a main.ts");
  const flags = words.slice(2, -1);
  const stray = flags.find((flag) => !flag.startsWith("-"));
  if (stray !== undefined) refuse(`"${stray}" is not a flag (write values as --flag=value)`);
  if (!flags.includes("--no-prompt")) refuse("lacks --no-prompt: a daemon cannot answer a prompt");
  return { flags, main };
}

/** Prints a list in the form that was asked for. */
import type { CommonFlags } from "../commands/flags.ts";
import type { Io } from "../io.ts";
import type { ListStyle } from "./job_text.ts";
import { jsonLine } from "./run_data.ts";
import { chooseStyle } from "./style.ts";

export interface Listed<T> {
  readonly rows: readonly T[];
  readonly nowMs: number;
}

/** How one kind of row looks in each form. */
export interface ListForms<T> {
  table(rows: readonly T[], list: ListStyle): string;
  data(row: T): Record<string, unknown>;
  id(row: T): string;
  /** Said on stderr when there are none. */
  readonly none: string;
}

/** Prints rows; an empty table says so instead. */
export async function printList<T>(
  { rows, nowMs }: Listed<T>,
  forms: ListForms<T>,
  flags: CommonFlags,
  io: Io,
): Promise<void> {
  switch (flags.output ?? "table") {
    case "json":
      return io.stdout(`${JSON.stringify(rows.map(forms.data), null, 2)}\n`);
    case "jsonl":
      return io.stdout(rows.map((row) => jsonLine(forms.data(row))).join(""));
    case "yaml":
      return io.stdout(await yaml(rows.map(forms.data)));
    case "ids":
      return io.stdout(rows.map((row) => `${forms.id(row)}\n`).join(""));
    default:
      if (rows.length > 0) return io.stdout(forms.table(rows, listStyle(flags, nowMs, io)));
      if (!flags.quiet) io.stderr(`${forms.none}\n`);
  }
}

/** Prints one thing; `ids` are those that it consists of. */
export async function printOne(
  one: { screen(list: ListStyle): string; data(): Record<string, unknown>; ids(): string[] },
  nowMs: number,
  flags: CommonFlags,
  io: Io,
): Promise<void> {
  switch (flags.output ?? "text") {
    case "json":
      return io.stdout(`${JSON.stringify(one.data(), null, 2)}\n`);
    case "jsonl":
      return io.stdout(jsonLine(one.data()));
    case "yaml":
      return io.stdout(await yaml(one.data()));
    case "ids":
      return io.stdout(one.ids().map((id) => `${id}\n`).join(""));
    default:
      return io.stdout(one.screen(listStyle(flags, nowMs, io)));
  }
}

function listStyle({ color = "auto" }: CommonFlags, nowMs: number, io: Io): ListStyle {
  const isTerminal = io.stdoutIsTerminal;
  return { style: chooseStyle({ flag: color, env: io.env, isTerminal }), isTerminal, nowMs };
}

async function yaml(value: unknown): Promise<string> {
  const { dump } = await import("js-yaml");
  return dump(value);
}

/** Prints a list in the form that was asked for. */
import { ZesterError } from "../../core/errors.ts";
import type { CommonFlags } from "../commands/flags.ts";
import type { Io } from "../io.ts";
import { fieldTable, pickFields } from "./fields.ts";
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
  listed: Listed<T>,
  forms: ListForms<T>,
  flags: CommonFlags,
  io: Io,
): Promise<void> {
  const text = await listText(listed, forms, flags, io);
  io.stdout(text);
  if (text === "" && isTable(flags) && !flags.quiet) io.stderr(`${forms.none}\n`);
}

/** Whether the answer is for people. */
export function isTable({ output = "table" }: CommonFlags): boolean {
  return output === "table" || output === "text" || output === "wide";
}

/** The list as it is printed; no rows are no text, but for `json` and `yaml`, which say `[]`. */
export async function listText<T>(
  { rows, nowMs }: Listed<T>,
  forms: ListForms<T>,
  flags: CommonFlags,
  io: Io,
): Promise<string> {
  const { fields, output = "table" } = flags;
  const all = () => rows.map((row) => forms.data(row));
  const data = () => fields === undefined ? all() : pickFields(all(), fields);
  switch (output) {
    case "json":
      return `${JSON.stringify(data(), null, 2)}\n`;
    case "jsonl":
      return data().map((row) => jsonLine(row)).join("");
    case "yaml":
      return await yaml(data());
    case "ids":
      return rows.map((row) => `${forms.id(row)}\n`).join("");
    default: {
      if (rows.length === 0) return "";
      const list = listStyle(flags, nowMs, io);
      return fields === undefined
        ? forms.table(rows, list)
        : fieldTable(data(), fields, list.style);
    }
  }
}

/** Prints one thing; `ids` are those that it consists of. */
export async function printOne(
  one: { screen(list: ListStyle): string; data(): Record<string, unknown>; ids(): string[] },
  nowMs: number,
  flags: CommonFlags,
  io: Io,
): Promise<void> {
  const { fields, output = "text" } = flags;
  const data = () => fields === undefined ? one.data() : pickFields([one.data()], fields)[0] ?? {};
  switch (output) {
    case "json":
      return io.stdout(`${JSON.stringify(data(), null, 2)}\n`);
    case "jsonl":
      return io.stdout(jsonLine(data()));
    case "yaml":
      return io.stdout(await yaml(data()));
    case "ids":
      return io.stdout(one.ids().map((id) => `${id}\n`).join(""));
    default: {
      const list = listStyle(flags, nowMs, io);
      return io.stdout(
        fields === undefined ? one.screen(list) : fieldTable([data()], fields, list.style),
      );
    }
  }
}

/** How lists are drawn here. */
export function listStyle(
  { color = "auto", output }: CommonFlags,
  nowMs: number,
  io: Io,
): ListStyle {
  const isTerminal = io.stdoutIsTerminal;
  return {
    style: chooseStyle({ flag: color, env: io.env, isTerminal }),
    isTerminal,
    nowMs,
    // Programs that read a table get all of it, as whoever asks for it does.
    columns: isTerminal && output !== "wide" ? io.columns() : Infinity,
    wide: output === "wide",
  };
}

async function yaml(value: unknown): Promise<string> {
  const { dump } = await import("js-yaml");
  return dump(value);
}

/** What `-w` cannot be combined with: a document that never ends cannot be read. */
export function checkWatch({ watch, output = "table" }: CommonFlags & { watch?: boolean }): void {
  if (!watch || (output !== "json" && output !== "yaml")) return;
  throw new ZesterError("usage", `-w: -o ${output} is one document, which would never end`, {
    fix: "-o jsonl prints one document per change",
  });
}

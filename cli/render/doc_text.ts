/** The shipped functions for people and for programs. */
import type { ModuleDoc } from "../../core/module/doc.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";

/** One row per function with what it does. */
export function docTable(
  rows: readonly ModuleDoc[],
  { style, columns }: { style: Style; columns: number },
): string {
  const cells = rows.map(({ name, kind, summary }) => [name, kind, summary]);
  return table(["FUNCTION", "KIND", "WHAT IT DOES"], cells, style, {
    columns,
    flexible: "WHAT IT DOES",
  });
}

/** One line per namespace with the names in it, broken where the terminal ends. */
export function namespacesText(rows: readonly ModuleDoc[], columns: number): string {
  const names = new Map<string, string[]>();
  for (const { name } of rows) {
    const [namespace = "", rest = ""] = name.split(".");
    names.set(namespace, [...(names.get(namespace) ?? []), rest]);
  }
  const width = Math.max(...[...names.keys()].map((name) => name.length)) + 2;
  return [...names].map(([namespace, functions]) => {
    const lines = wrapped(functions, columns - width);
    return lines.map((line, at) => `${(at === 0 ? namespace : "").padEnd(width)}${line}\n`).join(
      "",
    );
  }).join("");
}

function wrapped(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last}, ${word}`;
    if (last === undefined || longer.length >= width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.map((line, at) => at < lines.length - 1 ? `${line},` : line);
}

/** One function for programs. Field names are part of the interface: they are added, never renamed. */
export function docData(doc: ModuleDoc): Record<string, unknown> {
  const { name, kind, summary, description, positional, primary, revert } = doc;
  return {
    name,
    kind,
    read_only: doc.isReadOnly,
    summary,
    description,
    params: doc.params.map(({ isSensitive, ...param }) => ({ ...param, sensitive: isSensitive })),
    takes_any: doc.isOpen,
    positional,
    primary,
    revert,
    examples: doc.examples,
    differences: doc.differences,
  };
}

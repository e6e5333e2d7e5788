/** `--fields a,b.c`: of each row only these members, under the names of `-o json`, whatever the form of the answer. */
import { ZesterError } from "../../core/errors.ts";
import { nearest } from "../../core/nearest.ts";
import { printable, printableJson } from "../../core/printable.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";

type Data = Readonly<Record<string, unknown>>;

/** The members wanted of each row, in the order in which they were named. A member that a row lacks is left out. */
export function pickFields(rows: readonly Data[], names: readonly string[]): Data[] {
  const known = new Set(rows.flatMap((row) => namesIn(row, "")));
  if (known.size > 0) checkFields(names, known); // without rows there is nothing to compare with
  return rows.map((row) => pickMembers(row, names));
}

/** The same for one row, where others may have what this one lacks. */
export function pickMembers(row: Data, names: readonly string[]): Data {
  return Object.fromEntries(
    names.map((name) => [name, memberOf(row, name.split("."))])
      .filter(([, value]) => value !== undefined),
  );
}

/** Rows of chosen members as a table. */
export function fieldTable(
  rows: readonly Data[],
  names: readonly string[],
  style: Style,
): string {
  const cells = rows.map((row) => names.map((name) => cellOf(row[name])));
  return table(names.map((name) => name.toUpperCase()), cells, style);
}

/** Throws `usage` for a name that is not known, with those that are. */
export function checkFields(names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, [...known]);
  const top = [...known].filter((name) => !name.includes("."));
  throw new ZesterError("usage", `--fields: there is no field "${printable(unknown)}"`, {
    fix: `${near === null ? "" : `did you mean \`${near}\`?\n`}fields: ${top.join(", ")}`,
  });
}

function namesIn(value: unknown, prefix: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => namesIn(each, prefix));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    `${prefix}${key}`,
    ...namesIn(member, `${prefix}${key}.`),
  ]);
}

/** Of a list, that member of each of its values. */
function memberOf(value: unknown, path: readonly string[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  if (Array.isArray(value)) {
    const found = value.map((each) => memberOf(each, path)).filter((each) => each !== undefined);
    return found.length === 0 ? undefined : found;
  }
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, first)) return undefined;
  return memberOf((value as Data)[first], rest);
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "-";
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value) && value.every((each) => typeof each !== "object")) {
    return printable(value.join(","));
  }
  return printableJson(JSON.stringify(value));
}

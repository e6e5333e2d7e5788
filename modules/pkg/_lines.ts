/** Reads what package managers print: lines of a name and a version. */

/** The second column by the first, for the lines that have both. */
export function columns(text: string, separator: RegExp = /\s+/): Map<string, string> {
  const rows = text.split("\n").map((row) => row.trim().split(separator));
  return new Map(
    rows.flatMap(([name, value]) => name && value ? [[name, value] as const] : []),
  );
}

/** Those of the names that the map knows. */
export function only(
  names: readonly string[],
  all: ReadonlyMap<string, string>,
): Map<string, string> {
  return new Map(
    names.flatMap((name) => {
      const value = all.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

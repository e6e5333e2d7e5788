/** How keys of the kernel are spelled, and the file in which their values are kept. Pure. */

const FOLDER = "/proc/sys";

/** What is wrong with a key; null when nothing is. */
export function wrongKey(key: string): string | null {
  const isPlain = /^[A-Za-z0-9_][A-Za-z0-9._/-]*$/.test(key) &&
    pathOf(key).split("/").slice(1).every((part) => part !== "" && part !== "." && part !== "..");
  return isPlain ? null : `${JSON.stringify(key)} is no key of the kernel`;
}

/** The file of a key: whichever of `.` and `/` comes first parts it, the other one stands for the first. */
export function pathOf(key: string): string {
  const isSlashed = /^[^./]*\//.test(key);
  const path = isSlashed ? key : key.replace(/[./]/g, (sign) => sign === "." ? "/" : ".");
  return `${FOLDER}/${path}`;
}

/** A pattern for `sysctl --pattern`, which some versions hold to the key and others to the whole line: only this key passes. */
export function patternOf(key: string): string {
  return `^${key.replace(/[./]/g, "[./]")} *(=|$)`;
}

/** The kernel parts values by tabs where people write blanks. */
export function isSameValue(one: string, other: string): boolean {
  return collapsed(one) === collapsed(other);
}

/** The value in one line. */
export function collapsed(value: string): string {
  return value.trim().replace(/\s+/g, " ");
}

/** The value that a file keeps for a key: the last line wins; null when it has none. */
export function keptValue(text: string, key: string): string | null {
  return text.split("\n").reduce<string | null>(
    (kept, line) => isOf(line, key) ? collapsed(line.slice(line.indexOf("=") + 1)) : kept,
    null,
  );
}

/** The text with one line for the key, where its first one was; null takes it out. */
export function withValue(text: string, key: string, value: string | null): string {
  const lines = text.replace(/\s+$/, "").split("\n").filter((line, index, all) =>
    !isOf(line, key) || all.findIndex((each) => isOf(each, key)) === index
  );
  const at = lines.findIndex((line) => isOf(line, key));
  const wanted = value === null ? [] : [`${key} = ${value}`];
  if (at >= 0) lines.splice(at, 1, ...wanted);
  else lines.push(...wanted);
  const left = lines.join("\n").replace(/^\n+/, "");
  return left === "" ? "" : `${left}\n`;
}

function isOf(line: string, key: string): boolean {
  const found = /^\s*-?\s*([A-Za-z0-9._/-]+)\s*=/.exec(line)?.[1];
  return found !== undefined && pathOf(found) === pathOf(key);
}

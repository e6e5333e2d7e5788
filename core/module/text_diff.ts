/** Shows how a text changed, as a unified diff that is never longer than a result may be. */
import { DIFF_BYTES_MAX, DIFF_LINES_COMPARED_MAX } from "../limits.ts";

const NO_FILE = "/dev/null";
const CONTEXT_LINES = 3;

/** A unified diff; empty when nothing changed. `null` is a file that is not there. */
export async function textDiff(
  path: string,
  from: string | null,
  to: string | null,
): Promise<string> {
  if (from === to) return "";
  const lines = (from ?? "").split("\n").length + (to ?? "").split("\n").length;
  if (lines > DIFF_LINES_COMPARED_MAX) return `${path}: ${lines} lines are too many to compare`;
  const names = { old: from === null ? NO_FILE : path, new: to === null ? NO_FILE : path };
  const patch = patchOfOnePlace(linesOf(from ?? ""), linesOf(to ?? "")) ??
    await patchOfSeveral(from ?? "", to ?? "");
  return capped(`--- ${names.old}\n+++ ${names.new}\n${patch}`);
}

/** Lines with their ends. */
function linesOf(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

/**
 * The patch of a text that changed in one place, where no line survives: nothing needs to be searched then. Null for any other.
 */
function patchOfOnePlace(from: readonly string[], to: readonly string[]): string | null {
  const shorter = Math.min(from.length, to.length);
  let before = 0;
  while (before < shorter && from[before] === to[before]) before++;
  let after = 0;
  while (after < shorter - before && from.at(-1 - after) === to.at(-1 - after)) after++;
  const removed = from.slice(before, from.length - after);
  const added = to.slice(before, to.length - after);
  const kept = new Set(added);
  if (removed.some((line) => kept.has(line))) return null;
  const first = Math.max(0, before - CONTEXT_LINES);
  const leading = from.slice(first, before);
  const trailing = from.slice(from.length - after).slice(0, CONTEXT_LINES);
  const around = leading.length + trailing.length;
  return [
    `@@ -${range(first, removed.length + around)} +${range(first, added.length + around)} @@\n`,
    ...[...leading.map(marked(" ")), ...removed.map(marked("-")), ...added.map(marked("+"))],
    ...trailing.map(marked(" ")),
  ].join("");
}

/** Of an empty range the line before it is named. */
function range(first: number, count: number): string {
  return `${count === 0 ? first : first + 1},${count}`;
}

function marked(mark: string): (line: string) => string {
  return (line) =>
    `${mark}${line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`}`;
}

/** Loaded when it is needed: most texts change in one place, and every worker would pay for it. */
async function patchOfSeveral(from: string, to: string): Promise<string> {
  const { createTwoFilesPatch } = await import("diff");
  const options = { context: CONTEXT_LINES };
  const patch = createTwoFilesPatch("", "", from, to, undefined, undefined, options);
  return patch.slice(patch.indexOf("@@"));
}

/** The beginning of a long text, at a line's end, with what was left out counted. */
function capped(text: string): string {
  if (text.length <= DIFF_BYTES_MAX) return text;
  const kept = text.slice(0, text.lastIndexOf("\n", DIFF_BYTES_MAX));
  const left = text.slice(kept.length).split("\n").length - 1;
  return `${kept}\n… ${left} more lines\n`;
}

/** The text of a file if it is text; null when it holds bytes that are none. */
export function textOf(content: Uint8Array): string | null {
  if (content.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return null; // not UTF-8
  }
}

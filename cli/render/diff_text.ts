/** What changed, for people: a unified diff in colours, no longer than a screen bears. */
import { DIFF_LINES_SHOWN_MAX } from "../../core/limits.ts";
import { printable, printableBlock } from "../../core/printable.ts";
import { ellipsis, paint, type Style } from "./style.ts";

/** A diff in lines; the rest of a long one is counted, unless all of it is wanted. */
export function diffLines(diff: string, style: Style, isWhole: boolean): string[] {
  const lines = printableBlock(diff.trimEnd()).split("\n");
  const begin = patchBegin(lines);
  const most = isWhole ? Infinity : DIFF_LINES_SHOWN_MAX;
  const shown = lines.slice(0, most).map((line, at) => at < begin ? line : painted(line, style));
  const more = lines.length - shown.length;
  if (more <= 0) return shown;
  return [
    ...shown,
    paint(style, "dim", `${ellipsis(style)} ${more} more lines (--show all prints them)`),
  ];
}

/** Where the unified diff begins, after what a module says in words; the end where there is none. */
function patchBegin(lines: readonly string[]): number {
  const at = lines.findIndex((line, at) =>
    line.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ")
  );
  return at < 0 ? lines.length : at;
}

function painted(line: string, style: Style): string {
  if (/^(---|\+\+\+) /.test(line)) return paint(style, "bold", line.trimEnd());
  if (line.startsWith("+")) return paint(style, "green", line);
  if (line.startsWith("-")) return paint(style, "red", line);
  return /^(@@|\\)/.test(line) ? paint(style, "dim", line) : line;
}

/** The same on one line: `/etc/motd +2 -1`, or the first line of what was said. */
export function diffInShort(diff: string): string {
  const lines = diff.trimEnd().split("\n");
  const begin = patchBegin(lines);
  if (begin > 0) return printable(lines[0] ?? "");
  const [from = "", to = ""] = lines.map((line) => line.slice("--- ".length).trim());
  const body = lines.slice(2);
  const count = (sign: string) => body.filter((line) => line.startsWith(sign)).length;
  const path = to === "/dev/null" ? from : to;
  return `${printable(path)} +${count("+")} -${count("-")}`;
}

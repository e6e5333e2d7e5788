/** What one peel did, below its line: answers, changes, and what went wrong, result by result. */
import { formatDuration } from "../../core/duration.ts";
import { printable, printableBlock } from "../../core/printable.ts";
import { diffInShort, diffLines } from "./diff_text.ts";
import { compositeOf, plainText } from "./plain_value.ts";
import type { Outcome, RunResult } from "./run_model.ts";
import { type Paint, paint, PLAIN, type Style } from "./style.ts";

/** How to draw it, and whether all of it is wanted. */
export interface Look {
  readonly style: Style;
  readonly isWhole: boolean;
}

/** For where colours would be in the way. */
export const PLAIN_LOOK: Look = { style: PLAIN, isWhole: false };

/** What a function that only answers has answered; null for states. */
export function valueOf({ results }: Pick<Outcome, "results">): string | null {
  const only = results.length === 1 ? results[0] : undefined;
  return only?.details["stdout"] ?? only?.details["result"] ?? null;
}

/** An answer as lines: what was said, then what was said on the side. */
export function answerText({ results }: Pick<Outcome, "results">): string {
  const { details } = results[0]!;
  const value = details["stdout"] ?? details["result"] ?? "";
  const composite = details["stdout"] === undefined ? compositeOf(value) : null;
  const said = composite === null ? printableBlock(value.trimEnd()) : plainText(composite);
  return [...(said === "" ? [] : [said]), ...labelled(details, ["stderr", "truncated"])].join("\n");
}

const LABEL_WIDTH = 8;

/** `stderr: one`, further lines below the first. */
function labelled(details: RunResult["details"], keys: readonly string[]): string[] {
  return keys.flatMap((key) => {
    const text = details[key] ?? "";
    if (text === "") return [];
    return printableBlock(text.trimEnd()).split("\n").map((line, at) =>
      `${(at === 0 ? `${key}:` : "").padEnd(LABEL_WIDTH)}${line}`.trimEnd()
    );
  });
}

/** What dry runs say of a state that they cannot look into. */
const UNSURE = /^cannot say: /;

/** `changed`, or for a dry run what can be said. */
export function changeWord({ results, test = false }: Outcome): string {
  if (!test) return "changed";
  const changed = results.filter((result) => result.changed);
  return changed.every(({ diff }) => UNSURE.test(diff)) ? "cannot say" : "would change";
}

/** `2 of 3 states`; of a single one there is nothing to count. */
export function stateCount({ results }: Outcome): string {
  if (results.length <= 1) return "";
  const changed = results.filter((result) => result.changed).length;
  return changed === 0 ? `${results.length} states` : `${changed} of ${results.length} states`;
}

/** What changed, or would: one state without its name, since the command line has it. */
export function changesText({ results, test = false }: Outcome, look: Look): string {
  const [only] = results;
  if (results.length === 1 && only !== undefined) return changeLines(only, test, look).join("\n");
  return results.filter((result) => look.isWhole || result.changed || result.skipped)
    .flatMap((result) => [headOf(result, look.style), ...inset(changeLines(result, test, look))])
    .join("\n");
}

function changeLines(result: RunResult, isTest: boolean, look: Look): string[] {
  const diff = result.diff.replace(UNSURE, "");
  return [
    ...(diff.trim() === "" ? [] : diffLines(diff, look.style, look.isWhole)),
    ...(isTest && look.isWhole ? grantLines(result) : []),
  ];
}

/** A dry run tells what the call would be allowed to touch. */
function grantLines({ details }: RunResult): string[] {
  const grant = details["grant"] ?? "";
  return grant === "" ? [] : labelled({ grant }, ["grant"]);
}

const SIGNS = {
  changed: { signs: ["~", "~"], paint: "yellow" },
  failed: { signs: ["✗", "x"], paint: "red" },
  skipped: { signs: ["○", "o"], paint: "dim" },
  same: { signs: ["=", "="], paint: "green" },
} as const satisfies Record<string, { signs: readonly [string, string]; paint: Paint }>;

function kindOf({ error, skipped, changed }: RunResult): keyof typeof SIGNS {
  if (error !== undefined) return "failed";
  return skipped ? "skipped" : changed ? "changed" : "same";
}

/** `~ file.managed:/etc/motd   12ms`. */
function headOf(result: RunResult, style: Style): string {
  const { signs: [sign, plain], paint: color } = SIGNS[kindOf(result)];
  const after = result.skipped
    ? `skipped${result.skipReason === undefined ? "" : `: ${printable(result.skipReason)}`}`
    : formatDuration(result.durationMs);
  const name = printable(result.name);
  return `${paint(style, color, style.unicode ? sign : plain)} ${name}   ${after}`;
}

function inset(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}

/** Why it failed, with what a command has said and what else is known. */
export function failureText({ error, results }: Outcome, look: Look): string {
  const [only] = results;
  if (results.length === 1 && only !== undefined) {
    return failureLines({ ...only, error: only.error ?? error }, look).join("\n");
  }
  const failed = results.filter((result) => result.error !== undefined);
  const isSaid = failed.some((result) => result.error === error);
  const parts = results.filter((result) => look.isWhole || kindOf(result) !== "same")
    .flatMap((result) => [
      headOf(result, look.style),
      ...inset(
        result.error === undefined ? changeLines(result, false, look) : failureLines(result, look),
      ),
    ]);
  return [...(error === undefined || isSaid ? [] : [printableBlock(error)]), ...parts].join("\n");
}

function failureLines({ error = "", details, diff }: RunResult, look: Look): string[] {
  const { code, fix, exitcode = "" } = details;
  const isSaid = exitcode === "" || error.includes(exitcode);
  return [
    `${printableBlock(error)}${code === undefined ? "" : ` (${printable(code)})`}`,
    ...labelled({ ...details, ...(isSaid ? {} : { exit: exitcode }) }, [
      "exit",
      "stdout",
      "stderr",
      "truncated",
    ]),
    ...(diff === "" ? [] : diffLines(diff, look.style, look.isWhole)),
    ...(fix === undefined ? [] : [`fix:    ${printable(fix)}`]),
  ];
}

/** What changed on one line, for tables. */
export function changesInShort({ results }: Outcome): string {
  return results.filter(({ changed }) => changed)
    .map(({ diff }) => diffInShort(diff.replace(UNSURE, ""))).filter(Boolean).join("; ");
}

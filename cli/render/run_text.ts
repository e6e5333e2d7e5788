/** A run for people: one line per peel as it answers, then what it adds up to. */
import { formatDuration } from "../../core/duration.ts";
import { displayPeelId } from "../../core/ids.ts";
import { printable, printableBlock } from "../../core/printable.ts";
import { type Outcome, type Run, type RunSummary, SILENCE, sortedOutcomes } from "./run_model.ts";
import { dot, type Paint, paint, type Style } from "./style.ts";
import { table } from "./table.ts";

/** Answers up to this long stand on the line of their peel; longer ones below it. */
const INLINE_LENGTH_MAX = 60;
/** Wide enough for `true` and `false`, so that pings line up. */
const VALUE_WIDTH = 5;
const INDENT = "    ";

/** The colour of each outcome. */
export const PAINTS: Readonly<Record<Outcome["status"], Paint>> = {
  ok: "green",
  changed: "yellow",
  failed: "red",
  canceled: "yellow",
  silent: "red",
};

/** Width of the column of peel ids, known as soon as the targets are. */
export function idWidth(targets: readonly string[]): number {
  return targets.reduce((width, peel) => Math.max(width, displayPeelId(peel).length), 0);
}

/** `web-01  true   12ms`, and lines below it where one is not enough. */
export function outcomeLines(outcome: Outcome, width: number, style: Style): string {
  const { head, time, note, block } = partsOf(outcome);
  const peel = printable(outcome.peel).padEnd(width);
  const word = paint(style, PAINTS[outcome.status], head.padEnd(VALUE_WIDTH));
  const line = [peel, word, time, note].filter((part) => part !== "").join("  ");
  const below = block === "" ? "" : `${indented(block)}\n`;
  return `${line.trimEnd()}\n${below}`;
}

export interface Parts {
  head: string;
  /** Empty for a peel that never answered. */
  time: string;
  note: string;
  block: string;
}

/** What is said of one peel, in parts. */
export function partsOf(outcome: Outcome): Parts {
  const parts = { time: formatDuration(outcome.durationMs), note: "", block: "" };
  switch (outcome.status) {
    case "silent":
      return { ...parts, head: "silent", time: "", note: printable(silenceOf(outcome)) };
    case "failed":
    case "canceled":
      return { ...parts, head: outcome.status, block: failureOf(outcome) };
    default: {
      const value = valueOf(outcome);
      if (value === null) {
        return { ...parts, head: `${outcome.status} ${stateCount(outcome)}`.trimEnd() };
      }
      if (isInline(value)) return { ...parts, head: printable(value.trimEnd()) };
      return { ...parts, head: outcome.status, block: printableBlock(value.trimEnd()) };
    }
  }
}

/** Masters mark a return that they made up in capitals; on a line that begins with "silent" that says nothing new. */
const MADE_UP = /^UNREACHABLE: /;

function silenceOf({ error, silence = "no_ack" }: Outcome): string {
  return error?.replace(MADE_UP, "") ?? SILENCE[silence];
}

/** What a function that only answers has answered; null for states. */
export function valueOf({ results }: Outcome): string | null {
  const only = results.length === 1 ? results[0] : undefined;
  return only?.details["stdout"] ?? only?.details["result"] ?? null;
}

function isInline(value: string): boolean {
  return value !== "" && value.length <= INLINE_LENGTH_MAX && !/[\r\n]/.test(value.trimEnd());
}

function stateCount({ results }: Outcome): string {
  if (results.length === 0) return "";
  const changed = results.filter((result) => result.changed).length;
  const many = `${results.length} ${results.length === 1 ? "state" : "states"}`;
  return changed === 0 ? many : `${changed} of ${many}`;
}

function failureOf({ error, results }: Outcome): string {
  const failed = results.filter((result) => result.error !== undefined && result.error !== error);
  const lines = failed.map(({ name, error }) => `${printable(name)}: ${printableBlock(error!)}`);
  return [...(error === undefined ? [] : [printableBlock(error)]), ...lines].join("\n");
}

function indented(block: string): string {
  return block.split("\n").map((line) => `${INDENT}${line}`).join("\n");
}

/** `3 peels in 48ms: 3 ok`. */
export function summaryLine(summary: RunSummary, durationMs: number, style: Style): string {
  const peels = `${summary.matched} ${summary.matched === 1 ? "peel" : "peels"}`;
  return `${peels} in ${formatDuration(durationMs)}: ${counts(summary, style)}\n`;
}

/** `2 ok · 1 failed`. */
export function counts(summary: RunSummary, style: Style): string {
  const words = (["ok", "changed", "failed", "canceled", "silent"] as const)
    .filter((status) => summary[status] > 0 || status === "ok")
    .map((status) => paint(style, PAINTS[status], `${summary[status]} ${status}`));
  return words.join(` ${dot(style)} `);
}

/** What was asked and who took it: the first lines of the story. */
export function headerLines(
  run: Run,
  asked: { target: string; timeoutMs: number | null },
  style: Style,
): string {
  const many = run.targets.length === 1 ? "peel" : "peels";
  const arrow = style.unicode ? "→" : "->";
  const target = `Target  ${printable(asked.target)}  ${arrow}  ${run.targets.length} ${many}`;
  const timeout = asked.timeoutMs === null
    ? ""
    : ` ${dot(style)} timeout ${formatDuration(asked.timeoutMs)}`;
  const by = `master ${printable(run.master ?? "?")}${timeout}`;
  return `${target}\nJob     ${printable(run.jid ?? "?")}   ${by}\n`;
}

/** All peels in one table, sorted. */
export function outcomeTable(run: Run, style: Style): string {
  const rows = sortedOutcomes(run).map((outcome) => {
    const [peel = "", result = "", ...rest] = cellsOf(outcome);
    return [peel, { text: result, paint: PAINTS[outcome.status] }, ...rest];
  });
  return table(["PEEL", "RESULT", "TIME", "NOTE"], rows, style);
}

/** A row has one line: of a block, its first. */
export function cellsOf(outcome: Outcome): string[] {
  const { head, time, note, block } = partsOf(outcome);
  const first = printable(block.split("\n")[0]!);
  const cut = first.length > INLINE_LENGTH_MAX ? `${first.slice(0, INLINE_LENGTH_MAX)}…` : first;
  const late = outcome.late ? "late" : "";
  return [printable(outcome.peel), head, time, [late, note || cut].filter(Boolean).join(": ")];
}

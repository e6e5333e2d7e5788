/** A run for people: one line per peel as it answers, then what it adds up to. */
import { formatDuration } from "../../core/duration.ts";
import { displayPeelId } from "../../core/ids.ts";
import { printable, printableBlock } from "../../core/printable.ts";
import {
  type Outcome,
  type Run,
  type RunSummary,
  SILENCE,
  sortedOutcomes,
  summarize,
} from "./run_model.ts";
import { dot, type Paint, paint, type Style } from "./style.ts";

/** Answers up to this long stand on the line of their peel; longer ones below it. */
const INLINE_LENGTH_MAX = 60;
/** Wide enough for `true` and `false`, so that pings line up. */
const VALUE_WIDTH = 5;
const INDENT = "    ";

const PAINTS: Readonly<Record<Outcome["status"], Paint>> = {
  ok: "green",
  changed: "yellow",
  failed: "red",
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

interface Parts {
  head: string;
  /** Empty for a peel that never answered. */
  time: string;
  note: string;
  block: string;
}

function partsOf(outcome: Outcome): Parts {
  const parts = { time: formatDuration(outcome.durationMs), note: "", block: "" };
  switch (outcome.status) {
    case "silent":
      return { ...parts, head: "silent", time: "", note: printable(silenceOf(outcome)) };
    case "failed":
      return { ...parts, head: "failed", block: failureOf(outcome) };
    default: {
      const value = valueOf(outcome);
      if (value === null) return { ...parts, head: `${outcome.status} ${stateCount(outcome)}` };
      if (isInline(value)) return { ...parts, head: printable(value.trimEnd()) };
      return { ...parts, head: outcome.status, block: printableBlock(value.trimEnd()) };
    }
  }
}

function silenceOf({ error, silence = "no_ack" }: Outcome): string {
  return error ?? SILENCE[silence];
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

function counts(summary: RunSummary, style: Style): string {
  const words = (["ok", "changed", "failed", "silent"] as const)
    .filter((status) => summary[status] > 0 || status === "ok")
    .map((status) => paint(style, PAINTS[status], `${summary[status]} ${status}`));
  return words.join(` ${dot(style)} `);
}

/** What was asked and who took it: the first lines of the story. */
export function headerLines(
  run: Run,
  asked: { target: string; timeoutMs: number },
  style: Style,
): string {
  const many = run.targets.length === 1 ? "peel" : "peels";
  const arrow = style.unicode ? "→" : "->";
  const target = `Target  ${printable(asked.target)}  ${arrow}  ${run.targets.length} ${many}`;
  const by = `master ${printable(run.master ?? "?")} ${dot(style)} timeout ${
    formatDuration(asked.timeoutMs)
  }`;
  return `${target}\nJob     ${printable(run.jid ?? "?")}   ${by}\n`;
}

/** The live line while a run goes on. */
export function progressLine(run: Run, style: Style): string {
  return ` ${run.outcomes.size}/${run.targets.length}   ${counts(summarize(run), style)}`;
}

/** All peels in one table, sorted. */
export function outcomeTable(run: Run, style: Style): string {
  const rows = sortedOutcomes(run).map((outcome) => ({
    paint: PAINTS[outcome.status],
    cells: cellsOf(outcome),
  }));
  const header = ["PEEL", "RESULT", "TIME", "NOTE"];
  const widths = header.map((name, at) =>
    rows.reduce((width, { cells }) => Math.max(width, cells[at]!.length), name.length)
  );
  const draw = (cells: readonly string[], how: Paint | null) =>
    cells.map((cell, at) => {
      const padded = cell.padEnd(widths[at]!);
      return at === 1 && how !== null ? paint(style, how, padded) : padded;
    }).join("  ").trimEnd();
  const lines = rows.map(({ cells, paint }) => draw(cells, paint));
  return [draw(header, null), ...lines].join("\n") + "\n";
}

/** A row has one line: of a block, its first. */
function cellsOf(outcome: Outcome): string[] {
  const { head, time, note, block } = partsOf(outcome);
  const first = printable(block.split("\n")[0]!);
  const cut = first.length > INLINE_LENGTH_MAX ? `${first.slice(0, INLINE_LENGTH_MAX)}…` : first;
  return [printable(outcome.peel), head, time, note || cut];
}

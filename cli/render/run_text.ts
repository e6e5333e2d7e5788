/** A run for people: one line per peel as it answers, then what it adds up to. */
import { formatDuration } from "../../core/duration.ts";
import { displayPeelId, isId } from "../../core/ids.ts";
import { printable } from "../../core/printable.ts";
import {
  answerText,
  changesInShort,
  changesText,
  changeWord,
  failureText,
  type Look,
  PLAIN_LOOK,
  stateCount,
  valueOf,
} from "./result_text.ts";
import { onlineCount, type Outcome, type Run, type RunSummary, SILENCE } from "./run_model.ts";
import { cut, dot, ellipsis, type Paint, paint, type Style } from "./style.ts";
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

/** What was printed below which peel already: the same of another is not printed again. */
export type Blocks = Map<string, string>;

/** `web-01  true   12ms`, and lines below it where one is not enough. */
export function outcomeLines(
  outcome: Outcome,
  width: number,
  look: Look,
  printed: Blocks = new Map(),
): string {
  const { head, time, note, block } = onceOnly(partsOf(outcome, look), outcome, printed);
  const peel = printable(outcome.peel).padEnd(width);
  const word = paint(look.style, PAINTS[outcome.status], head.padEnd(VALUE_WIDTH));
  const line = [peel, word, time, note].filter((part) => part !== "").join("  ");
  const below = block === "" ? "" : `${indented(block)}\n`;
  return `${line.trimEnd()}\n${below}`;
}

function onceOnly(parts: Parts, { peel, status }: Outcome, printed: Blocks): Parts {
  if (parts.block === "") return parts;
  const key = `${status}\n${parts.block}`;
  const first = printed.get(key);
  if (first !== undefined) return { ...parts, block: "", note: `same as ${printable(first)}` };
  printed.set(key, peel);
  return parts;
}

export interface Parts {
  head: string;
  /** Empty for a peel that never answered. */
  time: string;
  note: string;
  block: string;
}

/** What is said of one peel, in parts. */
export function partsOf(outcome: Outcome, look: Look = PLAIN_LOOK): Parts {
  const parts = { time: formatDuration(outcome.durationMs), note: "", block: "" };
  switch (outcome.status) {
    case "silent":
      return { ...parts, head: "silent", time: "", note: printable(silenceOf(outcome)) };
    case "failed":
    case "canceled":
      return { ...parts, head: outcome.status, block: failureText(outcome, look) };
    default: {
      if (valueOf(outcome) === null) {
        return { ...parts, head: stateHead(outcome), block: changesText(outcome, look) };
      }
      const answer = answerText(outcome);
      if (isInline(answer, outcome)) return { ...parts, head: answer };
      return { ...parts, head: wordOf(outcome), block: answer };
    }
  }
}

/** The word for an outcome: in a dry run nothing has changed. */
function wordOf(outcome: Outcome): string {
  return outcome.status === "changed" ? changeWord(outcome) : outcome.status;
}

function stateHead(outcome: Outcome): string {
  return `${wordOf(outcome)} ${stateCount(outcome)}`.trimEnd();
}

/** Masters mark a return that they made up in capitals; on a line that begins with "silent" that says nothing new. */
const MADE_UP = /^UNREACHABLE: /;

function silenceOf({ error, silence = "no_ack" }: Outcome): string {
  return error?.replace(MADE_UP, "") ?? SILENCE[silence];
}

/** Whether a peel has said more than that there was nothing to do. */
export function isAnswer(outcome: Outcome): boolean {
  return outcome.results.length === 0 || valueOf(outcome) !== null;
}

/** A short answer that is all there is stands on the line of its peel. */
function isInline(answer: string, { results }: Outcome): boolean {
  const { stderr = "", truncated = "" } = results[0]?.details ?? {};
  return answer !== "" && stderr === "" && truncated === "" && !answer.includes("\n") &&
    answer.length <= INLINE_LENGTH_MAX;
}

function indented(block: string): string {
  return block.split("\n").map((line) => `${INDENT}${line}`.trimEnd()).join("\n");
}

/** `3 peels in 48ms: 3 ok`. `isIdle`: all of them looked, and none had anything to do. */
export function summaryLine(
  summary: RunSummary,
  durationMs: number,
  style: Style,
  isIdle = false,
): string {
  const peels = `${summary.matched} ${summary.matched === 1 ? "peel" : "peels"}`;
  const idle = isIdle ? `, nothing ${summary.test ? "would change" : "to change"}` : "";
  return `${peels} in ${formatDuration(durationMs)}: ${counts(summary, style)}${idle}\n`;
}

/** `2 ok · 1 failed`. */
export function counts(summary: RunSummary, style: Style): string {
  const words = (["ok", "changed", "failed", "canceled", "silent"] as const)
    .filter((status, at, all) =>
      summary[status] > 0 || (at === 0 && all.every((each) => summary[each] === 0))
    )
    .map((status) => {
      const word = status === "changed" && summary.test ? "would change" : status;
      return paint(style, PAINTS[status], `${summary[status]} ${word}`);
    });
  return words.join(` ${dot(style)} `);
}

/** What the header is made from besides the run, and how wide it may be. */
export interface Asked {
  readonly target: string;
  readonly timeoutMs: number | null;
  readonly direct?: boolean | undefined;
  readonly test?: boolean | undefined;
}

/** What was asked, whom it is for and who took it: the first lines of the story. */
export function headerLines(run: Run, asked: Asked, style: Style, columns: number): string {
  return `${targetLine(run, asked, style, columns)}\n${jobLine(run, asked, style, columns)}\n`;
}

/** `Target  web-*  →  43 peels of 214   41 online · 2 offline`. */
function targetLine(run: Run, { target }: Asked, style: Style, columns: number): string {
  const { matched, enrolled } = run;
  const many = `${matched} ${matched === 1 ? "peel" : "peels"}`;
  const who = enrolled === null ? many : `${many} of ${enrolled}   ${presenceOf(run, style)}`;
  const rest = `  ${style.unicode ? "→" : "->"}  ${who}`;
  const room = Math.max(TARGET_WIDTH_MIN, columns - "Target  ".length - rest.length);
  return `Target  ${cut(printable(target), room, style)}${rest}`;
}

function presenceOf(run: Run, style: Style): string {
  const { offline, unheard } = run;
  return [
    `${onlineCount(run)} online`,
    ...(offline.size === 0 ? [] : [`${offline.size} offline`]),
    ...(unheard.size === 0 ? [] : [`${unheard.size} not known yet`]),
  ].join(` ${dot(style)} `);
}

/** A target may be long; less than this of it says nothing. */
const TARGET_WIDTH_MIN = 12;

/** `Job     2hPx1FNsSgJMqVn5bLSTXeBQMpO   alice · master …XeBQMp · timeout 5m`; in a narrow terminal, less. */
function jobLine(run: Run, asked: Asked, style: Style, columns: number): string {
  const { timeoutMs, direct, test = false } = asked;
  const user = run.user === null ? [] : [printable(run.user)];
  const master = direct ? ["without a master"] : [`master ${shortMaster(run.master, style)}`];
  const timeout = timeoutMs === null ? [] : [`timeout ${formatDuration(timeoutMs)}`];
  const dry = test ? ["dry run"] : [];
  const most = [[...user, ...master, ...timeout], [...master, ...timeout], timeout];
  const lines = most.map((parts) => [...dry, ...parts]).map((parts) =>
    `${direct ? "Run" : "Job"}     ${printable(run.jid ?? "?")}   ${parts.join(` ${dot(style)} `)}`
      .trimEnd()
  );
  return lines.find((line) => line.length <= columns) ?? lines.at(-1)!;
}

/** Masters started in one second differ only at the end of their ids. */
const MASTER_TAIL_LENGTH = 6;

/** The end of a master's id, which is enough to tell it from the others. */
export function shortMaster(master: string | null, style: Style): string {
  if (master === null) return "?";
  const shown = printable(master);
  const tail = shown.slice(-MASTER_TAIL_LENGTH);
  return isId("master", master) ? `${ellipsis(style)}${tail}` : shown;
}

/** Peels in one table. */
export function outcomeTable(
  outcomes: readonly Outcome[],
  style: Style,
  columns = Infinity,
): string {
  const rows = outcomes.map((outcome) => {
    const [peel = "", result = "", ...rest] = cellsOf(outcome, style);
    return [peel, { text: result, paint: PAINTS[outcome.status] }, ...rest];
  });
  return table(["PEEL", "RESULT", "TIME", "NOTE"], rows, style, { columns, flexible: "NOTE" });
}

/** A row has one line: of a block, its first. */
export function cellsOf(outcome: Outcome, style: Style): string[] {
  const { head, time, note, block } = partsOf(outcome);
  const isStates = valueOf(outcome) === null && outcome.status === "changed";
  const first = isStates ? changesInShort(outcome) : printable(block.split("\n")[0]!);
  const late = outcome.late ? "late" : "";
  return [
    printable(outcome.peel),
    head,
    time,
    [late, note || cut(first, INLINE_LENGTH_MAX + 1, style)].filter(Boolean).join(": "),
  ];
}

/** The region at the bottom of the terminal while a job runs: how far it is, who works, who is silent. */
import { formatDuration } from "../../core/duration.ts";
import { displayPeelId } from "../../core/ids.ts";
import { ACK_WINDOW_MS, LIVE_PEELS_MAX } from "../../core/limits.ts";
import { printable } from "../../core/printable.ts";
import type { Show } from "../commands/flags.ts";
import type { Io } from "../io.ts";
import { comparePeels, type Run, summarize } from "./run_model.ts";
import { counts, partsOf } from "./run_text.ts";
import { dot, ellipsis, isCapable, type Style } from "./style.ts";

const BAR_WIDTH = 26;
const MORE_WIDTH = 40;
const MORE_HINT = "(--show all lists them)";
const MS_PER_SECOND = 1_000;
const SECONDS_PER_MINUTE = 60;

/** Monotonic times: now, when the job was sent, and when it must be over (null: not known). */
export interface LiveTimes {
  readonly nowMs: number;
  readonly startedMs: number;
  readonly deadlineMs: number | null;
}

/** The lines of the region. Without colours: they are cut to the width of the terminal. */
export function liveRegion(
  run: Run,
  times: LiveTimes,
  style: Style,
  { show, direct = false }: LiveOptions = {},
): string[] {
  const plain = { ...style, color: false };
  const done = `${run.outcomes.size}/${run.targets.length}`;
  const head = ` ${bar(run, style)} ${done}   ${counts(summarize(run), plain)}${left(times)}`;
  const most = show === "all" ? Infinity : LIVE_PEELS_MAX;
  return [
    head,
    ...section("running", running(run, times), most, style),
    ...section("silent", silent(run, times), most, style),
    direct
      ? " Ctrl-C stops to wait; peels that were told go on"
      : ` Ctrl-C detaches, the job goes on ${dot(style)} twice cancels it`,
  ];
}

/** How much is listed, and what Ctrl-C does. */
export interface LiveOptions {
  readonly show?: Show | undefined;
  readonly direct?: boolean | undefined;
}

function bar({ outcomes, targets }: Run, { unicode }: Style): string {
  const share = targets.length === 0 ? 0 : outcomes.size / targets.length;
  const filled = Math.floor(share * BAR_WIDTH);
  const [full, empty, begin, end] = unicode
    ? ["█", "░", "▕", "▏"] as const
    : ["#", ".", "[", "]"] as const;
  return `${begin}${full.repeat(filled)}${empty.repeat(BAR_WIDTH - filled)}${end}`;
}

/** `3:52 left`. */
function left({ nowMs, deadlineMs }: LiveTimes): string {
  if (deadlineMs === null) return "";
  const seconds = Math.max(0, Math.floor((deadlineMs - nowMs) / MS_PER_SECOND));
  const rest = String(seconds % SECONDS_PER_MINUTE).padStart(2, "0");
  return `   ${Math.floor(seconds / SECONDS_PER_MINUTE)}:${rest} left`;
}

interface Part {
  readonly peel: string;
  readonly note: string;
}

/** Those who took the job and have not answered. */
function running({ acked, outcomes }: Run, { nowMs }: LiveTimes): Part[] {
  return [...acked].filter(([peel]) => !outcomes.has(peel))
    .map(([peel, atMs]) => ({ peel, note: formatDuration(wholeSeconds(nowMs - atMs)) }));
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / MS_PER_SECOND) * MS_PER_SECOND;
}

/** Those given up, and, once an ack is overdue, those who have not said that they took it. */
function silent({ targets, acked, outcomes }: Run, { nowMs, startedMs }: LiveTimes): Part[] {
  const given = [...outcomes].filter(([, { status }]) => status === "silent")
    .map(([peel, outcome]) => ({ peel, note: partsOf(outcome).note }));
  if (nowMs - startedMs < ACK_WINDOW_MS) return given;
  const waiting = targets.filter((peel) => !acked.has(peel) && !outcomes.has(peel))
    .map((peel) => ({ peel, note: "no ack yet" }));
  return [...given, ...waiting];
}

function section(
  title: string,
  parts: readonly Part[],
  most: number,
  style: Style,
): string[] {
  if (parts.length === 0) return [];
  const sorted = [...parts].sort((a, b) => comparePeels(a.peel, b.peel)).slice(0, most);
  const names = sorted.map(({ peel }) => printable(displayPeelId(peel)));
  const width = Math.max(...names.map((name) => name.length));
  const lines = sorted.map(({ note }, at) =>
    `   ${names[at]!.padEnd(width)}   ${printable(note)}`.trimEnd()
  );
  const more = parts.length - sorted.length;
  return [
    ` ${title} ${parts.length}`,
    ...lines,
    ...(more > 0 ? [`   ${`${ellipsis(style)} ${more} more`.padEnd(MORE_WIDTH)}${MORE_HINT}`] : []),
  ];
}

export interface LiveArea {
  draw(lines: readonly string[]): void;
  clear(): void;
  /** Whether anything is ever drawn. */
  readonly active: boolean;
}

/** Lines at the bottom of the terminal that are drawn over; nothing where there is no terminal. */
export function liveArea(io: Io, wanted: boolean): LiveArea {
  if (!wanted || !io.stderrIsTerminal || !isCapable(io.env)) {
    return { draw: () => {}, clear: () => {}, active: false };
  }
  let drawn = 0;
  const erase = (): string => {
    if (drawn === 0) return "";
    const up = drawn > 1 ? `\u001b[${drawn - 1}A` : "";
    return `\r${up}\u001b[J`;
  };
  return {
    active: true,
    draw(lines) {
      const width = Math.max(1, io.columns() - 1); // a line that fills the last column would wrap
      io.stderr(erase() + lines.map((line) => [...line].slice(0, width).join("")).join("\n"));
      drawn = lines.length;
    },
    clear() {
      if (drawn > 0) io.stderr(erase());
      drawn = 0;
    },
  };
}

/** Shows a run as it goes: the story on stderr, the answer on stdout in the form that was asked for. */
import { type ZesterError } from "../../core/errors.ts";
import { LIVE_DELAY_MS, LIVE_REDRAW_MS, LIVE_REDRAW_MS_MIN } from "../../core/limits.ts";
import { printable } from "../../core/printable.ts";
import type { CommonFlags, Output, Show } from "../commands/flags.ts";
import type { Io } from "../io.ts";
import { errorJson, exitCodeOfError, renderError } from "./error.ts";
import { exitCodeOf } from "./exit_code.ts";
import { fieldTable, pickMembers } from "./fields.ts";
import { liveArea, liveRegion } from "./live.ts";
import {
  documents,
  jsonLine,
  outcomeData,
  outcomeIds,
  outcomeJsonLine,
  prettyJson,
  summaryJsonLine,
  targetsLine,
} from "./run_data.ts";
import {
  giveUp,
  type Outcome,
  type Run,
  type RunEvent,
  sortedOutcomes,
  summarize,
} from "./run_model.ts";
import {
  type Blocks,
  headerLines,
  idWidth,
  isAnswer,
  outcomeLines,
  outcomeTable,
  summaryLine,
} from "./run_text.ts";
import { chooseStyle, type Style } from "./style.ts";

/** What is shown about the request itself. */
export interface Shown {
  readonly target: string;
  /** Null when it is not known, or is that of each peel. */
  readonly timeoutMs: number | null;
  /** What is left of it, for a run that began before. */
  readonly leftMs?: number;
  /** Without a master: there is no job to come back to. */
  readonly direct?: boolean;
  /** A dry run. */
  readonly test?: boolean;
}

export interface ScreenFlags extends CommonFlags {
  readonly noProgress?: boolean;
  readonly show?: Show;
  readonly detailedExit?: boolean;
}

export interface Screen {
  show(run: Run, event: RunEvent, settled: readonly Outcome[]): void;
  /** A line of the story between events. */
  note(run: Run, text: string): void;
  finish(run: Run): Promise<number>;
  fail(run: Run, error: ZesterError): Promise<number>;
  /** Takes away what is drawn; nothing is shown afterwards. */
  close(): void;
}

/** A screen for one run. */
export function screenOf(flags: ScreenFlags, shown: Shown, io: Io): Screen {
  const { output = "text", color = "auto", quiet = false, verbose = false } = flags;
  const styleFor = (isTerminal: boolean) => chooseStyle({ flag: color, env: io.env, isTerminal });
  const [style, storyStyle] = [styleFor(io.stdoutIsTerminal), styleFor(io.stderrIsTerminal)];
  const live = liveArea(io, !quiet && !flags.noProgress);
  const answer = answerIn({ output, style, show: flags.show, fields: flags.fields }, io);
  const startedMs = io.clock.monotonic();
  const leftMs = shown.leftMs ?? shown.timeoutMs;
  const deadlineMs = leftMs === null ? null : startedMs + leftMs;
  let drawnMs = -Infinity;
  let latest: Run | null = null;
  let closed = false;
  const redraw = live.active ? io.clock.every(LIVE_REDRAW_MS, () => draw(true)) : null;

  function story(text: string): void {
    if (!quiet) io.stderr(text);
  }

  function draw(now: boolean): void {
    if (!live.active || closed || latest === null || latest.jid === null) return;
    if (latest.status !== null) return live.clear();
    const nowMs = io.clock.monotonic();
    if (nowMs - startedMs < LIVE_DELAY_MS) return;
    if (!now && nowMs - drawnMs < LIVE_REDRAW_MS_MIN) return;
    drawnMs = nowMs;
    const options = { show: flags.show, direct: shown.direct };
    live.draw(liveRegion(latest, { nowMs, startedMs, deadlineMs }, storyStyle, options));
  }

  function close(): void {
    closed = true;
    redraw?.cancel();
    live.clear();
  }

  async function end(run: Run, exit: number): Promise<void> {
    close();
    await answer.end(run, exit);
    if (quiet || run.targets.length === 0 || !isForPeople(output)) return;
    const summary = summarize(run);
    io.stdout(summaryLine(summary, io.clock.monotonic() - startedMs, style, isIdle(run, summary)));
    if (io.stderrIsTerminal && !shown.direct) story(nextLine(run, summary));
  }

  return {
    show(run, event, settled) {
      if (closed || event.kind === "alive") return;
      const speaks = settled.length > 0 || event.kind === "accepted";
      if (speaks) live.clear();
      // A long list of targets comes in parts; a return before the last of them begins the screen as well.
      const isWhole = settled.length > 0 || run.targets.length >= run.matched;
      if (latest === null && run.jid !== null && isWhole) {
        latest = run;
        story(headerLines(run, shown, storyStyle, io.columns()));
        answer.begin(run);
      }
      for (const outcome of settled) answer.settled(run, outcome);
      if (event.kind === "acks" && verbose) this.note(run, `${run.acked.size} took the job`);
      draw(speaks);
    },
    note(_run, text) {
      live.clear();
      story(`${text}\n`);
      draw(true);
    },
    async finish(run) {
      const exit = exitCodeOf(summarize(run), flags.detailedExit);
      await end(run, exit);
      return exit;
    },
    async fail(run, error) {
      close();
      for (const outcome of giveUp(run)) answer.settled(run, outcome);
      const exit = exitCodeOfError(error.code);
      answer.error(error);
      await end(run, exit);
      io.stderr(renderError(error, { style: storyStyle, verbose }));
      return exit;
    },
    close,
  };
}

/** Whether all peels looked at states, and none had anything to do. */
function isIdle({ outcomes }: Run, { matched, ok }: ReturnType<typeof summarize>): boolean {
  return ok === matched && ![...outcomes.values()].some(isAnswer);
}

/** What to do about those who failed or were silent. */
function nextLine(
  { jid }: Run,
  { failed, canceled, silent }: ReturnType<typeof summarize>,
): string {
  const again = failed + canceled + silent;
  if (again === 0 || jid === null) return "";
  const flags = [
    ...(failed + canceled > 0 ? ["--failed"] : []),
    ...(silent > 0 ? ["--silent"] : []),
  ];
  const peels = again === 1 ? "1 peel" : `${again} peels`;
  return `Next    zester job rerun ${printable(jid)} ${flags.join(" ")}      ${peels}\n`;
}

function isForPeople(output: Output): boolean {
  return output === "text" || output === "table" || output === "wide";
}

/** One form of the answer. What can be said at once is said at once. */
interface Answer {
  begin(run: Run): void;
  settled(run: Run, outcome: Outcome): void;
  error(error: ZesterError): void;
  end(run: Run, exit: number): void | Promise<void>;
}

interface Wanted {
  readonly output: Output;
  readonly style: Style;
  readonly show: Show | undefined;
  readonly fields: readonly string[] | undefined;
}

/** Whether a peel is among those to be printed. Programs get all of them, unless they say otherwise. */
function isShown(outcome: Outcome, { output, show }: Wanted): boolean {
  const isWell = outcome.status === "ok" || outcome.status === "changed";
  switch (show ?? (output === "ids" ? "well" : isForPeople(output) ? "changes" : "all")) {
    case "all":
      return true;
    case "summary":
      return false;
    case "failed":
      return !isWell;
    case "well":
      return isWell;
    default:
      return outcome.status !== "ok" || isAnswer(outcome);
  }
}

function answerIn(wanted: Wanted, io: Io): Answer {
  const { fields, style } = wanted;
  // Chosen columns can be drawn only when all values are known.
  const output = wanted.output === "text" && fields !== undefined ? "table" : wanted.output;
  const silent: Answer = { begin: () => {}, settled: () => {}, error: () => {}, end: () => {} };
  const chosen = (run: Run) => sortedOutcomes(run).filter((outcome) => isShown(outcome, wanted));
  const data = (run: Run) => {
    const rows = chosen(run).map(outcomeData);
    return fields === undefined ? rows : rows.map((row) => pickMembers(row, fields));
  };
  switch (output) {
    case "text": {
      let width = 0;
      const printed: Blocks = new Map();
      const look = { style, isWhole: wanted.show === "all" };
      return {
        ...silent,
        begin: (run) => void (width = idWidth(run.targets)),
        settled: (_run, outcome) => {
          if (isShown(outcome, wanted)) io.stdout(outcomeLines(outcome, width, look, printed));
        },
      };
    }
    case "jsonl":
      return {
        begin: (run) => io.stdout(targetsLine(run)),
        settled: (_run, outcome) => {
          if (!isShown(outcome, wanted)) return;
          const picked = fields && pickMembers(outcomeData(outcome), fields);
          const kind = outcome.status === "silent" ? "silence" : "return";
          io.stdout(picked ? jsonLine({ kind, ...picked }) : outcomeJsonLine(outcome));
        },
        error: (error) => io.stdout(jsonLine({ kind: "error", ...errorJson(error) })),
        end: (run, exit) => io.stdout(summaryJsonLine(summarize(run), exit)),
      };
    case "table":
    case "wide":
      return {
        ...silent,
        end: (run) => {
          const outcomes = chosen(run);
          if (outcomes.length === 0) return;
          const columns = output === "wide" || !io.stdoutIsTerminal ? Infinity : io.columns();
          io.stdout(
            fields === undefined
              ? outcomeTable(outcomes, style, columns)
              : fieldTable(data(run), fields, style),
          );
        },
      };
    case "json":
      return { ...silent, end: (run) => io.stdout(prettyJson(data(run))) };
    case "yaml":
      return { ...silent, end: async (run) => io.stdout(await documents(data(run))) };
    case "ids":
      return { ...silent, end: (run) => io.stdout(outcomeIds(chosen(run))) };
  }
}

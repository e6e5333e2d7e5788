/** Shows a run as it goes: the story on stderr, the answer on stdout in the form that was asked for. */
import { type ZesterError } from "../../core/errors.ts";
import { LIVE_REDRAW_MS, LIVE_REDRAW_MS_MIN } from "../../core/limits.ts";
import { printable } from "../../core/printable.ts";
import type { CommonFlags, Output } from "../commands/flags.ts";
import type { Io } from "../io.ts";
import { errorJson, exitCodeOfError, renderError } from "./error.ts";
import { exitCodeOf } from "./exit_code.ts";
import { liveArea, liveRegion } from "./live.ts";
import {
  jsonLine,
  outcomeJsonLine,
  runIds,
  runJson,
  runYaml,
  summaryJsonLine,
  targetsLine,
} from "./run_data.ts";
import { giveUp, type Outcome, type Run, type RunEvent, summarize } from "./run_model.ts";
import { headerLines, idWidth, outcomeLines, outcomeTable, summaryLine } from "./run_text.ts";
import { chooseStyle, type Style } from "./style.ts";

/** What is shown about the request itself. */
export interface Shown {
  readonly target: string;
  /** Null when it is not known, or is that of each peel. */
  readonly timeoutMs: number | null;
  /** What is left of it, for a run that began before. */
  readonly leftMs?: number;
}

export interface ScreenFlags extends CommonFlags {
  readonly noProgress?: boolean;
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
  const answer = answerIn(output, io, style);
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
    if (!now && nowMs - drawnMs < LIVE_REDRAW_MS_MIN) return;
    drawnMs = nowMs;
    live.draw(liveRegion(latest, { nowMs, startedMs, deadlineMs }, storyStyle));
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
    io.stdout(summaryLine(summary, io.clock.monotonic() - startedMs, style));
    if (io.stderrIsTerminal) story(nextLine(run, summary));
  }

  return {
    show(run, event, settled) {
      if (closed || event.kind === "alive") return;
      const isFirst = latest === null;
      const speaks = settled.length > 0 || event.kind === "accepted";
      if (speaks) live.clear();
      if (event.kind === "accepted" && isFirst) {
        latest = run;
        story(headerLines(run, shown, storyStyle));
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
      const exit = exitCodeOf(summarize(run));
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
  return output === "text" || output === "table";
}

/** One form of the answer. What can be said at once is said at once. */
interface Answer {
  begin(run: Run): void;
  settled(run: Run, outcome: Outcome): void;
  error(error: ZesterError): void;
  end(run: Run, exit: number): void | Promise<void>;
}

function answerIn(output: Output, io: Io, style: Style): Answer {
  const silent: Answer = { begin: () => {}, settled: () => {}, error: () => {}, end: () => {} };
  switch (output) {
    case "text": {
      let width = 0;
      return {
        ...silent,
        begin: (run) => void (width = idWidth(run.targets)),
        settled: (_run, outcome) => io.stdout(outcomeLines(outcome, width, style)),
      };
    }
    case "jsonl":
      return {
        begin: (run) => io.stdout(targetsLine(run)),
        settled: (_run, outcome) => io.stdout(outcomeJsonLine(outcome)),
        error: (error) => io.stdout(jsonLine({ kind: "error", ...errorJson(error) })),
        end: (run, exit) => io.stdout(summaryJsonLine(summarize(run), exit)),
      };
    case "table":
      return {
        ...silent,
        end: (run) => void (run.outcomes.size > 0 && io.stdout(outcomeTable(run, style))),
      };
    case "json":
      return { ...silent, end: (run) => io.stdout(runJson(run)) };
    case "yaml":
      return { ...silent, end: async (run) => io.stdout(await runYaml(run)) };
    case "ids":
      return { ...silent, end: (run) => io.stdout(runIds(run)) };
  }
}

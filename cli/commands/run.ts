/** `zester '<target>' <module.function> …`: sends one function to the fleet and shows what comes back. */
import { type ErrorCode, ERRORS, toZesterError, ZesterError } from "../../core/errors.ts";
import { CONFIG_BYTES_MAX, JOB_TIMEOUT_MS } from "../../core/limits.ts";
import { printable } from "../../core/printable.ts";
import type { Io } from "../io.ts";
import { errorJson, exitCodeOfError, renderError } from "../render/error.ts";
import { exitCodeOf } from "../render/exit_code.ts";
import {
  jsonLine,
  outcomeJsonLine,
  runIds,
  runJson,
  runYaml,
  summaryJsonLine,
  targetsLine,
} from "../render/run_data.ts";
import {
  giveUp,
  newRun,
  type Outcome,
  type Run,
  type RunEvent,
  summarize,
  takeEvent,
} from "../render/run_model.ts";
import {
  headerLines,
  idWidth,
  outcomeLines,
  outcomeTable,
  progressLine,
  summaryLine,
} from "../render/run_text.ts";
import { chooseStyle, isCapable, type Style } from "../render/style.ts";
import type { CommonFlags, Output } from "./flags.ts";

/** What is to be run, where. */
export interface RunRequest {
  readonly target: string;
  /** `module.function`. */
  readonly function: string;
  /** The bare word after the function, if there is one. */
  readonly id: string | null;
  readonly args: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Sends a request and reports what happens until it is over. Throws when it cannot know how it went on. */
export type Follow = (request: RunRequest, onEvent: (event: RunEvent) => void) => Promise<void>;

export interface RunFlags extends CommonFlags {
  readonly timeout?: number;
  readonly noProgress?: boolean;
}

export interface RunArguments {
  readonly target: string;
  readonly function: string;
  /** Everything after the function: bare words and `key=value`. */
  readonly words: readonly string[];
  readonly flags: RunFlags;
}

/** Runs it and shows it; gives the exit code. */
export async function run(given: RunArguments, io: Io, follow: Follow): Promise<number> {
  const request = await requestOf(given, io);
  const screen = screenOf(given.flags, request, io);
  const state = newRun();
  const take = (event: RunEvent) => screen.show(state, event, takeEvent(state, event));
  const detached = whenAborted(io.interrupted);
  try {
    const followed = follow(request, take).then(() => "over" as const);
    const end = await Promise.race([followed, detached.promise]);
    if (end === "detached") return screen.detach(state, followed);
    if (state.refusal !== null) throw refusalOf(state.refusal);
    return await screen.finish(state);
  } catch (thrown) {
    return await screen.fail(state, toZesterError(thrown, "run"));
  } finally {
    detached.stop();
  }
}

function whenAborted(signal: AbortSignal): { promise: Promise<"detached">; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<"detached">();
  const heard = () => resolve("detached");
  if (signal.aborted) heard();
  signal.addEventListener("abort", heard, { once: true });
  return { promise, stop: () => signal.removeEventListener("abort", heard) };
}

/** A code that this version does not know still has its message. */
function refusalOf({ code, message, fix }: Extract<RunEvent, { kind: "refused" }>): ZesterError {
  const known = Object.hasOwn(ERRORS, code) ? code as ErrorCode : "internal";
  return new ZesterError(known, message, fix === undefined ? {} : { fix });
}

// ---- arguments -----------------------------------------------------------------------------------------------

/** Splits the words after the function: one bare word, and `key=value` where `key=@file` reads the value. */
export async function requestOf(given: RunArguments, io: Pick<Io, "files">): Promise<RunRequest> {
  const args: [string, string][] = [];
  let id: string | null = null;
  for (const word of given.words) {
    const pair = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(word);
    if (pair !== null) args.push([pair[1]!, await valueOf(pair[1]!, pair[2]!, io)]);
    else if (id === null) id = word;
    else throw tooManyWords(word);
  }
  const twice = args.find(([key], at) => args.findIndex(([other]) => other === key) !== at);
  if (twice !== undefined) throw new ZesterError("usage", `argument "${twice[0]}" is given twice`);
  const timeoutMs = given.flags.timeout || JOB_TIMEOUT_MS;
  const { target, function: name } = given;
  return { target, function: name, id, args: Object.fromEntries(args), timeoutMs };
}

function tooManyWords(word: string): ZesterError {
  return new ZesterError("usage", `unexpected argument "${printable(word)}"`, {
    fix: "one bare word is taken; write the others as key=value",
  });
}

async function valueOf(key: string, text: string, { files }: Pick<Io, "files">): Promise<string> {
  if (!text.startsWith("@")) return text;
  const path = text.slice(1);
  const bytes = await files.read(path, CONFIG_BYTES_MAX);
  if (bytes !== null) return new TextDecoder().decode(bytes);
  throw new ZesterError("usage", `argument "${key}": no such file: ${printable(path)}`);
}

// ---- screen --------------------------------------------------------------------------------------------------

interface Screen {
  show(run: Run, event: RunEvent, settled: readonly Outcome[]): void;
  finish(run: Run): Promise<number>;
  fail(run: Run, error: ZesterError): Promise<number>;
  detach(run: Run, followed: Promise<unknown>): number;
}

function screenOf(flags: RunFlags, request: RunRequest, io: Io): Screen {
  const { output = "text", color = "auto", quiet = false, verbose = false } = flags;
  const styleFor = (isTerminal: boolean) => chooseStyle({ flag: color, env: io.env, isTerminal });
  const [style, storyStyle] = [styleFor(io.stdoutIsTerminal), styleFor(io.stderrIsTerminal)];
  const live = liveLine(io, !quiet && !flags.noProgress);
  const answer = answerIn(output, io, style);
  const startedMs = io.clock.monotonic();

  function story(text: string): void {
    if (!quiet) io.stderr(text);
  }

  async function close(run: Run, exit: number): Promise<void> {
    live.clear();
    await answer.end(run, exit);
    if (quiet || run.targets.length === 0 || !isForPeople(output)) return;
    io.stdout(summaryLine(summarize(run), io.clock.monotonic() - startedMs, style));
  }

  return {
    show(run, event, settled) {
      live.clear();
      if (event.kind === "accepted") {
        story(headerLines(run, request, storyStyle));
        answer.begin(run);
      }
      if (event.kind === "acks" && verbose) story(`${run.acked.size} took the job\n`);
      for (const outcome of settled) answer.settled(run, outcome);
      if (run.status === null && run.jid !== null) {
        live.draw(progressLine(run, storyStyle));
      }
    },
    async finish(run) {
      if (run.targets.length === 0) throw nobody(request.target);
      const exit = exitCodeOf(summarize(run));
      await close(run, exit);
      return exit;
    },
    async fail(run, error) {
      live.clear();
      for (const outcome of giveUp(run)) answer.settled(run, outcome);
      const exit = exitCodeOfError(error.code);
      answer.error(error);
      await close(run, exit);
      io.stderr(renderError(error, { style: storyStyle, verbose }));
      return exit;
    },
    detach(run, followed) {
      followed.catch(() => {}); // nobody waits for it any more
      live.clear();
      const what = run.jid === null ? "the request may have been taken" : `job ${run.jid} goes on`;
      io.stderr(`Detached: ${what}.\n`);
      return 130;
    },
  };
}

function nobody(target: string): ZesterError {
  return new ZesterError("nobody_matches", `nobody matches  ${target}`);
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

/** One line at the bottom of the terminal that is drawn over; nothing where there is no terminal. */
function liveLine(io: Io, wanted: boolean): { draw(text: string): void; clear(): void } {
  if (!wanted || !io.stderrIsTerminal || !isCapable(io.env)) {
    return { draw: () => {}, clear: () => {} };
  }
  let drawn = false;
  return {
    draw(text) {
      io.stderr(`\r${text}\u001b[K`);
      drawn = true;
    },
    clear() {
      if (drawn) io.stderr("\r\u001b[K");
      drawn = false;
    },
  };
}

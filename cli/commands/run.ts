/** `zester '<target>' <module.function> …`: sends one function to the fleet and shows what comes back. */
import { refusalError } from "../../core/client.ts";
import { toZesterError, ZesterError } from "../../core/errors.ts";
import { newJid } from "../../core/ids.ts";
import { checkArgs } from "../../core/job_args.ts";
import { defaultTimeoutMs } from "../../core/job_timeout.ts";
import { JOB_ARGS_BYTES_MAX } from "../../core/limits.ts";
import { printable } from "../../core/printable.ts";
import type { Fleet } from "../app.ts";
import type { Io } from "../io.ts";
import { jsonLine } from "../render/run_data.ts";
import type { ScreenFlags } from "../render/run_screen.ts";
import { followRun } from "./follow_run.ts";

/** What is to be run, where. */
export interface RunRequest {
  readonly jid: string;
  readonly target: string;
  /** `module.function`. */
  readonly function: string;
  /** The bare word after the function, if there is one. */
  readonly id: string | null;
  readonly args: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly pace: Pace;
}

/** How a run goes about its targets; amounts are `5` or `10%`. */
export interface Pace {
  readonly batchSize?: string;
  readonly batchWaitMs?: number;
  readonly maxFail?: string;
  readonly limit?: string;
  readonly seed?: string;
}

export interface RunFlags extends ScreenFlags {
  readonly timeout?: number;
  readonly async?: boolean;
  readonly batch?: string;
  readonly batchWait?: number;
  readonly maxFail?: string;
  readonly limit?: string;
  readonly seed?: string;
}

export interface RunArguments {
  readonly target: string;
  readonly function: string;
  /** Everything after the function: bare words and `key=value`. */
  readonly words: readonly string[];
  readonly flags: RunFlags;
}

/** What a run needs of the fleet. */
export type RunFleet = Pick<Fleet, "run" | "cancel">;

/** Runs it and shows it; gives the exit code. */
export async function run(given: RunArguments, io: Io, fleet: RunFleet): Promise<number> {
  const request = await requestOf(given, io);
  checkArgs(request.function, request.args);
  return await runRequest(request, given.flags, io, fleet);
}

/** Sends a request and shows what becomes of it. */
export async function runRequest(
  request: RunRequest,
  flags: RunFlags,
  io: Io,
  fleet: RunFleet,
): Promise<number> {
  if (flags.async) return await runAsync(request, flags, io, fleet);
  const { jid, target, pace } = request;
  // In a rolling run the timeout is that of each peel, so there is no end to count down to.
  const timeoutMs = pace.batchSize === undefined ? request.timeoutMs : null;
  return await followRun({
    jid,
    shown: { target, timeoutMs },
    flags,
    follow: (onEvent, control) => fleet.run(request, onEvent, control),
    cancel: () => fleet.cancel(jid),
  }, io);
}

/** Only until a master has it: the answer is its id. */
async function runAsync(
  request: RunRequest,
  { output = "text", quiet = false }: RunFlags,
  io: Io,
  fleet: RunFleet,
): Promise<number> {
  const { jid } = request;
  let peels = 0;
  let refusal: ZesterError | null = null;
  await fleet.run(request, (event) => {
    if (event.kind === "accepted") peels = event.targets.length;
    if (event.kind === "refused") refusal = refusalError(event);
  }, { until: "accepted" });
  if (refusal !== null) throw refusal;
  const isData = output === "json" || output === "jsonl" || output === "yaml";
  io.stdout(isData ? jsonLine({ jid, matched: peels }) : `${jid}\n`);
  if (!quiet && !isData) {
    const many = peels === 1 ? "1 peel" : `${peels} peels`;
    io.stderr(`Sent to ${many}; zester job watch ${jid} follows it.\n`);
  }
  return 0;
}

// ---- arguments -----------------------------------------------------------------------------------------------

/** Splits the words after the function: one bare word, and `key=value` where `key=@file` reads the value. */
export async function requestOf(
  given: RunArguments,
  io: Pick<Io, "files" | "clock" | "random">,
): Promise<RunRequest> {
  const pairs: [string, string][] = [];
  let id: string | null = null;
  for (const word of given.words) {
    const pair = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(word);
    if (pair !== null) pairs.push([pair[1]!, await valueOf(pair[1]!, pair[2]!, io)]);
    else if (id === null) id = word;
    else throw tooManyWords(word);
  }
  const twice = pairs.find(([key], at) => pairs.findIndex(([other]) => other === key) !== at);
  if (twice !== undefined) throw new ZesterError("usage", `argument "${twice[0]}" is given twice`);
  const args = Object.fromEntries(pairs);
  const { target, function: name, flags } = given;
  const timeoutMs = flags.timeout || defaultTimeoutMs(name, id ?? args["state"] ?? args["mods"]);
  const jid = newJid(io.clock.now(), io.random);
  return { jid, target, function: name, id, args, timeoutMs, pace: paceOf(flags) };
}

function paceOf({ batch, batchWait, maxFail, limit, seed }: RunFlags): Pace {
  if (batchWait !== undefined && batch === undefined) {
    throw new ZesterError("usage", "--batch-wait means nothing without --batch");
  }
  if (seed !== undefined && limit === undefined) {
    throw new ZesterError("usage", "--seed means nothing without --limit");
  }
  return {
    ...(batch === undefined ? {} : { batchSize: batch }),
    ...(batchWait === undefined ? {} : { batchWaitMs: batchWait }),
    ...(maxFail === undefined ? {} : { maxFail }),
    ...(limit === undefined ? {} : { limit }),
    ...(seed === undefined ? {} : { seed }),
  };
}

function tooManyWords(word: string): ZesterError {
  return new ZesterError("usage", `unexpected argument "${printable(word)}"`, {
    fix: "one bare word is taken; write the others as key=value",
  });
}

async function valueOf(key: string, text: string, { files }: Pick<Io, "files">): Promise<string> {
  if (!text.startsWith("@")) return text;
  const path = text.slice(1);
  const bytes = await files.read(path, JOB_ARGS_BYTES_MAX).catch((cause) => {
    const { message } = toZesterError(cause, `read ${path}`);
    throw new ZesterError("usage", `argument "${key}": ${message}`, {
      cause,
      fix: `all arguments of a job together may have ${JOB_ARGS_BYTES_MAX} bytes`,
    });
  });
  if (bytes !== null) return new TextDecoder().decode(bytes);
  throw new ZesterError("usage", `argument "${key}": no such file: ${printable(path)}`);
}

/** `zester '<target>' <module.function> …`: sends one function to the fleet and shows what comes back. */
import { refusalError } from "../../core/client.ts";
import { formatDuration } from "../../core/duration.ts";
import { toZesterError, ZesterError } from "../../core/errors.ts";
import { newJid } from "../../core/ids.ts";
import { checkArgs } from "../../core/job_args.ts";
import { defaultTimeoutMs } from "../../core/job_timeout.ts";
import { JOB_ARGS_BYTES_MAX, JOB_TIMEOUT_MS_MAX } from "../../core/limits.ts";
import { WORDS_KEY } from "../../core/module/prepare.ts";
import { printable } from "../../core/printable.ts";
import type { DirectFleet, Fleet } from "../app.ts";
import type { Io } from "../io.ts";
import { jsonLine } from "../render/run_data.ts";
import type { ScreenFlags } from "../render/run_screen.ts";
import { checkKnownCall } from "./check_call.ts";
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
  readonly test?: boolean;
  readonly direct?: boolean;
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
  return await runRequest(await checkedRequest(given, io), given.flags, io, fleet);
}

async function checkedRequest(given: RunArguments, io: Io): Promise<RunRequest> {
  const request = await requestOf(given, io);
  checkArgs(request.function, request.args);
  await checkKnownCall(request);
  checkTimeout(request.timeoutMs);
  return request;
}

function checkTimeout(timeoutMs: number): void {
  if (timeoutMs <= JOB_TIMEOUT_MS_MAX) return;
  const [asked, most] = [timeoutMs, JOB_TIMEOUT_MS_MAX].map(formatDuration);
  throw new ZesterError("usage", `--timeout ${asked}: a job may take ${most} at most`, {
    fix: "what a job signs may not live longer; start it again later, or run it in parts",
  });
}

/** The same without a master: the peels are commanded from here, and nothing is stored but what they journal. */
export async function runDirectly(
  given: RunArguments,
  io: Io,
  fleet: Pick<DirectFleet, "run">,
): Promise<number> {
  refuseMastersWork(given.flags);
  const request = await checkedRequest(given, io);
  const { jid, target, timeoutMs } = request;
  return await followRun({
    jid,
    shown: { target, timeoutMs, direct: true, test: isDryRun(request) },
    flags: given.flags,
    follow: (onEvent, control) => fleet.run(request, onEvent, control),
    cancel: null,
  }, io);
}

/** What masters do for a job. */
const MASTERS_WORK = {
  async: "--async",
  batch: "--batch",
  batchWait: "--batch-wait",
  maxFail: "--max-fail",
  limit: "--limit",
  seed: "--seed",
} as const satisfies Partial<Record<keyof RunFlags, string>>;

function refuseMastersWork(flags: RunFlags): void {
  const names = Object.keys(MASTERS_WORK) as (keyof typeof MASTERS_WORK)[];
  const given = names.filter((name) => flags[name] !== undefined && flags[name] !== false)
    .map((name) => MASTERS_WORK[name]);
  if (given.length === 0) return;
  throw new ZesterError("usage", `--direct cannot be combined with ${given.join(", ")}`, {
    fix: `leave out --direct, or ${given.join(", ")}: that is a master's work`,
  });
}

/** As far as can be told here: peels read `test=True` as well. */
function isDryRun({ args }: RunRequest): boolean {
  return /^(true|yes|1|on)$/i.test(String(args["test"] ?? ""));
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
    shown: { target, timeoutMs, test: isDryRun(request) },
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

/**
 * Splits the words after the function: bare words, of which the first is the id, and `key=value` where `key=@file` reads the
 * value. A key has a letter in it: `_` holds the further bare words.
 */
export async function requestOf(
  given: RunArguments,
  io: Pick<Io, "files" | "clock" | "random">,
): Promise<RunRequest> {
  const pairs: [string, string][] = [];
  const words: string[] = [];
  let id: string | null = null;
  for (const word of given.words) {
    const pair = /^(_*[A-Za-z][A-Za-z0-9_]*)=(.*)$/s.exec(word);
    if (pair !== null) pairs.push([pair[1]!, await valueOf(pair[1]!, pair[2]!, io)]);
    else if (id === null) id = word;
    else words.push(word);
  }
  const twice = pairs.find(([key], at) => pairs.findIndex(([other]) => other === key) !== at);
  if (twice !== undefined) {
    throw new ZesterError("usage", `argument "${twice[0]}" is given twice`, {
      fix: "leave one of them out; a list is one value: key=a,b",
    });
  }
  const { target, function: name, flags } = given;
  const named = Object.fromEntries(pairs);
  const args = {
    ...named,
    ...(words.length === 0 ? {} : { [WORDS_KEY]: words }),
    ...(flags.test ? { test: true } : {}),
  };
  const timeoutMs = flags.timeout || defaultTimeoutMs(name, id ?? named["state"] ?? named["mods"]);
  const jid = newJid(io.clock.now(), io.random);
  return { jid, target, function: name, id, args, timeoutMs, pace: paceOf(flags) };
}

function paceOf({ batch, batchWait, maxFail, limit, seed }: RunFlags): Pace {
  if (batchWait !== undefined && batch === undefined) {
    throw new ZesterError("usage", "--batch-wait means nothing without --batch", {
      fix: "add --batch 10%, for example",
    });
  }
  if (seed !== undefined && limit === undefined) {
    throw new ZesterError("usage", "--seed means nothing without --limit", {
      fix: "add --limit 10%, for example",
    });
  }
  return {
    ...(batch === undefined ? {} : { batchSize: batch }),
    ...(batchWait === undefined ? {} : { batchWaitMs: batchWait }),
    ...(maxFail === undefined ? {} : { maxFail }),
    ...(limit === undefined ? {} : { limit }),
    ...(seed === undefined ? {} : { seed }),
  };
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
  throw new ZesterError("usage", `argument "${key}": no such file: ${printable(path)}`, {
    fix: `${key}=@file reads the value from a file; name one that exists`,
  });
}

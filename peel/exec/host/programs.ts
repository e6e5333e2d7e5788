/**
 * Runs programs for modules. A program gets its arguments as they are, no shell in between; an environment made here and
 * nothing of the peel's; and a process group of its own. When its time is up, or nobody wants it any more, the whole group
 * is ended, and with it whatever the program started and did not deliberately detach into a session of its own.
 *
 * A program that ended by itself is not cleaned up after: what it left running is a daemon that somebody wanted. Its output
 * is read a little longer, and then no more.
 */
import { statSync } from "node:fs";
import { userInfo } from "node:os";
import process from "node:process";
import { ZesterError } from "../../../core/errors.ts";
import {
  HOST_READ_BYTES_MAX,
  JOB_TIMEOUT_MS_MAX,
  PROGRAM_END_POLL_MS,
  PROGRAM_OUTPUT_BYTES_MAX,
  PROGRAM_OUTPUT_GRACE_MS,
  PROGRAM_TERM_GRACE_MS,
} from "../../../core/limits.ts";
import type { Program } from "../../../core/module/grant.ts";
import type { RunOptions, RunResult } from "../../../core/module/host.ts";
import type { Clock } from "../../../core/ports.ts";
import { requirePath, requireText, requireWhole } from "./arguments.ts";
import { CappedBytes } from "./capped_bytes.ts";
import { named } from "./system_error.ts";

export interface ProgramContext {
  /** Ends the program and makes the call fail. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Time for a program whose caller names none. */
  readonly defaultTimeoutMs: number;
}

/** Where programs are looked for, whatever the peel's own environment says. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const UMASK_MAX = 0o777;
const EXECUTABLE = 0o111;

/** Runs a program to its end. A status other than 0, and time that ran out, are answers. */
export async function runProgram(
  program: Program,
  options: RunOptions,
  context: ProgramContext,
): Promise<RunResult> {
  return await named(`run ${program[0]}`, () => run(program, options, context));
}

async function run(
  program: Program,
  options: RunOptions,
  context: ProgramContext,
): Promise<RunResult> {
  requireRunnable(program, options);
  requireWanted(program, context.signal);
  const user = options.user === undefined ? ownUser() : await lookUpUser(options.user, context);
  const [command, ...args] = commandOf(program, options, user);
  const child = spawn({
    command: command!,
    args,
    env: { ...environmentOf(user), ...options.env },
    cwd: options.cwd ?? "/",
    hasInput: options.stdin !== undefined,
  });
  return await follow(child, options, { ...context, program });
}

// ---- what is run ---------------------------------------------------------------------------------------------

/**
 * Variables that make any program, or any shell, load code from elsewhere: with them the right to run one program would be
 * the right to run anything.
 */
const LOADS_CODE =
  /^(LD_.*|DYLD_.*|GCONV_PATH|GLIBC_TUNABLES|BASH_ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS)$/;

function requireRunnable(program: Program, options: RunOptions): void {
  if (!Array.isArray(program) || program.length === 0) {
    throw new ZesterError("bad_params", "a program is a list of its name and its arguments");
  }
  program.forEach((part) => requireText("an argument", part));
  for (const [name, value] of Object.entries(options.env ?? {})) {
    requireText(`the variable ${name}`, value);
    if (name === "" || /[=\0]/.test(name) || LOADS_CODE.test(name)) {
      throw refusal(program, `the variable ${JSON.stringify(name)} must not be set`);
    }
  }
  if (options.cwd !== undefined) requireFolder(program, options.cwd);
  if (options.stdin !== undefined && typeof options.stdin !== "string") {
    throw refusal(program, "its input must be text");
  }
  requireWhole("umask", options.umask, UMASK_MAX);
  requireWhole("timeoutMs", options.timeoutMs, JOB_TIMEOUT_MS_MAX);
  requireWhole("outputBytesMax", options.outputBytesMax, HOST_READ_BYTES_MAX);
}

function requireFolder(program: Program, cwd: string): void {
  requirePath(cwd);
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new ZesterError("not_found", `run ${program[0]}: no folder ${JSON.stringify(cwd)}`);
}

function refusal(program: Program, why: string): ZesterError {
  return new ZesterError("bad_params", `run ${program[0]}: ${why}`);
}

/** The argument array, with what changes user and umask before it. */
function commandOf(program: Program, { umask }: RunOptions, user: User): string[] {
  const [name, ...args] = program;
  const command = [pathOf(name), ...args];
  // The script is fixed and sees the rest only as its arguments.
  const masked = umask === undefined ? command : [
    "/bin/sh",
    "-c",
    'umask "$0" && exec "$@"',
    umask.toString(8).padStart(4, "0"),
    ...command,
  ];
  if (user.uid === Deno.uid()) return masked;
  // Becomes the program itself, so that its process id and its end are the program's own.
  const ids = [`--reuid=${user.name}`, `--regid=${user.gid}`, "--init-groups"];
  return [pathOf("setpriv"), ...ids, "--", ...masked];
}

function pathOf(name: string): string {
  if (name.startsWith("/")) {
    if (isExecutable(name)) return name;
    throw new ZesterError("not_found", `run ${name}: no such program`);
  }
  const found = name.includes("/") || name === ""
    ? undefined
    : PATH.split(":").map((folder) => `${folder}/${name}`).find(isExecutable);
  if (found !== undefined) return found;
  throw new ZesterError("not_found", `run ${name}: no such program in ${PATH}`);
}

function isExecutable(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && (found.mode & EXECUTABLE) !== 0;
}

// ---- who runs it ---------------------------------------------------------------------------------------------

interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** Begins with a letter, so that no program takes it for an option or a number. */
const USER_NAME = /^[a-z_][a-z0-9_.@-]{0,254}\$?$/i;
const ROOT_UID = 0;

function ownUser(): User {
  const { username, uid, gid, homedir } = userInfo();
  return { name: username, uid, gid, home: homedir || "/" };
}

/** Asks the system, which may know users from elsewhere than /etc/passwd. */
async function lookUpUser(name: string, context: ProgramContext): Promise<User> {
  if (typeof name !== "string" || !USER_NAME.test(name)) {
    throw new ZesterError("bad_params", `${JSON.stringify(name)} is no name of a user`);
  }
  const own = ownUser();
  if (name === own.name) return own;
  if (own.uid !== ROOT_UID) {
    throw new ZesterError("permission_denied", `only root can run programs as ${name}`);
  }
  const { code, stdout } = await runProgram(["getent", "passwd", name], {}, context);
  const [, , uid, gid, , home] = stdout.trimEnd().split(":");
  if (code === 0 && /^\d+$/.test(uid ?? "") && /^\d+$/.test(gid ?? "")) {
    return { name, uid: Number(uid), gid: Number(gid), home: home || "/" };
  }
  throw new ZesterError("not_found", `there is no user ${name}`);
}

/** All that a program gets besides what its caller names. */
function environmentOf({ name, home }: User): Record<string, string> {
  return { PATH, LANG: "C.UTF-8", HOME: home, USER: name, LOGNAME: name };
}

// ---- running it ----------------------------------------------------------------------------------------------

interface Spawning {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly hasInput: boolean;
}

function spawn({ command, hasInput, ...how }: Spawning): Deno.ChildProcess {
  return new Deno.Command(command, {
    ...how,
    clearEnv: true,
    detached: true, // Leader of a group of its own, which is what is ended.
    stdin: hasInput ? "piped" : "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

async function follow(
  child: Deno.ChildProcess,
  { stdin, timeoutMs, outputBytesMax = PROGRAM_OUTPUT_BYTES_MAX }: RunOptions,
  { program, signal, clock, defaultTimeoutMs }: ProgramContext & { program: Program },
): Promise<RunResult> {
  const stdout = collect(child.stdout, outputBytesMax);
  const stderr = collect(child.stderr, outputBytesMax);
  const streams = [stdout, stderr, ...(stdin === undefined ? [] : [feed(child.stdin, stdin)])];
  const piped = Promise.all(streams.map((stream) => stream.done));
  piped.catch(() => {}); // Looked at below; one that fails earlier must not count as unhandled.
  const ending = new Ending(child.pid, clock);
  let timedOut = false;
  const deadline = clock.after(timeoutMs ?? defaultTimeoutMs, () => {
    timedOut = true;
    ending.begin();
  });
  const end = () => ending.begin();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end(); // While the user was looked up.
  const status = await child.status;
  deadline.cancel();
  signal.removeEventListener("abort", end);
  await ending.done;
  const enough = clock.after(
    PROGRAM_OUTPUT_GRACE_MS,
    () => streams.forEach((stream) => stream.stop()),
  );
  await piped.finally(() => enough.cancel());
  requireWanted(program, signal);
  return {
    code: status.code,
    stdout: stdout.kept.text(),
    stderr: stderr.kept.text(),
    droppedBytes: stdout.kept.dropped + stderr.kept.dropped,
    timedOut,
  };
}

function requireWanted(program: Program, signal: AbortSignal): void {
  if (signal.aborted) throw new ZesterError("closed", `run ${program[0]}: ended from outside`);
}

/** One of the pipes to a program. */
interface Piping {
  readonly done: Promise<void>;
  /** Ends it although the program, or what it left behind, has not. */
  stop(): void;
}

/** Reads to the end, so that the program is never held up, and keeps the beginning. */
function collect(
  stream: ReadableStream<Uint8Array>,
  bytesMax: number,
): Piping & { kept: CappedBytes } {
  const kept = new CappedBytes(bytesMax);
  const reader = stream.getReader();
  async function readAll(): Promise<void> {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      kept.add(piece.value);
    }
  }
  return { kept, done: readAll(), stop: () => void reader.cancel() };
}

/**
 * A program may end without having read its input: that is not our failure. What is being written into a full pipe cannot be
 * taken back; it stays until whoever has the other end is gone, and nobody waits for it.
 */
function feed(stream: WritableStream<Uint8Array>, text: string): Piping {
  const writer = stream.getWriter();
  const stopped = Promise.withResolvers<void>();
  async function writeAll(): Promise<void> {
    try {
      await writer.write(new TextEncoder().encode(text));
      await writer.close();
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.BrokenPipe)) throw thrown;
    }
  }
  return { done: Promise.race([writeAll(), stopped.promise]), stop: stopped.resolve };
}

/** The end of a process group: asked first, then made. */
class Ending {
  readonly #group: number;
  readonly #clock: Clock;
  #done: Promise<void> | null = null;

  constructor(group: number, clock: Clock) {
    this.#group = group;
    this.#clock = clock;
  }

  /** Resolves when the group is gone, or at once when it was not to end. */
  get done(): Promise<void> {
    return this.#done ?? Promise.resolve();
  }

  begin(): void {
    this.#done ??= this.#end();
  }

  /**
   * The number of a group is not given to another while somebody is in it. So it is asked after until it is gone, and
   * never touched again after that.
   */
  async #end(): Promise<void> {
    signalGroup(this.#group, "SIGTERM");
    const deadline = this.#clock.monotonic() + PROGRAM_TERM_GRACE_MS;
    while (signalGroup(this.#group, 0)) {
      if (this.#clock.monotonic() >= deadline) return void signalGroup(this.#group, "SIGKILL");
      await this.#clock.sleep(PROGRAM_END_POLL_MS);
    }
  }
}

/** False when nobody is in the group any more. */
function signalGroup(group: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/** What the functions that run commands share: how to run one, when it has succeeded, what it says of itself. */
import {
  checked,
  type Host,
  type Param,
  type Program,
  type RunResult,
  textList,
} from "../../core/module.ts";

export interface CommandOptions {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly secret_env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  readonly runas?: string | undefined;
  readonly umask?: number | undefined;
  readonly timeout?: number | undefined;
}

/** The variables that the command is given, as a part of its grant. */
export function variablesOf({ env, secret_env }: CommandOptions): { env?: readonly string[] } {
  const names = Object.keys({ ...env, ...secret_env });
  return names.length === 0 ? {} : { env: names };
}

const MS_PER_SECOND = 1_000;

/** Runs a program as the parameters say. */
export function runCommand(host: Host, program: Program, p: CommandOptions): Promise<RunResult> {
  return host.run(program, {
    env: { ...p.env, ...p.secret_env },
    ...(p.cwd === undefined ? {} : { cwd: p.cwd }),
    ...(p.stdin === undefined ? {} : { stdin: p.stdin }),
    ...(p.runas === undefined ? {} : { user: p.runas }),
    ...(p.umask === undefined ? {} : { umask: p.umask }),
    ...(p.timeout === undefined ? {} : { timeoutMs: p.timeout * MS_PER_SECOND }),
  });
}

/** A list of exit codes. */
export function exitCodes(usage: string): Param<readonly string[]> {
  return checked(
    textList(usage),
    (codes) => codes.every((code) => /^\d{1,3}$/.test(code)) ? null : "exit codes are numbers",
  );
}

/** Whether the command did what it was to do. */
export function isSuccess(result: RunResult, codes: readonly string[] = ["0"]): boolean {
  return !result.timedOut && codes.includes(String(result.code));
}

/** What is shown of a command that was run. */
export function outcomeDetails(result: RunResult): Record<string, string> {
  const { code, stdout, stderr, droppedBytes } = result;
  return {
    stdout: stdout.trimEnd(),
    stderr: stderr.trimEnd(),
    exitcode: String(code),
    ...(droppedBytes === 0 ? {} : { truncated: `${droppedBytes} bytes of output were left out` }),
  };
}

/** What a stateful command says in its last line: JSON, or `changed=yes comment='text'`. */
export function readStateful(stdout: string): { changed: boolean; comment: string } {
  const last = stdout.trimEnd().split("\n").at(-1) ?? "";
  const said = readJson(last) ?? readPairs(last);
  if (said["changed"] === undefined) {
    throw new Error(
      `stateful: the last line of the output does not say "changed=yes" or "changed=no"`,
    );
  }
  return {
    changed: /^(true|yes|1|on)$/i.test(String(said["changed"])),
    comment: String(said["comment"] ?? ""),
  };
}

function readJson(text: string): Readonly<Record<string, unknown>> | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null; // then it may be pairs
  }
}

function readPairs(text: string): Record<string, string> {
  const pairs = text.matchAll(/(\w+)=(?:"([^"]*)"|'([^']*)'|(\S*))/g);
  return Object.fromEntries(
    [...pairs].map(([, key, double, single, bare]) => [key!, double ?? single ?? bare ?? ""]),
  );
}

/** Asks and tells git about one working copy. Every call names the folder with `-C`; nothing is taken from the environment. */
import {
  checked,
  type Host,
  line,
  type Param,
  type Program,
  type RunResult,
} from "../../core/module.ts";

/** Never asks for a password or for trust in a host key: it would wait for ever. */
const ENV = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_SSH_COMMAND: "ssh -o BatchMode=yes",
  GIT_CONFIG_NOSYSTEM: "1",
};

/** The variables that every call of git is given. */
export const GIT_VARIABLES: readonly string[] = Object.keys(ENV);

const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9._/@^~{}-]*$/;

/** A branch, tag or commit; nothing that could be an option. */
export function reference(usage: string): Param<string> {
  return checked(
    line(usage),
    (name) =>
      REFERENCE.test(name) && !name.includes("..") ? null : "a branch, tag or commit is wanted",
  );
}

/** Where a repository comes from; nothing that could be an option or a program (`ext::`). */
export function repositoryUrl(usage: string): Param<string> {
  return checked(
    line(usage),
    (url) => /^-|^\s|::/.test(url) ? "the address of a repository is wanted" : null,
  );
}

/** A working copy is only trusted by git when the user owns it; the folder was granted, so it is named as safe. */
export function inFolder(path: string, ...args: string[]): Program {
  return ["git", "-c", `safe.directory=${path}`, "-C", path, ...args];
}

/** Runs git; a status other than 0 is an error. Gives what it printed. */
export async function git(host: Host, program: Program): Promise<string> {
  const result = await tryGit(host, program);
  if (result.code === 0) return result.stdout.trim();
  const said = result.stderr.trim() || result.stdout.trim();
  throw new Error(`git ${commandOf(program)}: ${said || `exit status ${result.code}`}`);
}

/** Runs git; the status is an answer. */
export async function tryGit(host: Host, program: Program): Promise<RunResult> {
  return await host.run(program, { env: ENV });
}

function commandOf(program: Program): string {
  const start = program[3] === "-C" ? 5 : 1;
  return program[start] ?? "";
}

/** The address of `origin`; null when the folder is no working copy. */
export async function originOf(host: Host, path: string): Promise<string | null> {
  const { code, stdout } = await tryGit(
    host,
    inFolder(path, "config", "--get", "remote.origin.url"),
  );
  return code === 0 ? stdout.trim() : null;
}

export async function headOf(host: Host, path: string): Promise<string> {
  return await git(host, inFolder(path, "rev-parse", "HEAD"));
}

/** The branch that is checked out; null when none is. */
export async function branchOf(host: Host, path: string): Promise<string | null> {
  const { code, stdout } = await tryGit(
    host,
    inFolder(path, "symbolic-ref", "--short", "-q", "HEAD"),
  );
  return code === 0 ? stdout.trim() : null;
}

/** Whether HEAD is at the wanted revision: by the beginning of the commit, or by what a name stands for. */
export async function isAt(host: Host, path: string, rev: string): Promise<boolean> {
  const head = await headOf(host, path);
  if (/^[0-9a-f]{7,40}$/i.test(rev)) return head.startsWith(rev.toLowerCase());
  const { code, stdout } = await tryGit(
    host,
    inFolder(path, "rev-parse", "--verify", "-q", `${rev}^{commit}`),
  );
  return code === 0 && stdout.trim() === head;
}

/** Programs that only look at the working copy. */
export function lookPrograms(path: string, rev: string | undefined): Program[] {
  return [
    inFolder(path, "config", "--get", "remote.origin.url"),
    ...(rev === undefined ? [] : [
      inFolder(path, "rev-parse", "HEAD"),
      inFolder(path, "rev-parse", "--verify", "-q", `${rev}^{commit}`),
    ]),
  ];
}

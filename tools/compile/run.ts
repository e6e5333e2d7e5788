/** Runs one tool program with a time limit and says what it printed: all that compiling needs of processes. */

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** Runs `program` to its end, or kills it after `timeoutMs`. */
export async function run(
  program: string,
  args: readonly string[],
  options: { cwd: string; timeoutMs: number; env?: Record<string, string> },
): Promise<Ran> {
  const child = new Deno.Command(program, {
    args: [...args],
    cwd: options.cwd,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...options.env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill("SIGKILL");
  }, options.timeoutMs);
  try {
    const { code, stdout, stderr } = await child.output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr), timedOut };
  } finally {
    clearTimeout(timer);
  }
}

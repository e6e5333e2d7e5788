/** Runs programs that must succeed, and says in their own words why they did not. */
import type { Program } from "./grant.ts";
import type { Host, RunOptions, RunResult } from "./host.ts";

const SHOWN_LINES = 5;

/** The end of what a program said: that is where the reason stands. */
export function failureOf(
  { code, stdout, stderr }: Pick<RunResult, "code" | "stdout" | "stderr">,
): string {
  const said = (stderr.trim() || stdout.trim()).split("\n").slice(-SHOWN_LINES).join("\n");
  return said === "" ? `exit status ${code}` : `exit status ${code}: ${said}`;
}

/** Runs a program; any status but 0 is a failure that is named after the program. */
export async function perform(
  host: Pick<Host, "run">,
  program: Program,
  options: RunOptions = {},
): Promise<RunResult> {
  const result = await host.run(program, options);
  if (result.code === 0) return result;
  throw new Error(`${program[0]}: ${failureOf(result)}`);
}

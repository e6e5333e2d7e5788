/** The crontab of a user, through crontab(1): it alone knows where tables are and tells the daemon. */
import { LIST_OUTPUT_BYTES_MAX } from "../../core/limits.ts";
import {
  accountName,
  checked,
  defaulted,
  failureOf,
  type Host,
  line,
  perform,
  primary,
  type Program,
} from "../../core/module.ts";

/** What both states take. */
export const entryParams = {
  name: primary(
    checked(
      line("Label of the entry: what it is known by."),
      (label) => label.trim() === label ? null : "blanks around it are refused",
    ),
  ),
  user: defaulted(accountName("Whose crontab."), "root"),
};

/** Asks for the table. */
export function listProgram(user: string): Program {
  return ["crontab", "-u", user, "-l"];
}

/** Takes a new table from stdin. */
export function writeProgram(user: string): Program {
  return ["crontab", "-u", user, "-"];
}

/** Removes the table. */
export function removeProgram(user: string): Program {
  return ["crontab", "-u", user, "-r"];
}

/** The table; null when the user has none. */
export async function readTable(host: Host, user: string): Promise<string | null> {
  const answer = await asked(host, listProgram(user));
  if (answer.code === 0) return answer.stdout;
  if (/^(crontab: )?no crontab for/m.test(answer.stderr)) return null;
  throw new Error(`crontab: ${failureOf(answer)}`);
}

async function asked(host: Host, program: Program) {
  try {
    return await host.run(program, { outputBytesMax: LIST_OUTPUT_BYTES_MAX });
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== "not_found") throw thrown;
    throw new Error("no cron provider available: crontab is not installed", { cause: thrown });
  }
}

/** Puts a table in place. */
export async function writeTable(host: Host, user: string, text: string): Promise<void> {
  await perform(host, writeProgram(user), { stdin: text });
}

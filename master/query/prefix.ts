/** Which job a shortened id means. */
import { ZesterError } from "../../core/errors.ts";
import { isJid } from "../../core/ids.ts";
import { QUERY_CANDIDATES_MAX } from "../../core/limits.ts";
import { printable } from "../../core/printable.ts";
import type { JobStore, StoredJob } from "../jobs/store.ts";
import type { Answerer } from "./ports.ts";

export const answerPrefix: Answerer<"prefix"> = async ({ jid = "" }, { jobs }) => ({
  kind: "prefix",
  jid: await resolveJid(jid, jobs),
});

/** The record that a whole or shortened id means; `job_unknown` if there is none, `job_ambiguous` if there are several. */
export async function findJob(given: string, jobs: JobStore): Promise<StoredJob> {
  const jid = await resolveJid(given, jobs);
  const job = await jobs.find(jid);
  if (job === null) throw unknown(jid);
  return job;
}

/** The whole id. A whole id is taken as it is; whether there is such a job shows when it is read. */
export async function resolveJid(given: string, jobs: JobStore): Promise<string> {
  if (isJid(given)) return given;
  return pick(given, /^[0-9A-Za-z-]+$/.test(given) ? await jobs.jids() : []);
}

/** The one id that begins like this. Pure. */
export function pick(given: string, jids: readonly string[]): string {
  const found = given === "" ? [] : jids.filter((jid) => jid.startsWith(given));
  const [only] = found;
  if (only === undefined) throw unknown(given);
  if (found.length === 1) return only;
  const shown = found.slice(-QUERY_CANDIDATES_MAX).reverse(); // the newest are meant most often
  const more = found.length > shown.length ? `\nand ${found.length - shown.length} more` : "";
  throw new ZesterError(
    "job_ambiguous",
    `${found.length} jobs begin with ${given}\n${shown.join("\n")}${more}`,
    { fix: "write more of the id" },
  );
}

function unknown(given: string): ZesterError {
  return new ZesterError("job_unknown", `no job ${JSON.stringify(printable(given.slice(0, 64)))}`, {
    fix: "zester job list shows those of the last 7 days",
  });
}

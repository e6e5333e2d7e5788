/** Jobs under way, from the index of active jobs. */
import { mapLimited } from "../follow/target_state.ts";
import { rowOf, sizeOfRow } from "./jobs.ts";
import { fillPage, rowLimit } from "./page.ts";
import type { Answerer } from "./ports.ts";
import { isTerminal } from "../../core/wire/job.ts";

export const answerActive: Answerer<"active"> = async ({ limit, after = "" }, ports) => {
  const { jobs } = ports;
  const jids = (await jobs.active()).map(({ jid }) => jid).sort().filter((jid) => jid > after);
  const page = jids.slice(0, rowLimit(limit));
  const records = await mapLimited(page, (jid) => jobs.read(jid));
  // The index may lag behind: an entry without a record, or of a job that has ended, is about to be removed.
  const under = records.filter((job) => job !== null && !isTerminal(job.status));
  const rows = await Promise.all(under.map((job) => rowOf(job!, ports)));
  const shown = fillPage(rows, sizeOfRow);
  const last = shown.length < rows.length ? shown.at(-1)?.job.jid : page.at(-1);
  const more = shown.length < rows.length || page.length < jids.length;
  return { kind: "jobs", jobs: shown, ...(more && last !== undefined ? { next: last } : {}) };
};

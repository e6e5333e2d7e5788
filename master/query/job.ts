/** One job: its record, and what is known of each of its targets, page by page. */
import type { JobTarget } from "../../core/wire/query.ts";
import { jobTargetMessage } from "../../core/wire/query.ts";
import { targetStates } from "../follow/target_state.ts";
import { fillPage, rowLimit } from "./page.ts";
import type { Answerer } from "./ports.ts";
import { findJob } from "./prefix.ts";

export const answerJob: Answerer<"job"> = async ({ jid = "", limit, after = "" }, ports) => {
  const { jobs } = ports;
  const job = await findJob(jid, jobs);
  const targets = [...await jobs.targets(job)].sort();
  const asked = targets.filter((peel) => peel > after).slice(0, rowLimit(limit));
  const states = await targetStates(job, asked, ports);
  const shown = fillPage(states, sizeOfTarget);
  const last = shown.at(-1)?.peel;
  const isLast = last === undefined || last === targets.at(-1);
  const canceledBy = await jobs.cancelRequested(job.jid);
  const { claim: _, ...record } = job;
  return {
    kind: "job",
    jid: job.jid,
    // The targets are in the rows; the record may hold large arguments, so it comes once.
    ...(after === "" ? { job: { ...record, targets: [] } } : {}),
    targetCount: targets.length,
    targets: shown,
    ...(canceledBy === null ? {} : { canceledBy }),
    ...(isLast ? {} : { next: last }),
  };
};

function sizeOfTarget(row: JobTarget): number {
  return jobTargetMessage.encode(row).length;
}

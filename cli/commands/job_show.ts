/** `zester job show <jid>`: one job, and what came back from each peel. */
import { ZesterError } from "../../core/errors.ts";
import { displayPeelId } from "../../core/ids.ts";
import type { Job } from "../../core/wire/job.ts";
import { isTerminal } from "../../core/wire/job.ts";
import type { JobTarget } from "../../core/wire/query.ts";
import type { Io } from "../io.ts";
import { type JobView, jobViewData, targetOutcome } from "../render/job_data.ts";
import { jobScreen } from "../render/job_text.ts";
import { printOne } from "../render/list.ts";
import type { CommonFlags } from "./flags.ts";
import { allRows, type Asking } from "./pages.ts";

/** Prints it; on a terminal, with what to do next. */
export async function jobShow(
  jid: string,
  flags: CommonFlags,
  io: Io,
  fleet: Asking,
): Promise<number> {
  const { view, nowMs } = await readJob(jid, fleet);
  const forms = {
    screen: jobScreen.bind(null, view),
    data: () => jobViewData(view),
    ids: () => view.targets.map(({ peel }) => displayPeelId(peel)),
  };
  await printOne(forms, nowMs, flags, io);
  if (!flags.quiet && io.stderrIsTerminal) io.stderr(nextLine(view));
  return 0;
}

/** All that the masters know of a job. */
export async function readJob(
  given: string,
  fleet: Asking,
): Promise<{ view: JobView; nowMs: number }> {
  let job: Job | undefined;
  let canceledBy: string | undefined;
  const { rows, nowMs } = await allRows("job", { jid: given }, (reply) => {
    job ??= reply.job;
    canceledBy = reply.canceledBy;
    return reply.targets;
  }, fleet);
  if (job === undefined) throw new ZesterError("internal", `job ${given}: came without its record`);
  return { view: { job, targets: rows, canceledBy }, nowMs };
}

/** Which targets of a job failed, and which did not answer. */
export function troubled(targets: readonly JobTarget[]): { failed: string[]; silent: string[] } {
  const having = (...wanted: string[]) =>
    targets.filter((each) => wanted.includes(targetOutcome(each).status)).map(({ peel }) => peel);
  return { failed: having("failed", "canceled"), silent: having("silent") };
}

function nextLine({ job, targets }: JobView): string {
  if (!isTerminal(job.status)) return `Next    zester job watch ${job.jid}\n`;
  const { failed, silent } = troubled(targets);
  const again = failed.length + silent.length;
  if (again === 0) return "";
  const flags = [
    ...(failed.length > 0 ? ["--failed"] : []),
    ...(silent.length > 0 ? ["--silent"] : []),
  ];
  const peels = again === 1 ? "1 peel" : `${again} peels`;
  return `Next    zester job rerun ${job.jid} ${flags.join(" ")}      ${peels}\n`;
}

/** `zester job rerun <jid>`: the same function with the same arguments again, on all peels of a job or on some. */
import { ZesterError } from "../../core/errors.ts";
import { newJid } from "../../core/ids.ts";
import { TARGET_LENGTH_MAX } from "../../core/limits.ts";
import type { Io } from "../io.ts";
import type { Fleet } from "../app.ts";
import type { JobView } from "../render/job_data.ts";
import type { ScreenFlags } from "../render/run_screen.ts";
import { readJob, troubled } from "./job_show.ts";
import { type RunFlags, type RunRequest, runRequest } from "./run.ts";

export interface JobRerunFlags extends Pick<RunFlags, "timeout" | "async">, ScreenFlags {
  readonly failed?: boolean;
  readonly silent?: boolean;
}

/** Makes a new job of an old one, and shows it. */
export async function jobRerun(
  given: string,
  flags: JobRerunFlags,
  io: Io,
  fleet: Pick<Fleet, "ask" | "run" | "cancel">,
): Promise<number> {
  const { view } = await readJob(given, fleet);
  const peels = chosenPeels(view, flags);
  if (peels.length === 0) throw nobody(view, flags);
  return await runRequest(rerunOf(view, peels, flags, io), flags, io, fleet);
}

/** All targets, or those that failed or were silent. */
export function chosenPeels(
  { targets }: JobView,
  flags: Pick<JobRerunFlags, "failed" | "silent">,
): string[] {
  if (!flags.failed && !flags.silent) return targets.map(({ peel }) => peel);
  const { failed, silent } = troubled(targets);
  return [...(flags.failed ? failed : []), ...(flags.silent ? silent : [])].sort();
}

function nobody({ job }: JobView, { failed, silent }: JobRerunFlags): ZesterError {
  const words = [...(failed ? ["failed"] : []), ...(silent ? ["was silent"] : [])].join(" or ");
  return new ZesterError("nobody_matches", `nobody ${words || "was a target"} in job ${job.jid}`);
}

function rerunOf(
  { job }: JobView,
  peels: readonly string[],
  flags: JobRerunFlags,
  { clock, random }: Io,
): RunRequest {
  const target = `L@${peels.join(",")}`;
  if (target.length > TARGET_LENGTH_MAX) {
    throw new ZesterError("usage", `${peels.length} peels are too many to name in one target`, {
      fix: `run it on the target of the job: ${job.targetExpr ?? "-"}`,
    });
  }
  return {
    jid: newJid(clock.now(), random),
    target,
    function: job.function,
    id: job.stateId ?? null,
    args: job.args,
    timeoutMs: flags.timeout || job.timeoutMs,
    pace: {},
  };
}

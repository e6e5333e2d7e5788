/** `zester job watch <jid>`: follows a job to its end, whoever started it. */
import type { Fleet } from "../app.ts";
import type { Io } from "../io.ts";
import type { ScreenFlags } from "../render/run_screen.ts";
import { followRun } from "./follow_run.ts";

/** What watching needs of the fleet. */
export type WatchFleet = Pick<Fleet, "ask" | "watch" | "cancel">;

/** Shows it as if it had been started here; gives the exit code that a run would. */
export async function jobWatch(
  given: string,
  flags: ScreenFlags,
  io: Io,
  fleet: WatchFleet,
): Promise<number> {
  const { job, jid, nowMs } = await fleet.ask("job", { jid: given, limit: 1 });
  return await followRun({
    jid,
    shown: {
      target: job?.targetExpr ?? "-",
      timeoutMs: job?.timeoutMs ?? null,
      leftMs: Math.max(0, (job?.deadlineMs ?? nowMs) - nowMs),
    },
    flags,
    follow: (onEvent, control) => fleet.watch(jid, onEvent, control),
    cancel: () => fleet.cancel(jid),
  }, io);
}

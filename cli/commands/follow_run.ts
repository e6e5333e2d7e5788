/** Follows a run to its end on the screen. Ctrl-C once detaches, twice within two seconds cancels; both are said. */
import { type FollowNotice, refusalError } from "../../core/client.ts";
import { formatDuration } from "../../core/duration.ts";
import { toZesterError, ZesterError } from "../../core/errors.ts";
import { INTERRUPT_WINDOW_MS } from "../../core/limits.ts";
import { printable } from "../../core/printable.ts";
import type { Io } from "../io.ts";
import { exitCodeOfError, renderError } from "../render/error.ts";
import { checkFields } from "../render/fields.ts";
import { OUTCOME_FIELDS } from "../render/run_data.ts";
import { newRun, type RunEvent, takeEvent } from "../render/run_model.ts";
import { type Screen, type ScreenFlags, screenOf, type Shown } from "../render/run_screen.ts";
import { chooseStyle } from "../render/style.ts";

/** How a follow is told to its caller, and how it is stopped. */
export interface FollowControl {
  readonly signal: AbortSignal;
  onNotice(notice: FollowNotice): void;
}

/** Reports what happens to a job until it is over. Throws when it cannot know how it went on. */
export type Follow = (
  onEvent: (event: RunEvent) => void,
  control: FollowControl,
) => Promise<void>;

export interface FollowedRun {
  readonly jid: string;
  readonly shown: Shown;
  readonly flags: ScreenFlags;
  readonly follow: Follow;
  /** Cancels the job; gives the status that it had. Null where there is no job to cancel. */
  readonly cancel: (() => Promise<{ status: string; ended: boolean }>) | null;
}

const DETAILS = "results.details.";
const DETACHED_EXIT = 130;
const CANCELLED_EXIT = 9;

/** Shows it; gives the exit code. What is wrong with the flags is said before anything is sent. */
export async function followRun(run: FollowedRun, io: Io): Promise<number> {
  // What stands in the details is the function's own affair.
  const fields = run.flags.fields?.filter((name) => !name.startsWith(DETAILS)) ?? [];
  checkFields(fields, OUTCOME_FIELDS);
  const screen = screenOf(run.flags, run.shown, io);
  const state = newRun();
  const stop = new AbortController();
  const interrupts = countInterrupts(io);
  const take = (event: RunEvent) =>
    screen.show(state, event, takeEvent(state, event, io.clock.monotonic()));
  const control: FollowControl = {
    signal: stop.signal,
    onNotice: (notice) => screen.note(state, noticeText(notice)),
  };
  try {
    const followed = run.follow(take, control).then(() => "over" as const);
    const end = await Promise.race([followed, interrupts.heard(1)]);
    if (end === "interrupted") {
      followed.catch(() => {}); // nobody waits for it any more
      stop.abort();
      return await detach(run, screen, interrupts, io);
    }
    if (state.refusal !== null) throw refusalError(state.refusal);
    if (state.targets.length === 0) throw nobody(run.shown.target);
    return await screen.finish(state);
  } catch (thrown) {
    return await screen.fail(state, toZesterError(thrown, "run"));
  } finally {
    screen.close();
    interrupts.stop();
  }
}

function nobody(target: string): ZesterError {
  return new ZesterError("nobody_matches", `nobody matches  ${target}`);
}

function noticeText(notice: FollowNotice): string {
  switch (notice.kind) {
    case "silence": {
      const who = notice.master === null ? "the masters" : `master ${printable(notice.master)}`;
      const next = notice.master === null ? "asking again" : "asking another";
      return `${who} fell silent for ${formatDuration(notice.afterMs)}, ${next}`;
    }
    case "nobody":
      return `no master answers, asking again in ${formatDuration(notice.retryMs)}`;
    case "pending":
      return `${printable(notice.why)}; asking again in ${formatDuration(notice.retryMs)}`;
  }
}

interface Interrupts {
  /** Resolves when Ctrl-C was pressed this often. */
  heard(times: number): Promise<"interrupted">;
  stop(): void;
}

function countInterrupts(io: Io): Interrupts {
  const waiting: { times: number; resolve: (word: "interrupted") => void }[] = [];
  let count = 0;
  const listening = io.onInterrupt(() => {
    count++;
    for (const { times, resolve } of waiting) if (count >= times) resolve("interrupted");
  });
  return {
    heard(times) {
      const { promise, resolve } = Promise.withResolvers<"interrupted">();
      if (count >= times) resolve("interrupted");
      else waiting.push({ times, resolve });
      return promise;
    },
    stop: () => listening.stop(),
  };
}

/** Says that the job goes on, and waits a moment for the second Ctrl-C. */
async function detach(
  run: FollowedRun,
  screen: Screen,
  interrupts: Interrupts,
  io: Io,
): Promise<number> {
  screen.close();
  const { jid, cancel } = run;
  if (cancel === null) {
    io.stderr("Stopped waiting: peels that were told go on, and leave audit events.\n");
    return DETACHED_EXIT;
  }
  io.stderr(
    `Detached: job ${jid} goes on.\n` +
      `  zester job watch ${jid}   follows it; Ctrl-C again within ${
        formatDuration(INTERRUPT_WINDOW_MS)
      } cancels it\n`,
  );
  const over = new AbortController();
  const passed = io.clock.sleep(INTERRUPT_WINDOW_MS, over.signal).then(() => "passed" as const)
    .catch(() => "passed" as const);
  const end = await Promise.race([interrupts.heard(2), passed]);
  over.abort();
  return end === "passed" ? DETACHED_EXIT : await cancelJob(run, cancel, io);
}

async function cancelJob(
  { jid, flags }: FollowedRun,
  cancel: NonNullable<FollowedRun["cancel"]>,
  io: Io,
): Promise<number> {
  io.stderr(`Cancelling job ${jid} …\n`);
  try {
    const { status, ended } = await cancel();
    if (ended) {
      io.stderr(`Job ${jid} had ended already: ${status}.\n`);
      return DETACHED_EXIT;
    }
    io.stderr(`Cancelled: job ${jid} is being stopped.\n`);
    return CANCELLED_EXIT;
  } catch (thrown) {
    const error = toZesterError(thrown, `cancel job ${jid}`);
    const { color = "auto", verbose = false } = flags;
    const style = chooseStyle({ flag: color, env: io.env, isTerminal: io.stderrIsTerminal });
    io.stderr(renderError(error, { style, verbose }));
    return exitCodeOfError(error.code);
  }
}

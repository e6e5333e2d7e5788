/** Who takes part in a run of jobs, and what the operator asks of them: fifty jobs of all kinds, drawn from the seed. */
import type { Job } from "../../core/wire/job.ts";
import type { SeededRandom } from "./seeded_random.ts";

export const MASTERS = ["m1", "m2", "m3"] as const;
export const PEELS: readonly string[] = Array.from({ length: 20 }, (_, at) => `p${at + 1}`);
export const OPERATOR = "alice";
export const JOBS = 50;

/** Functions of the simulated peels: one that runs beside others, and one that waits for its turn. */
export const LOOKS = "test.ping";
export const CHANGES = "state.apply";

/** One job that the operator dispatches in a run. */
export interface PlannedJob {
  readonly atMs: number;
  readonly asked: Pick<
    Job,
    "function" | "args" | "targetExpr" | "timeoutMs" | "batchSize" | "batchWaitMs" | "maxFail"
  >;
  /** Who must be told, as this file understands the target. */
  readonly targets: readonly string[];
  /** How long it takes on a peel. */
  readonly work: "short" | "long";
  /** When the operator cancels it, counted from its dispatch; null: never. */
  readonly cancelAfterMs: number | null;
  /** Given when it is first dispatched; a later try has the same. */
  jid: string | null;
  /** How often it was dispatched. */
  tries: number;
  isCancelSent: boolean;
  isOver: boolean;
}

/** Draws the jobs of a run, which are dispatched within this time. */
export function planJobs(random: SeededRandom, withinMs: number): PlannedJob[] {
  const times = Array.from({ length: JOBS }, () => random.between(500, withinMs));
  return times.sort((a, b) => a - b).map((atMs) => planJob(atMs, random));
}

function planJob(atMs: number, random: SeededRandom): PlannedJob {
  const { targetExpr, targets } = drawTarget(random);
  const isRolling = random.chance(0.2);
  const looks = random.chance(0.5);
  return {
    atMs,
    targets,
    // Work that waits for its turn is short, or one job would fill the run.
    work: looks && !isRolling && random.chance(0.5) ? "long" : "short",
    asked: {
      function: looks ? LOOKS : CHANGES,
      args: {},
      targetExpr,
      timeoutMs: isRolling ? 15_000 : random.pick([20_000, 60_000, 120_000]),
      ...(isRolling ? drawPace(random) : {}),
    },
    cancelAfterMs: drawCancel(random),
    jid: null,
    tries: 0,
    isCancelSent: false,
    isOver: false,
  };
}

/** Some with many targets, most with few: a job that is for all says nothing about those it is not for. */
function drawTarget(random: SeededRandom): { targetExpr: string; targets: readonly string[] } {
  const [one, other] = [random.pick(PEELS), random.pick(PEELS)];
  const few = PEELS.filter(() => random.chance(0.15));
  const list = few.length === 0 ? [one] : few;
  return random.pick([
    { targetExpr: "*", targets: PEELS },
    { targetExpr: "p1?", targets: PEELS.filter((peel) => /^p1.$/.test(peel)) },
    { targetExpr: `L@${list.join(",")}`, targets: list },
    { targetExpr: `L@${list.join(",")}`, targets: list },
    { targetExpr: one, targets: [one] },
    {
      targetExpr: `p? and not ${other}`,
      targets: PEELS.filter((peel) => peel.length === 2 && peel !== other),
    },
  ]);
}

function drawPace(random: SeededRandom): Pick<Job, "batchSize" | "batchWaitMs" | "maxFail"> {
  return {
    batchSize: random.pick(["1", "3", "50%"]),
    batchWaitMs: random.pick([0, 1_000]),
    ...(random.chance(0.3) ? { maxFail: "1" } : {}),
  };
}

/** Often at once, as with Ctrl-C on a command that was just typed; or at any time. */
function drawCancel(random: SeededRandom): number | null {
  if (!random.chance(0.35)) return null;
  return random.chance(0.3) ? random.between(0, 50) : random.between(50, 40_000);
}

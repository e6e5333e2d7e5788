/** The operator of a lab: gives orders through the real client, remembers each, and knows of which it was told that they were taken. */
import { systemClock } from "../../core/adapters/system_clock.ts";
import { systemRandom } from "../../core/adapters/system_random.ts";
import { dispatchAndFollow, type FollowEvent } from "../../core/client.ts";
import { isZesterError } from "../../core/errors.ts";
import { newKsuid } from "../../core/ids.ts";
import { type Job, newJob } from "../../core/wire/job.ts";
import { pause } from "../contract/target.ts";
import type { Marking } from "./executions.ts";
import type { Lab } from "./lab.ts";

/** A job that was asked for. */
export interface Order {
  readonly job: Job;
  /** Who said that it has the job; null while nobody did. */
  master: string | null;
  /** How it ended, as far as the operator was told. */
  end: Extract<FollowEvent, { kind: "done" | "refused" }> | null;
}

export interface OrderOptions {
  readonly function?: Marking;
  /** How long each peel is at it. */
  readonly holdMs?: number;
  readonly timeoutMs?: number;
}

/** Long enough to be taken over three times before it is over. */
const TIMEOUT_MS = 240_000;
const RUN_MS = 30_000;
const POLL_MS = 20;

/** A job for these peels, which nobody was told of yet. */
export function newOrder(target: string, options: OrderOptions = {}): Order {
  const { function: name = "chaos.change", holdMs = 0, timeoutMs = TIMEOUT_MS } = options;
  const nowMs = systemClock.now();
  const jid = newKsuid(nowMs, systemRandom);
  const args = { jid, hold_ms: holdMs };
  const job = newJob({ jid, function: name, args, targetExpr: target, timeoutMs }, nowMs);
  return { job, master: null, end: null };
}

/**
 * Asks for it, as often as the client does, until it has ended or, with `until`, was taken. An order that fails may have been taken all
 * the same: the evidence says.
 */
export async function give(
  order: Order,
  lab: Lab,
  options: { until?: "done" | "accepted"; signal?: AbortSignal } = {},
): Promise<void> {
  try {
    await dispatchAndFollow(
      order.job,
      (event) => {
        if (event.kind === "accepted") order.master = event.master;
        if (event.kind === "done" || event.kind === "refused") order.end = event;
      },
      lab.client,
      options,
    );
  } catch (thrown) {
    if (!isZesterError(thrown)) throw thrown;
  }
}

/** Waits until this many peels have begun to run it. */
export async function untilRun({ job }: Order, peels: number, lab: Lab): Promise<void> {
  for (let waitedMs = 0; waitedMs < RUN_MS; waitedMs += POLL_MS) {
    const runs = (await lab.executions()).filter(({ jid }) => jid === job.jid);
    if (runs.length >= peels) return;
    await pause(POLL_MS);
  }
  throw new Error(`job ${job.jid} does not run on ${peels} peels`);
}

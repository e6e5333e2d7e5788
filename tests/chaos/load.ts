/**
 * A stream of small jobs, as a busy fleet has: some on all peels, some on one, some that change things and some that look, and some
 * that are canceled as soon as a master has them.
 */
import { cancelJob } from "../../core/client.ts";
import { isZesterError } from "../../core/errors.ts";
import type { SeededRandom } from "../sim/seeded_random.ts";
import type { Lab } from "./lab.ts";
import { give, newOrder, type Order } from "./operator.ts";

/** Between two orders, on average. */
const PAUSE_MS = 150;
/** Long enough to be in the middle of it when somebody dies; short enough that a peel keeps up. */
const HOLD_MS_MAX = 200;
/** What is to be canceled is still under way when the cancel comes. */
const CANCELED = { function: "chaos.look", holdMs: 2_000 } as const;
const CANCELED_SHARE = 0.1;
const ALL_SHARE = 0.3;

/**
 * Gives orders while `use` runs, asynchronously: each is followed only until a master has it. Gives all of them back when each was
 * taken or given up.
 */
export async function underLoad(
  lab: Lab,
  random: SeededRandom,
  use: () => Promise<void>,
): Promise<readonly Order[]> {
  const orders: Order[] = [];
  const given = new Set<Promise<void>>();
  const patience = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function hand(order: Order, isCanceled: boolean): Promise<void> {
    await give(order, lab, { until: "accepted", signal: patience.signal });
    if (isCanceled && order.master !== null) await cancel(order, lab);
  }

  function next(): void {
    const isCanceled = random.chance(CANCELED_SHARE);
    const order = randomOrder(lab.peels, isCanceled, random);
    orders.push(order);
    const work = hand(order, isCanceled).finally(() => given.delete(work));
    given.add(work);
    timer = setTimeout(next, random.between(0, 2 * PAUSE_MS));
  }

  next();
  try {
    await use();
  } catch (error) {
    patience.abort();
    throw error;
  } finally {
    clearTimeout(timer);
    await Promise.all(given);
  }
  return orders;
}

function randomOrder(peels: readonly string[], isCanceled: boolean, random: SeededRandom): Order {
  const target = random.chance(ALL_SHARE) ? "*" : random.pick(peels);
  const holdMs = Math.floor(random.between(0, HOLD_MS_MAX));
  const name = random.pick(["chaos.change", "chaos.look"] as const);
  return newOrder(target, isCanceled ? CANCELED : { function: name, holdMs });
}

/** Once: whoever was asked may be dead. Whether anybody heard it, the job must end. */
async function cancel({ job }: Order, lab: Lab): Promise<void> {
  try {
    await cancelJob(job.jid, lab.client);
  } catch (thrown) {
    if (!isZesterError(thrown)) throw thrown;
  }
}

/** How much of the load got through: too little would prove nothing. */
export function countAccepted(orders: readonly Order[]): number {
  return orders.filter(({ master }) => master !== null).length;
}

/**
 * Everybody is killed again and again, at random moments and at random fail points, while jobs are being dispatched. The seed decides
 * who, where and when; how the processes interleave is the machine's choice. `CHAOS_SEED=n` tries another.
 */
import { natsServerOrSkip } from "../fakes/nats_server.ts";
import { SeededRandom } from "../sim/seeded_random.ts";
import { settle } from "./evidence.ts";
import type { KillOrder } from "./kill_switch.ts";
import { type Lab, withLab } from "./lab.ts";
import { underLoad } from "./load.ts";
import { POINTS } from "./points.ts";

const ignore = await natsServerOrSkip() === null;
const seed = Deno.env.get("CHAOS_SEED") ?? "1";

const MASTERS = {
  ids: ["m1", "m2", "m3"],
  points: POINTS.master,
  /** How long one lives at most, if it does not reach its point. */
  lifeMs: 12_000,
};
const PEELS = {
  ids: ["a", "b", "c", "d"],
  points: POINTS.peel,
  lifeMs: 6_000,
};

const CHAOS_MS = 30_000;
/** What the dead owned is taken over within a minute; then whoever is silent is waited for. */
const SETTLE_MS = 120_000;

Deno.test({
  name:
    `a fleet whose members are killed at random under load loses no job and runs none twice (seed ${seed})`,
  ignore,
  fn: () =>
    withLab({ masters: MASTERS.ids, peels: PEELS.ids }, async (lab) => {
      const random = new SeededRandom(seed);
      await Promise.all([...MASTERS.ids, ...PEELS.ids].map((id) => lab.start(id)));
      const orders = await underLoad(lab, random.fork("load"), async () => {
        const endMs = performance.now() + CHAOS_MS;
        await Promise.all(
          [MASTERS, PEELS].flatMap((group) =>
            group.ids.map((id) => torment(id, group, random.fork(id), endMs, lab))
          ),
        );
      });
      await settle(lab, orders, SETTLE_MS);
    }),
});

/** Kills one member and starts it again, until the time is over; then it may live. */
async function torment(
  id: string,
  { points, lifeMs }: { readonly points: readonly string[]; readonly lifeMs: number },
  random: SeededRandom,
  endMs: number,
  lab: Lab,
): Promise<void> {
  while (performance.now() < endMs) {
    await deathOr(id, random.between(0, lifeMs), lab);
    await lab.kill(id);
    await lab.start(id, random.chance(0.5) ? randomOrder(points, random) : undefined);
  }
  await lab.kill(id);
  await lab.start(id);
}

function randomOrder(points: readonly string[], random: SeededRandom): KillOrder {
  return { point: random.pick(points), nth: 1 + Math.floor(random.between(0, 5)) };
}

/** Waits until the time is over or the member has killed itself. */
async function deathOr(id: string, ms: number, lab: Lab): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([lab.member(id).ended, over]);
  clearTimeout(timer);
}

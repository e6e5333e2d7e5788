/** SIGSTOP of masters under load: for 30 seconds, which the others must bear, and until the others have taken its jobs. */
import assert from "node:assert/strict";
import { pause } from "../contract/target.ts";
import { natsServerOrSkip } from "../fakes/nats_server.ts";
import { SeededRandom } from "../sim/seeded_random.ts";
import { readEvidence, settle } from "./evidence.ts";
import { type Lab, withLab } from "./lab.ts";
import { underLoad } from "./load.ts";
import { give, newOrder, type Order } from "./operator.ts";

const ignore = await natsServerOrSkip() === null;
const MASTERS = ["paused", "replaced", "live"];
const PEELS = ["a", "b", "c"];
const PAUSED_MS = 30_000;
/** Still runs when a stopped master is back; looks only, so that it keeps no other job from its turn. */
const LONG = { function: "chaos.look", holdMs: 75_000 } as const;
/** A heartbeat expires, two scans miss it, and the machine may be slow. */
const RECLAIM_MS = 90_000;
const SETTLE_MS = 120_000;
const POLL_MS = 500;

Deno.test({
  name:
    "a master that was stopped, for 30 s or until others had its jobs, ends nothing twice when it goes on",
  ignore,
  fn: () =>
    withLab({ masters: MASTERS, peels: PEELS }, async (lab) => {
      await Promise.all([...MASTERS, ...PEELS].map((id) => lab.start(id)));
      const held = await untilAllHold(lab);
      const given = await underLoad(lab, new SeededRandom("stopped"), async () => {
        await Promise.all([
          stopped("paused", lab, () => pause(PAUSED_MS)),
          stopped("replaced", lab, () => untilTaken(held.get("replaced") ?? [], lab)),
        ]);
      });
      const orders = [...given, ...[...held.values()].flat()];
      const { records } = await settle(lab, orders, SETTLE_MS);
      for (const { job } of held.get("replaced") ?? []) {
        assert.equal(records.get(job.jid)?.status, "complete");
        assert.equal(records.get(job.jid)?.reclaimCount, 1);
      }
    }),
});

async function stopped(id: string, lab: Lab, wait: () => Promise<void>): Promise<void> {
  lab.member(id).kill("SIGSTOP");
  try {
    await wait();
  } finally {
    lab.member(id).kill("SIGCONT");
  }
}

/** Gives out long jobs until each master has one. Who gets which is the server's choice. */
async function untilAllHold(lab: Lab): Promise<ReadonlyMap<string, Order[]>> {
  const ids = new Map(
    await Promise.all(MASTERS.map(async (name) => [await lab.masterId(name), name] as const)),
  );
  const held = new Map<string, Order[]>();
  while (held.size < MASTERS.length) {
    const order = newOrder("*", LONG);
    await give(order, lab, { until: "accepted" });
    const name = ids.get(order.master ?? "") ?? "";
    held.set(name, [...held.get(name) ?? [], order]);
  }
  return held;
}

async function untilTaken(orders: readonly Order[], lab: Lab): Promise<void> {
  const deadlineMs = performance.now() + RECLAIM_MS;
  for (;;) {
    const { records } = await readEvidence(lab, []);
    if (orders.every(({ job, master }) => records.get(job.jid)?.owner !== master)) return;
    assert.ok(performance.now() < deadlineMs, "nobody has taken the jobs over");
    await pause(POLL_MS);
  }
}

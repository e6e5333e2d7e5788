/**
 * Kill -9 of masters at each step of a dispatch, of a watch, of a cancel and of a takeover. All limits are the real ones: heartbeats
 * live 15 seconds, and two scans 20 seconds apart must miss one. So the rows share one fleet, and wait together.
 */
import assert from "node:assert/strict";
import { cancelJob } from "../../core/client.ts";
import type { JobStatus } from "../../core/wire/job.ts";
import { natsServerOrSkip } from "../fakes/nats_server.ts";
import { countRuns, type Evidence, pairOf } from "./compare.ts";
import { settle } from "./evidence.ts";
import type { KillOrder } from "./kill_switch.ts";
import { type Lab, withLab } from "./lab.ts";
import { give, newOrder, type Order, type OrderOptions, untilRun } from "./operator.ts";
import { type MasterPoint, POINTS, pointsIn } from "./points.ts";

const ignore = await natsServerOrSkip() === null;
const PEELS = ["a", "b", "c"];

interface Row extends OrderOptions, KillOrder {
  readonly point: MasterPoint;
  /** The job is canceled as soon as all peels run it. */
  readonly isCanceled?: boolean;
  readonly want: readonly JobStatus[];
  /** How many of the peels have run the job in the end. */
  readonly runs: number;
}

/** Over long before anybody can take the job over. */
const SHORT_MS = 10_000;
/** Nothing but a cancel ends such a job in time. It changes nothing, so it keeps no other from its turn. */
const ENDLESS = { function: "chaos.look", holdMs: 600_000, isCanceled: true } as const;
/** The request to the first peel leaves the process before it dies. */
const HELD_MS = 100;

/** One master each, and one job, which that master is the first to get. */
const ROWS: readonly Row[] = [
  { point: "dispatch.planned", want: ["complete"], runs: 3 },
  { point: "dispatch.indexed", want: ["complete"], runs: 3 },
  { point: "dispatch.claimed", want: ["complete"], runs: 3 },
  { point: "dispatch.claimed", timeoutMs: SHORT_MS, want: ["not_sent"], runs: 0 },
  { point: "dispatch.logged", want: ["complete"], runs: 3 },
  { point: "dispatch.running", want: ["complete"], runs: 3 },
  { point: "dispatch.running", timeoutMs: SHORT_MS, want: ["timeout"], runs: 0 },
  { point: "dispatch.published_one", heldMs: HELD_MS, want: ["complete"], runs: 3 },
  {
    point: "dispatch.published_one",
    heldMs: HELD_MS,
    timeoutMs: SHORT_MS,
    want: ["partial"],
    runs: 1,
  },
  { point: "watch.before_finish", want: ["complete"], runs: 3 },
  { point: "watch.finished", want: ["complete"], runs: 3 },
  // If the peels were quicker than the successor, all have answered, and none did the job.
  { point: "cancel.stored", ...ENDLESS, want: ["canceled", "failed"], runs: 3 },
  { point: "cancel.told", ...ENDLESS, want: ["canceled", "failed"], runs: 3 },
];

/**
 * Masters that only take over, and die of it, too. They scan in this order: the first dies at its first job, the second at the first
 * one whose time is over, the third at the first one that runs.
 */
const RECLAIMS: readonly { readonly id: string; readonly point: MasterPoint }[] = [
  { id: "taker", point: "reclaim.taken" },
  { id: "ender", point: "reclaim.ended" },
  { id: "recaller", point: "reclaim.recalled" },
];

const KILLED_MS = 30_000;
/** A heartbeat expires, two scans miss it, and the machine may be slow. */
const RECLAIM_MS = 90_000;
const SETTLE_MS = 90_000;

Deno.test("every fail point of a master has a row, and there are no others", async () => {
  assert.deepEqual(await pointsIn("master"), POINTS.master.toSorted());
  const rows = new Set([...ROWS, ...RECLAIMS].map(({ point }) => point));
  assert.deepEqual([...rows].sort(), POINTS.master.toSorted());
});

Deno.test({
  name: "a master killed at any step leaves no job behind, and none that runs twice",
  ignore,
  async fn(t) {
    const victims = ROWS.map(({ point }, at) => `${at}-${point.replaceAll(/[._]/g, "-")}`);
    await withLab(
      { masters: [...victims, ...RECLAIMS.map(({ id }) => id)], peels: PEELS },
      async (lab) => {
        await Promise.all(PEELS.map((peel) => lab.start(peel)));
        const orders: Order[] = [];
        for (const [at, row] of ROWS.entries()) orders.push(await runRow(row, victims[at]!, lab));
        for (const { id, point } of RECLAIMS) await lab.start(id, { point });
        await Promise.all(RECLAIMS.map(({ id }) => lab.untilKilled(id, RECLAIM_MS)));
        await Promise.all(victims.slice(0, 2).map((victim) => lab.start(victim)));
        // The operator has been asking all the time, as far as the masters know: the same job, under the same id.
        await Promise.all(orders.map((order) => give(order, lab)));
        const evidence = await settle(lab, orders, SETTLE_MS);
        for (const [at, row] of ROWS.entries()) {
          await t.step(describe(row), () => check(row, orders[at]!.job.jid, evidence));
        }
      },
    );
  },
});

/** Has the master that is to die get a job, alone in the fleet, so that nobody else can. */
async function runRow(row: Row, victim: string, lab: Lab): Promise<Order> {
  const { point, nth, heldMs, isCanceled, want: _, runs: __, ...options } = row;
  const order = newOrder("*", options);
  await lab.start(victim, { point, nth: nth ?? 1, heldMs: heldMs ?? 0 });
  const patience = new AbortController();
  const given = give(order, lab, { signal: patience.signal });
  if (isCanceled) {
    await untilRun(order, PEELS.length, lab);
    cancelJob(order.job.jid, lab.client).catch(() => {}); // whoever was asked is dead
  }
  await lab.untilKilled(victim, KILLED_MS);
  patience.abort();
  await given;
  return order;
}

function check({ want, runs, isCanceled }: Row, jid: string, evidence: Evidence): void {
  const record = evidence.records.get(jid);
  assert.ok(record !== undefined && want.includes(record.status), record?.status);
  const ran = countRuns(evidence.executions);
  assert.equal(PEELS.filter((peel) => ran.has(pairOf(jid, peel))).length, runs);
  if (!isCanceled) return;
  for (const peel of PEELS) {
    assert.match(evidence.said.get(pairOf(jid, peel))?.[0]?.error ?? "", /^canceled: /, peel);
  }
}

function describe({ point, timeoutMs, want, runs }: Row): string {
  const short = timeoutMs === undefined ? "" : " of a short job";
  return `${point}${short}: ${want.join(" or ")}, ran on ${runs} of ${PEELS.length}`;
}

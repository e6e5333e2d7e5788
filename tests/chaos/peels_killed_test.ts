/** Kill -9 of a peel at each step between a request and its stored return, and while it is told of a cancel. */
import assert from "node:assert/strict";
import { cancelJob } from "../../core/client.ts";
import { reasonOf } from "../../core/return_reason.ts";
import { natsServerOrSkip } from "../fakes/nats_server.ts";
import { countRuns, type Evidence, pairOf } from "./compare.ts";
import { settle } from "./evidence.ts";
import type { Marking } from "./executions.ts";
import { type Lab, withLab } from "./lab.ts";
import { give, newOrder, type Order, untilRun } from "./operator.ts";
import { type PeelPoint, POINTS, pointsIn } from "./points.ts";

const ignore = await natsServerOrSkip() === null;

interface Row {
  readonly point: PeelPoint;
  readonly function?: Marking;
  /** The job does not end by itself, and is canceled as soon as it runs. */
  readonly isCanceled?: boolean;
  /** How often the job ran, and what its peel says of it; either of several where the restart may be too late. */
  readonly want: readonly string[];
}

/** A request that was not written down is taken when it comes again, if the peel is back by then. */
const AGAIN = ["success, ran 1×", "unreachable, ran 0×"];

const ROWS: readonly Row[] = [
  { point: "accept.verified", want: AGAIN },
  { point: "accept.verified", function: "chaos.look", want: AGAIN },
  { point: "accept.journaled", want: ["interrupted, ran 0×"] },
  { point: "accept.journaled", function: "chaos.look", want: ["interrupted, ran 0×"] },
  { point: "accept.acked", want: ["interrupted, ran 0×"] },
  { point: "exec.started", want: ["interrupted, ran 0×"] },
  { point: "exec.finished", want: ["interrupted, ran 1×"] },
  { point: "exec.finished", function: "chaos.look", want: ["interrupted, ran 1×"] },
  { point: "return.journaled", want: ["success, ran 1×"] },
  { point: "return.stored", want: ["success, ran 1×"] },
  { point: "cancel.heard", isCanceled: true, want: ["interrupted, ran 1×"] },
  { point: "cancel.journaled", isCanceled: true, want: ["canceled, ran 1×"] },
];

/** Acks leave the process before it dies; that it died before they left is the row above. */
const HELD_MS = 50;
const ENDLESS_MS = 600_000;
const KILLED_MS = 30_000;
/** A job of which nothing is heard ends by then. */
const TIMEOUT_MS = 60_000;
const SETTLE_MS = 60_000;

Deno.test("every fail point of a peel has a row, and there are no others", async () => {
  assert.deepEqual(await pointsIn("peel"), POINTS.peel.toSorted());
  assert.deepEqual([...new Set(ROWS.map(({ point }) => point))].sort(), POINTS.peel.toSorted());
});

Deno.test({
  name: "a peel killed at any step runs a job at most once and tells what became of it",
  ignore,
  async fn(t) {
    const peels = ROWS.map(({ point }, at) => `${at}-${point.replace(".", "-")}`);
    await withLab({ masters: ["m1"], peels }, async (lab) => {
      const orders = ROWS.map((row, at) =>
        newOrder(peels[at] ?? "", {
          function: row.function ?? "chaos.change",
          holdMs: row.isCanceled ? ENDLESS_MS : 0,
          timeoutMs: TIMEOUT_MS,
        })
      );
      await Promise.all([
        lab.start("m1"),
        ...ROWS.map(({ point }, at) =>
          lab.start(peels[at] ?? "", {
            point,
            ...(point === "accept.acked" ? { heldMs: HELD_MS } : {}),
          })
        ),
      ]);
      await Promise.all(ROWS.map((row, at) => runRow(row, peels[at] ?? "", orders[at]!, lab)));
      const evidence = await settle(lab, orders, SETTLE_MS);
      for (const [at, { point, function: name = "chaos.change", want }] of ROWS.entries()) {
        await t.step(`${point} of ${name}: ${want.join(" or ")}`, () => {
          const found = outcomeOf(orders[at]!.job.jid, peels[at] ?? "", evidence);
          assert.ok(want.includes(found), found);
        });
      }
    });
  },
});

async function runRow(row: Row, peel: string, order: Order, lab: Lab): Promise<void> {
  const given = give(order, lab);
  if (row.isCanceled) {
    await untilRun(order, 1, lab);
    await cancelJob(order.job.jid, lab.client);
  }
  await lab.untilKilled(peel, KILLED_MS);
  await lab.start(peel);
  await given;
}

function outcomeOf(jid: string, peel: string, { kept, said, executions }: Evidence): string {
  const pair = pairOf(jid, peel);
  const given = said.get(pair)?.[0] ?? kept.get(pair);
  const what = given?.unreachable
    ? "unreachable"
    : given?.success
    ? "success"
    : reasonOf(given?.error) ?? given?.error;
  return `${what}, ran ${countRuns(executions).get(pair) ?? 0}×`;
}

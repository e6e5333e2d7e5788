/** Kill -9 of the nats-server, and of each node of a cluster of three in turn, while jobs are being dispatched. */
import assert from "node:assert/strict";
import { pause } from "../contract/target.ts";
import { natsServerOrSkip } from "../fakes/nats_server.ts";
import { SeededRandom } from "../sim/seeded_random.ts";
import { settle } from "./evidence.ts";
import { type Lab, withLab } from "./lab.ts";
import { countAccepted, underLoad } from "./load.ts";

const ignore = await natsServerOrSkip() === null;
const MASTERS = ["m1", "m2"];
const PEELS = ["a", "b", "c"];
/** Jobs are in all their states when the server goes, while it is away, and when it is back. */
const LOAD_MS = 4_000;
const AWAY_MS = 3_000;
const SETTLE_MS = 90_000;
/** What is asked for while there is no server is refused at once; far more than this is taken before and after. */
const ACCEPTED_MIN = 20;

/** Kills under load, and compares. */
async function survives(lab: Lab, kill: () => Promise<void>): Promise<void> {
  await Promise.all([...MASTERS, ...PEELS].map((id) => lab.start(id)));
  const orders = await underLoad(lab, new SeededRandom("server"), async () => {
    await pause(LOAD_MS);
    await kill();
  });
  await settle(lab, orders, SETTLE_MS);
  const accepted = countAccepted(orders);
  assert.ok(accepted >= ACCEPTED_MIN, `only ${accepted} of ${orders.length} jobs were taken`);
}

Deno.test({
  name: "a nats-server that is killed twice under load loses no job and makes none run twice",
  ignore,
  fn: () =>
    withLab({ masters: MASTERS, peels: PEELS }, (lab) =>
      survives(lab, async () => {
        for (let times = 0; times < 2; times++) {
          await lab.nats.kill();
          await pause(AWAY_MS);
          await lab.nats.restart();
          await pause(LOAD_MS);
        }
      })),
});

Deno.test({
  name:
    "a cluster whose nodes are killed one after another under load loses no job and makes none run twice",
  ignore,
  fn: () =>
    withLab({ masters: MASTERS, peels: PEELS, cluster: 3 }, (lab) =>
      survives(lab, async () => {
        for (const node of lab.nats.urls.keys()) {
          await lab.nats.kill(node);
          await pause(AWAY_MS);
          await lab.nats.restart(node);
          await pause(LOAD_MS);
        }
      })),
});

/**
 * Masters, peels and an operator, all with their real code: jobs are dispatched and canceled while everything fails around
 * them. What the peels really ran is compared with what the store and the operator were told.
 */
import { buckets, streams } from "../../core/buckets.ts";
import { encodePublicNkey } from "../../core/crypto/nkey.ts";
import { newEnrollmentId } from "../../core/ids.ts";
import { encodeEnrollment } from "../../core/wire/enrollment.ts";
import { jobsCheckers } from "./jobs_checkers.ts";
import { JobsHistory } from "./jobs_history.ts";
import {
  type JobsVariant,
  peelSigner,
  startMaster,
  startOperator,
  startPeel,
} from "./jobs_nodes.ts";
import { MASTERS, OPERATOR, PEELS, planJobs } from "./jobs_workload.ts";
import type { Scenario, World } from "./world.ts";

const CHAOS_MS = 120_000;
/** The last jobs meet faults, too. */
const DISPATCHES_MS = 100_000;

/** What the scenario hopes to see in some runs, besides faults. */
export const JOBS_SOMETIMES = [
  "job complete",
  "job partial",
  "job failed",
  "job canceled",
  "job timeout",
  "job not_sent",
  "job taken over",
  "work interrupted",
  "stranger answered",
  "tombstone kept",
  "cancel answered",
  "cancel took effect",
  "operator told the end",
  "operator left in the dark",
] as const;

/** The scenario, with the real code or broken parts of it. */
export function jobsScenario(variant: JobsVariant = {}): Scenario {
  return {
    name: "jobs",
    summary: "three masters and twenty peels run fifty jobs of an operator",
    chaosMs: CHAOS_MS,
    settleMs: 480_000,
    steadyMs: 5_000,
    traffic: 4,
    async build(world) {
      for (const spec of Object.values(buckets)) await world.admin.ensureBucket(spec);
      for (const spec of Object.values(streams)) await world.admin.ensureStream(spec);
      await enrollPeels(world);
      const planned = planJobs(world.random.fork("jobs"), DISPATCHES_MS);
      const history = new JobsHistory(world, { planned, checkers: jobsCheckers() });
      await history.watch();
      const isIdle = addNodes(world, history, variant);
      return {
        afterEach: () => history.check(),
        // I8: after healing all is settled.
        settled: () =>
          history.open.size === 0 && planned.every(({ jid }) => jid !== null) &&
          [...history.indexed].every((jid) => !history.records.has(jid)) &&
          world.nodes.every((node) => node.isRunning) && isIdle(),
        atEnd: () => history.checkAll(),
      };
    },
  };
}

/** Gives a function that says whether no peel has anything left to do. */
function addNodes(world: World, history: JobsHistory, variant: JobsVariant): () => boolean {
  for (const name of MASTERS) {
    world.addNode({
      name,
      role: "master",
      troubles: 0.7,
      start: (node) => startMaster(node, history, variant),
    });
  }
  const idle = new Map<string, () => boolean>();
  for (const name of PEELS) {
    world.addNode({
      name,
      role: "peel",
      troubles: 0.3,
      start(node) {
        const peel = startPeel(node, history, variant);
        idle.set(name, peel.isIdle);
        return peel;
      },
    });
  }
  world.addNode({
    name: OPERATOR,
    role: "operator",
    troubles: 0.2,
    start: (node) => startOperator(node, history),
  });
  return () => [...idle.values()].every((isIdle) => isIdle());
}

async function enrollPeels(world: World): Promise<void> {
  const random = world.random.fork("enrollments");
  for (const peelId of PEELS) {
    const id = newEnrollmentId(0, random);
    const record = encodeEnrollment({
      id,
      peelId,
      publicKey: encodePublicNkey("user", peelSigner(peelId).publicKey),
      curvePublicKey: "",
      state: "active",
      generation: 1,
      metadata: {},
      createdAtMs: 0,
      updatedAtMs: 0,
    });
    const bucket = world.truth.store.bucket(buckets.enrollments.name);
    await bucket.put(id, record);
    await bucket.put(`peel.${peelId}`, new TextEncoder().encode(id));
  }
}

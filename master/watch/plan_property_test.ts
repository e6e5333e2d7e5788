import assert from "node:assert/strict";
import fc from "fast-check";
import { type Job, newJob } from "../../core/wire/job.ts";
import type { Return } from "../../core/wire/return.ts";
import { hearAck, hearReturn, recall, startWatch, step, type WatchState } from "./plan.ts";

const JID = "0ujsswThIGTUYm2K8FjOOfXtY1K";
const PEELS = ["a", "b", "c", "d"];

function returnOf(peelId: string, success: boolean, unreachable = false): Return {
  const given = { jid: JID, peelId, success, returnData: null, durationMs: 0, timestampMs: 0 };
  return unreachable ? { ...given, unreachable } : given;
}

const jobs = fc.record({ batchSize: fc.constantFrom("1", "2", "100%"), maxFail: fc.constant("2") })
  .map((pace): Job => ({
    ...newJob({ jid: JID, function: "f", args: {}, targetExpr: "*", timeoutMs: 7_000 }, 0),
    ...pace,
    deadlineMs: 60_000,
  }));
const peels = fc.constantFrom(...PEELS, "stranger");
const events = fc.array(fc.oneof(
  fc.record({ kind: fc.constant("ack" as const), peel: peels }),
  fc.record({ kind: fc.constant("return" as const), peel: peels, success: fc.boolean() }),
  fc.record({ kind: fc.constant("recall" as const), peel: peels, unreachable: fc.boolean() }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 6_000 }) }),
));

Deno.test("step() keeps count of the unanswered and the failed, whatever is heard in whatever order", () => {
  fc.assert(fc.property(jobs, events, (job, heard) => {
    const state = startWatch(job, PEELS);
    let nowMs = 0;
    for (const event of heard) {
      if (event.kind === "ack") hearAck(state, event.peel, nowMs);
      else if (event.kind === "return") {
        hearReturn(state, event.peel, returnOf(event.peel, event.success), nowMs);
      } else if (event.kind === "recall") {
        const returns = [returnOf(event.peel, !event.unreachable, event.unreachable)];
        recall(state, { acked: [event.peel], returns }, nowMs);
      } else nowMs += event.ms;
      step(state, JID, nowMs);
      assert.deepEqual(kept(state), counted(state));
    }
  }));
});

function kept({ unanswered, failed }: WatchState) {
  return { unanswered: [...unanswered].sort(), failed };
}

function counted({ sent, returns }: WatchState) {
  return {
    unanswered: [...sent.keys()].filter((peel) => !returns.has(peel)).sort(),
    failed: [...returns.values()].filter(({ success }) => !success).length,
  };
}

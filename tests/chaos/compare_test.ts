import assert from "node:assert/strict";
import type { Job } from "../../core/wire/job.ts";
import { newJob } from "../../core/wire/job.ts";
import type { Return } from "../../core/wire/return.ts";
import { compare, type Evidence, pairOf } from "./compare.ts";

const JID = "j";
const PAIR = pairOf(JID, "a");
const RUN = { jid: JID, peel: "a", pid: 1, epoch: "1" };

function record(change: Partial<Job>): Pick<Evidence, "records" | "told"> {
  const asked = { jid: JID, function: "f", args: {}, targetExpr: "a", timeoutMs: 1 };
  const job: Job = { ...newJob(asked, 0), targets: ["a"], status: "complete", ...change };
  return { records: new Map([[JID, job]]), told: new Map([[JID, job.status]]) };
}

function given(error?: string): Return {
  const said = { jid: JID, peelId: "a", returnData: null, durationMs: 1, timestampMs: 1 };
  return { ...said, success: error === undefined, ...(error === undefined ? {} : { error }) };
}

function answers(...said: Return[]): Pick<Evidence, "kept" | "said"> {
  return {
    said: new Map([[PAIR, said]]),
    kept: new Map(said.slice(0, 1).map((each) => [PAIR, each])),
  };
}

const SILENCE = { said: new Map(), kept: new Map() };
const UNREACHABLE = {
  said: new Map(),
  kept: new Map([[PAIR, { ...given("UNREACHABLE"), unreachable: true }]]),
};

/** One job on one peel, done and told. */
const GOOD: Evidence = {
  accepted: [JID],
  ...record({}),
  active: [],
  dispatched: new Set([JID]),
  ...answers(given()),
  executions: [RUN],
};

const cases: [name: string, change: Partial<Evidence>, finding: RegExp | null][] = [
  ["has nothing to say of a job that ran once", {}, null],
  ["finds a second run", { executions: [RUN, { ...RUN, pid: 2 }] }, /ran 2×/],
  ["finds a success without a run", { executions: [] }, /says success, ran 0×/],
  ["finds a run without a dispatch", { dispatched: new Set() }, /never dispatched/],
  ["finds a run on a stranger", { executions: [RUN, { ...RUN, peel: "b" }] }, /is no target/],
  ["finds a run that nobody tells of", {
    ...record({ status: "timeout" }),
    ...SILENCE,
  }, /no return tells of it/],
  [
    "finds a run of an unreachable peel",
    { ...record({ status: "failed" }), ...UNREACHABLE },
    /ran/,
  ],
  ["takes it that an unreachable peel did not run", {
    ...record({ status: "failed" }),
    ...UNREACHABLE,
    executions: [],
  }, null],
  ["finds a job that was accepted and is gone", { records: new Map(), executions: [] }, /lost/],
  ["finds a job that does not end", record({ status: "running" }), /still running/],
  ["finds an end that is not the one that was told", {
    told: new Map([[JID, "failed"]]),
  }, /was told failed/],
  ["finds an index entry of an ended job", { active: [JID] }, /still in the index/],
  ["finds a run of a job that was not sent", record({ status: "not_sent" }), /was not sent/],
  ["finds a run that was said not to have begun", {
    ...record({ status: "failed" }),
    ...answers(given("canceled: before it began")),
  }, /before it began", ran 1×/],
  ...[[], [RUN]].map((executions): [string, Partial<Evidence>, null] => [
    `takes an interrupted job as it is, with ${executions.length} runs`,
    {
      ...record({ status: "failed" }),
      ...answers(given("interrupted: the peel stopped while this ran")),
      executions,
    },
    null,
  ]),
  ["finds a peel that changes its mind", answers(given(), given("failed")), /first this/],
  ["finds a completeness that is not kept", { kept: new Map() }, /complete without a/],
  ["finds a return that was made up", {
    ...record({ status: "failed" }),
    kept: new Map([[PAIR, given("made up")]]),
  }, /never said/],
];

for (const [name, change, finding] of cases) {
  Deno.test(`compare() ${name}`, () => {
    const findings = compare({ ...GOOD, ...change });
    if (finding === null) assert.deepEqual(findings, []);
    else assert.match(findings.join("\n"), finding);
  });
}

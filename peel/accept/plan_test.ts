import assert from "node:assert/strict";
import { CLOCK_SKEW_MS } from "../../core/limits.ts";
import { reasonOf } from "../../core/return_reason.ts";
import { type AcceptDecision, type AcceptView, planAccept } from "./plan.ts";

const view: AcceptView = {
  firstIssuedMs: 1_000_000,
  entry: undefined,
  isLive: false,
  hasTombstone: false,
  completeSinceMs: 0,
  forgottenMs: 0,
};

const [accepted, started, finished, stored] =
  (["accepted", "started", "finished", "stored"] as const)
    .map((state) => ({ state, isCanceled: false }));

/** What it does; for a refusal, why; for what is closed, the reason that its return gives. */
function shown(decision: AcceptDecision): string {
  if (decision.do === "refuse") return decision.reason;
  return decision.do === "close" ? `close ${reasonOf(decision.error)}` : decision.do;
}

const cases: [name: string, change: Partial<AcceptView>, want: string][] = [
  ["runs a job it has never seen", {}, "run"],
  ["acknowledges again what waits", { entry: accepted, isLive: true }, "acknowledge"],
  ["acknowledges again what runs", { entry: started, isLive: true }, "acknowledge"],
  ["answers what is finished from the journal", { entry: finished }, "answer"],
  ["answers what is finished and still in hand", { entry: finished, isLive: true }, "answer"],
  ["answers what is stored from the journal", { entry: stored }, "answer"],
  ["closes what a former life had accepted", { entry: accepted }, "close interrupted"],
  ["closes what a former life had begun", { entry: started }, "close interrupted"],
  [
    "closes what was canceled in a former life as canceled",
    { entry: { state: "started", isCanceled: true } },
    "close canceled",
  ],
  ["refuses a job that was canceled before it came", { hasTombstone: true }, "canceled"],
  [
    "answers what it knows even after the journal was lost",
    { entry: finished, completeSinceMs: 2_000_000 },
    "answer",
  ],
  [
    "refuses a job from before the journal was lost",
    { completeSinceMs: 1_000_001 },
    "journal_lost",
  ],
  [
    "refuses a job that may be from before, clocks being what they are",
    { completeSinceMs: 1_000_001 - CLOCK_SKEW_MS },
    "journal_lost",
  ],
  [
    "runs a job that is surely younger than the new journal",
    { completeSinceMs: 1_000_000 - CLOCK_SKEW_MS },
    "run",
  ],
  [
    "refuses a job from before what was dropped",
    { forgottenMs: 1_000_001 - CLOCK_SKEW_MS },
    "expired",
  ],
  [
    "runs a job that is younger than what was dropped",
    { forgottenMs: 1_000_000 - CLOCK_SKEW_MS },
    "run",
  ],
];
for (const [name, change, want] of cases) {
  Deno.test(`planAccept() ${name}`, () => {
    assert.equal(shown(planAccept({ ...view, ...change })), want);
  });
}

Deno.test("planAccept() says whether an interrupted job had begun", () => {
  const error = (entry: AcceptView["entry"]) => {
    const decision = planAccept({ ...view, entry });
    return decision.do === "close" ? decision.error : "";
  };
  assert.match(error(accepted), /before this began/);
  assert.match(error(started), /while this ran/);
});

import assert from "node:assert/strict";
import { CLOCK_SKEW_MS } from "../../core/limits.ts";
import { type AcceptDecision, type AcceptView, planAccept } from "./plan.ts";

const view: AcceptView = {
  jid: "j",
  firstIssuedMs: 1_000_000,
  known: false,
  journalCompleteSinceMs: 0,
};

const cases: [
  name: string,
  change: Partial<AcceptView>,
  want: AcceptDecision["do"] | "replayed" | "journal_lost",
][] = [
  ["runs a job it has never seen", {}, "run"],
  ["does not run a job it knows", { known: true }, "replayed"],
  [
    "refuses a job from before the journal was lost",
    { journalCompleteSinceMs: 1_000_001 },
    "journal_lost",
  ],
  ["refuses a job that may be from before, clocks being what they are", {
    journalCompleteSinceMs: 1_000_001 - CLOCK_SKEW_MS,
  }, "journal_lost"],
  ["runs a job that is surely younger than the new journal", {
    journalCompleteSinceMs: 1_000_000 - CLOCK_SKEW_MS,
  }, "run"],
];
for (const [name, change, want] of cases) {
  Deno.test(`planAccept() ${name}`, () => {
    const decision = planAccept({ ...view, ...change });
    assert.equal(decision.do === "refuse" ? decision.reason : decision.do, want);
  });
}

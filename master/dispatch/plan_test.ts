import assert from "node:assert/strict";
import { JOB_ARGS_BYTES_MAX, JOB_TARGETS_INLINE_MAX } from "../../core/limits.ts";
import { builtInRoles } from "../../core/roles.ts";
import { VERSION } from "../../core/version.ts";
import { type Job, newJob } from "../../core/wire/job.ts";
import { type DispatchView, planDispatch, planExisting } from "./plan.ts";
import { sample } from "./sample.ts";

const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
const ASKED = newJob(
  { jid: JID, function: "test.ping", args: {}, targetExpr: "*", timeoutMs: 0 },
  0,
);
const view: DispatchView = {
  job: ASKED,
  operator: { name: "alice", role: "admin" },
  matched: ["a", "b"],
  masterId: "m1",
  nowMs: 1_000_000,
  isOnline: (peel) => peel === "a",
  factsOf: () => undefined,
};

/** Of a peel of this version, with one module in its state tree. */
const FACTS = { zester_version: VERSION, custom_functions: ["site.check"] };

function claimed(change: Partial<DispatchView> = {}): Job {
  const decision = planDispatch({ ...view, ...change }, builtInRoles);
  assert.ok(decision.do === "claim");
  return decision.job;
}

Deno.test("planDispatch() claims for this master, on its own clock, in the operator's name as the subject said it", () => {
  const lying = {
    ...ASKED,
    user: "root",
    owner: "m9",
    status: "complete" as const,
    createdMs: 5,
    deadlineMs: 6,
  };
  const job = claimed({ job: lying });
  assert.equal(job.user, "alice");
  assert.equal(job.owner, "m1");
  assert.equal(job.status, "claimed");
  assert.equal(job.deadlineMs, 1_060_000, "60 seconds when no timeout is given");
  assert.deepEqual(job.targets, ["a", "b"]);
  assert.deepEqual(job.offlineAtDispatch, ["b"]);
});

const unsure: [name: string, function: string, facts: Record<string, unknown> | undefined][] = [
  ["one target has in its state tree", "site.check", FACTS],
  ["a target may have that has not spoken yet", "site.gone", undefined],
  ["a target of another version may have", "site.gone", { ...FACTS, zester_version: "9.9.9" }],
];
for (const [name, wanted, facts] of unsure) {
  Deno.test(`planDispatch() passes on a function that ${name}`, () => {
    const none = { zester_version: VERSION, custom_functions: [] };
    const factsOf = (peel: string) => peel === "b" ? facts : none;
    assert.equal(claimed({ job: { ...ASKED, function: wanted }, factsOf }).function, wanted);
  });
}

const timeouts: [name: string, job: Partial<Job>, wantMs: number][] = [
  ["60 s for most functions", {}, 60_000],
  ["5 m for state.apply of a state", { function: "state.apply", stateId: "web" }, 300_000],
  ["10 m for a highstate", { function: "state.highstate" }, 600_000],
  ["what was asked for", { timeoutMs: 1_234 }, 1_234],
  ["all batches of a rolling run", { timeoutMs: 1_000, batchSize: "1", batchWaitMs: 500 }, 2_500],
];
for (const [name, change, wantMs] of timeouts) {
  Deno.test(`planDispatch() gives a job ${name}`, () => {
    assert.equal(claimed({ job: { ...ASKED, ...change } }).deadlineMs, 1_000_000 + wantMs);
  });
}

const refusals: [name: string, change: Partial<DispatchView>, code: string, says: RegExp][] = [
  [
    "an operator without the right",
    { operator: { name: "eve", role: undefined } },
    "permission_denied",
    /eve/,
  ],
  [
    "oversized arguments, saying the limit",
    {
      job: { ...ASKED, args: { x: "y".repeat(JOB_ARGS_BYTES_MAX) } },
    },
    "payload_too_large",
    new RegExp(String(JOB_ARGS_BYTES_MAX)),
  ],
  [
    "a jid that is for reactions",
    { job: { ...ASKED, jid: `rxn-${"0".repeat(32)}` } },
    "usage",
    /reaction/,
  ],
  [
    "a function that no target has, with the nearest name",
    { job: { ...ASKED, function: "test.pong" }, factsOf: () => FACTS },
    "unknown_function",
    /no function test\.pong on any of these peels/,
  ],
  ["an amount that is none", { job: { ...ASKED, batchSize: "many" } }, "usage", /many/],
];
for (const [name, change, code, says] of refusals) {
  Deno.test(`planDispatch() refuses ${name}`, () => {
    const decision = planDispatch({ ...view, ...change }, builtInRoles);
    assert.ok(decision.do === "refuse");
    assert.equal(decision.refusal.code, code);
    assert.match(decision.refusal.message, says);
  });
}

Deno.test("planDispatch() keeps a long list of targets out of the record", () => {
  const matched = Array.from({ length: JOB_TARGETS_INLINE_MAX + 1 }, (_, n) => `p${n}`);
  const decision = planDispatch({ ...view, matched }, builtInRoles);
  assert.ok(decision.do === "claim");
  assert.equal(decision.targets.length, JOB_TARGETS_INLINE_MAX + 1);
  assert.deepEqual(decision.job.targets, []);
});

const stored = { ...claimed(), epoch: 3n };
const existing: [
  name: string,
  asked: Partial<Job>,
  found: Partial<Job> | null,
  self: string,
  want: string,
][] = [
  ["goes on with its own interrupted claim", {}, {}, "m1", "resume"],
  ["waits for a foreign claim", {}, {}, "m2", "claim_pending"],
  ["follows a running job of the same intent", {}, { status: "running" }, "m2", "follow"],
  ["follows an ended job of the same intent", {}, { status: "complete" }, "m1", "follow"],
  [
    "refuses another function",
    { function: "test.echo" },
    { status: "running" },
    "m1",
    "jid_conflict",
  ],
  ["refuses other arguments", { args: { a: 1 } }, {}, "m1", "jid_conflict"],
  ["refuses another target", { targetExpr: "web*" }, {}, "m1", "jid_conflict"],
  ["refuses another positional", { stateId: "other" }, {}, "m1", "jid_conflict"],
  ["refuses another pace", { batchSize: "1" }, {}, "m1", "jid_conflict"],
  ["does not mind who matches now", {}, { status: "running", targets: ["z"] }, "m2", "follow"],
  ["asks to try again when the record has vanished", {}, null, "m1", "claim_pending"],
];
for (const [name, asked, found, self, want] of existing) {
  Deno.test(`planExisting() ${name}`, () => {
    const record = found === null ? null : { ...stored, ...found };
    const decision = planExisting({ ...ASKED, ...asked }, "alice", record, self);
    assert.equal(decision.do === "refuse" ? decision.refusal.code : decision.do, want);
  });
}

Deno.test("planExisting() takes a job of another operator for another intent", () => {
  const decision = planExisting(ASKED, "bob", stored, "m1");
  assert.ok(decision.do === "refuse" && decision.refusal.code === "jid_conflict");
});

Deno.test("sample() draws the same again with the same seed, in order, and never nobody", () => {
  const all = Array.from({ length: 100 }, (_, n) => `p${String(n).padStart(3, "0")}`);
  const drawn = sample(all, "10%", "seed");
  assert.equal(drawn.length, 10);
  assert.deepEqual(drawn, sample(all, "10", "seed"));
  assert.deepEqual(drawn, [...drawn].sort());
  assert.notDeepEqual(drawn, sample(all, "10", "other"));
  assert.equal(sample(all, "0%", "seed").length, 1);
  assert.deepEqual(sample(all, undefined, "seed"), all);
});

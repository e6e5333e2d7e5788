import assert from "node:assert/strict";
import { INDEX_ORPHAN_MS, ORPHAN_MISSES, ORPHAN_SCAN_MS, RECLAIMS_MAX } from "../../core/limits.ts";
import { type Job, newJob } from "../../core/wire/job.ts";
import { countAbsent, type OrphanAction, type OrphanView, plan } from "./plan.ts";

const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
const RECORD: Job = {
  ...newJob({ jid: JID, function: "test.ping", args: {}, targetExpr: "*", timeoutMs: 100 }, 0),
  status: "running",
  owner: "m1",
  deadlineMs: 100,
  epoch: 7n,
};
const ENTRY = { jid: JID, indexedMs: 0, revision: 3n };
const view: OrphanView = {
  now: 50,
  self: "m2",
  live: new Set(["m2"]),
  jobs: [{ ...ENTRY, record: RECORD }],
  held: new Set(),
  misses: new Map([["m1", ORPHAN_MISSES]]),
  recordless: new Map(),
};
const record = (change: Partial<Job>): Pick<OrphanView, "jobs"> => ({
  jobs: [{ ...ENTRY, record: { ...RECORD, ...change } }],
});
const { owner: _, ...OWNERLESS } = RECORD;

const cases: [name: string, change: Partial<OrphanView>, want: OrphanAction["do"][]][] = [
  ["leaves a live owner's job alone", { live: new Set(["m1", "m2"]) }, []],
  ["waits after one missed scan", { misses: new Map([["m1", 1]]) }, ["wait"]],
  ["takes over after two missed scans in a row", {}, ["reclaim"]],
  ["takes a job that was handed over at once", {
    jobs: [{ ...ENTRY, record: OWNERLESS }],
    misses: new Map(),
  }, ["reclaim"]],
  [
    "takes its own claim back when the dispatch was interrupted",
    record({ owner: "m2", status: "claimed" }),
    ["reclaim"],
  ],
  ["leaves a job that it holds alone", { held: new Set([JID]), ...record({ owner: "m2" }) }, []],
  ["ends an expired job without running it again", { now: 100 }, ["finalize"]],
  ["gives up a job that was taken over three times", record({ reclaimCount: RECLAIMS_MAX }), [
    "fail",
  ]],
  ["goes on with a job that was handed over after three deaths", {
    jobs: [{ ...ENTRY, record: { ...OWNERLESS, reclaimCount: RECLAIMS_MAX } }],
  }, ["reclaim"]],
  ["takes a job over a third time", record({ reclaimCount: RECLAIMS_MAX - 1 }), ["reclaim"]],
  ["clears the index of an ended job", record({ status: "complete" }), ["unindex"]],
  ["waits for the record of a new index entry", {
    jobs: [{ ...ENTRY, record: null }],
    recordless: new Map([[JID, 1]]),
  }, ["wait"]],
  ["clears an old index entry without a record after two scans", {
    jobs: [{ ...ENTRY, record: null }],
    recordless: new Map([[JID, 2]]),
    now: INDEX_ORPHAN_MS,
  }, ["unindex"]],
  ["keeps a young index entry without a record: its master may only be slow", {
    jobs: [{ ...ENTRY, record: null }],
    recordless: new Map([[JID, 2]]),
    now: INDEX_ORPHAN_MS - 1,
  }, ["wait"]],
];
for (const [name, change, want] of cases) {
  Deno.test(`orphans plan() ${name}`, () => {
    assert.deepEqual(plan({ ...view, ...change }).map((action) => action.do), want);
  });
}

Deno.test("orphans plan() gives every action its reason", () => {
  for (const [, change] of cases) {
    for (const action of plan({ ...view, ...change })) assert.ok(action.why.length > 5);
  }
});

Deno.test("countAbsent() counts scans in a row: whoever is back once starts at zero", () => {
  const once = countAbsent(["m1", "m1"], new Map());
  assert.deepEqual([...once], [["m1", 1]]);
  assert.deepEqual([...countAbsent(["m1"], once)], [["m1", 2]]);
  assert.deepEqual([...countAbsent([], once)], []);
});

Deno.test("the orphan scanner runs every 20 seconds, needs 2 misses and gives up after 3 takeovers, as documented", () => {
  assert.deepEqual([ORPHAN_SCAN_MS, ORPHAN_MISSES, RECLAIMS_MAX], [20_000, 2, 3]);
});

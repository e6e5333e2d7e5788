import assert from "node:assert/strict";
import { ACK_WINDOW_MS, UNREACHABLE_GRACE_MS } from "../../core/limits.ts";
import { type Job, newJob } from "../../core/wire/job.ts";
import type { Return } from "../../core/wire/return.ts";
import {
  hearAck,
  hearReturn,
  recall,
  startWatch,
  type Step,
  step,
  type WatchState,
} from "./plan.ts";

const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
const START = 1_000_000;

function job(change: Partial<Job> = {}): Job {
  const asked = { jid: JID, function: "test.ping", args: {}, targetExpr: "*", timeoutMs: 60_000 };
  return { ...newJob(asked, START), deadlineMs: START + 60_000, ...change };
}

function given(peelId: string, success = true): Return {
  return { jid: JID, peelId, success, returnData: null, durationMs: 1, timestampMs: START };
}

function at(state: WatchState, afterMs: number): Step {
  return step(state, JID, START + afterMs);
}

function sent({ actions }: Step): string[] {
  return actions.flatMap((action) => action.do === "send" ? action.peels : []);
}

function ended({ actions }: Step): string | undefined {
  return actions.flatMap((action) => action.do === "finish" ? [action.verdict.status] : [])[0];
}

Deno.test("step() tells all targets at once, and asks to be woken at the ack window of five seconds", () => {
  const state = startWatch(job(), ["a", "b"]);
  const first = at(state, 0);
  assert.deepEqual(sent(first), ["a", "b"]);
  assert.equal(first.wakeMs, START + 5_000);
  assert.equal(ACK_WINDOW_MS, 5_000);
});

Deno.test("step() tells silent targets exactly once more: the window fires once and only once", () => {
  const state = startWatch(job(), ["a", "b", "c"]);
  at(state, 0);
  hearAck(state, "a", START + 1);
  hearReturn(state, "b", given("b"), START + 1);
  assert.deepEqual(sent(at(state, 4_999)), []);
  assert.deepEqual(sent(at(state, 5_000)), ["c"], "acked and returned targets are heard from");
  assert.deepEqual(sent(at(state, 5_001)), []);
  assert.deepEqual(sent(at(state, 59_000)), []);
});

Deno.test("step() calls silent targets unreachable five seconds after the resend; acked ones wait for the deadline", () => {
  const state = startWatch(job(), ["a", "b"]);
  at(state, 0);
  hearAck(state, "a", START);
  at(state, ACK_WINDOW_MS);
  const early = at(state, ACK_WINDOW_MS + UNREACHABLE_GRACE_MS - 1);
  assert.deepEqual(early.actions, []);
  const late = at(state, ACK_WINDOW_MS + UNREACHABLE_GRACE_MS);
  const [action] = late.actions;
  assert.ok(action?.do === "give_up");
  assert.deepEqual(action.returns.map(({ peelId, unreachable }) => [peelId, unreachable]), [[
    "b",
    true,
  ]]);
  assert.equal(late.wakeMs, START + 60_000);
  assert.equal(ended(at(state, 60_000)), "partial");
});

Deno.test("hearReturn() lets the first real return win, also over a made-up one, and ignores strangers", () => {
  const state = startWatch(job(), ["a"]);
  at(state, 0);
  at(state, 5_000);
  at(state, 10_000);
  assert.equal(state.returns.get("a")?.unreachable, true);
  assert.equal(hearReturn(state, "a", given("a"), START), "first");
  assert.equal(hearReturn(state, "a", given("a", false), START), "repeat");
  assert.equal(state.returns.get("a")?.success, true);
  assert.equal(hearReturn(state, "x", given("x"), START), "stranger");
  assert.equal(
    hearReturn(state, "a", { ...given("a"), unreachable: true }, START),
    "stranger",
    "peels cannot claim it",
  );
  assert.equal(hearAck(state, "x", START), "stranger");
});

const ends: [name: string, ok: string[], failed: string[], canceled: boolean, status: string][] = [
  ["all succeeded", ["a", "b"], [], false, "complete"],
  ["one failed", ["a"], ["b"], false, "failed"],
  ["some are missing", ["a"], [], false, "partial"],
  ["some are missing and one failed", [], ["a"], false, "partial"],
  ["nobody answered", [], [], false, "timeout"],
  ["canceled before all answered", ["a"], [], true, "canceled"],
  ["canceled after all answered", ["a", "b"], [], true, "complete"],
];
for (const [name, ok, failed, canceled, status] of ends) {
  Deno.test(`step() ends a job as ${status} when ${name}`, () => {
    const state = startWatch(job(), ["a", "b"]);
    at(state, 0);
    for (const peel of ["a", "b"]) hearAck(state, peel, START);
    for (const peel of ok) hearReturn(state, peel, given(peel), START);
    for (const peel of failed) hearReturn(state, peel, given(peel, false), START);
    if (canceled) state.canceledBy = "alice";
    assert.equal(ended(at(state, canceled ? 1 : 60_000)), status);
  });
}

Deno.test("step() gives each silent target its reason", () => {
  const state = startWatch(job(), ["acked", "silent"]);
  at(state, 0);
  hearAck(state, "acked", START);
  const [action] = at(state, 60_000).actions.filter(({ do: what }) => what === "finish");
  assert.ok(action?.do === "finish");
  assert.deepEqual(action.verdict.missing.map(({ peel, reason }) => [peel, reason]), [
    ["acked", "accepted the job, then no answer in time"],
    ["silent", "no ack after the request was sent once"],
  ]);
});

Deno.test("recall() makes a taken-over job tell only those that were never heard from, and honours what is left of its time", () => {
  const state = startWatch(job(), ["acked", "returned", "silent"]);
  recall(
    state,
    { acked: ["acked"], returns: [given("returned"), given("stranger")] },
    START + 30_000,
  );
  const first = at(state, 30_000);
  assert.deepEqual(sent(first), ["silent"]);
  assert.equal(ended(at(state, 59_999)), undefined);
  assert.equal(ended(at(state, 60_000)), "partial", "30 seconds were left, not 60");
});

Deno.test("step() of a rolling run keeps as many busy as the batch says, and pauses between", () => {
  const state = startWatch(
    job({ batchSize: "2", batchWaitMs: 1_000, deadlineMs: START + 600_000 }),
    ["a", "b", "c", "d"],
  );
  assert.deepEqual(sent(at(state, 0)), ["a", "b"]);
  for (const peel of ["a", "b"]) hearAck(state, peel, START);
  assert.deepEqual(sent(at(state, 100)), []);
  hearReturn(state, "a", given("a"), START + 100);
  const pausing = at(state, 100);
  assert.deepEqual(sent(pausing), []);
  assert.equal(pausing.wakeMs, START + 1_100);
  assert.deepEqual(sent(at(state, 1_100)), ["c"]);
});

Deno.test("step() of a rolling run stops telling others after too many failures, and waits for those under way", () => {
  const state = startWatch(job({ batchSize: "50%", maxFail: "0" }), ["a", "b", "c", "d"]);
  assert.deepEqual(sent(at(state, 0)), ["a", "b"]);
  for (const peel of ["a", "b"]) hearAck(state, peel, START);
  hearReturn(state, "a", given("a", false), START + 1);
  assert.deepEqual(at(state, 1).actions, []);
  hearReturn(state, "b", given("b"), START + 2);
  const over = at(state, 2);
  assert.equal(ended(over), "failed");
  const [action] = over.actions;
  assert.ok(action?.do === "finish");
  assert.deepEqual(action.verdict.missing.map(({ peel }) => peel), ["c", "d"]);
  assert.match(action.verdict.missing[0]?.reason ?? "", /not told/);
});

Deno.test("step() of a rolling run gives a place free when a peel takes longer than its timeout", () => {
  const state = startWatch(
    job({ batchSize: "1", timeoutMs: 10_000, deadlineMs: START + 600_000 }),
    ["a", "b"],
  );
  assert.deepEqual(sent(at(state, 0)), ["a"]);
  hearAck(state, "a", START);
  assert.equal(at(state, 1).wakeMs, START + 10_000);
  assert.deepEqual(sent(at(state, 10_000)), ["b"]);
});

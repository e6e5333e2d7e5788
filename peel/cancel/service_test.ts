import assert from "node:assert/strict";
import type { ExecResponse } from "../../core/wire/exec.ts";
import { reasonOf } from "../../core/return_reason.ts";
import { testSigner } from "../../tests/fakes/identities.ts";
import { peelLab, responseTo } from "../../tests/fakes/peel_lab.ts";

const MUTATING = "change.it";

/** Runs until it is ended. */
function endless({ jid }: { jid: string }, signal: AbortSignal): Promise<ExecResponse> {
  return new Promise((resolve) => {
    signal.addEventListener(
      "abort",
      () => resolve({ ...responseTo({ jid }), success: false, error: "ended from outside" }),
    );
  });
}

Deno.test("takeCancels() ends what runs and what waits, and both return as canceled", async () => {
  const lab = await peelLab();
  const life = await lab.start({ execute: endless });
  const [running, waiting] = [lab.jid(), lab.jid()];
  lab.say(lab.requestOf(running, MUTATING));
  lab.say(lab.requestOf(waiting, MUTATING));
  await lab.settled();
  lab.cancel(waiting);
  await lab.settled();
  lab.cancel(running);
  await lab.settled();
  assert.deepEqual(lab.returns.map(({ jid, error }) => [jid, error]), [
    [waiting, "canceled: before it began"],
    [running, "canceled: while it ran"],
  ]);
  assert.deepEqual(lab.executed, [running]);
  assert.deepEqual(life.acceptor.running().jobs, []);
  await life.acceptor.stop();
});

Deno.test("takeCancels() before the request leaves a tombstone, also across a restart: the late request is refused", async () => {
  const lab = await peelLab();
  const first = await lab.start();
  const [early, earlier] = [lab.jid(), lab.jid()];
  lab.cancel(early);
  lab.cancel(earlier);
  lab.cancel(earlier);
  await lab.settled();
  lab.say(lab.requestOf(early));
  await lab.settled();
  first.crash();
  const second = await lab.start();
  lab.say(lab.requestOf(earlier));
  await lab.settled();
  assert.deepEqual(lab.executed, []);
  assert.deepEqual(lab.acks, []);
  assert.deepEqual([...new Set(lab.returns.map((each) => each.jid))], [early, earlier]);
  assert.ok(lab.returns.every((each) => each.error === "canceled: before it came"));
  assert.equal(second.metrics.value("ingressRefused", { reason: "canceled" }), 1);
  await second.acceptor.stop();
});

Deno.test("takeCancels() of a finished job changes nothing", async () => {
  const lab = await peelLab();
  const life = await lab.start();
  const jid = lab.jid();
  lab.say(lab.requestOf(jid));
  await lab.settled();
  lab.cancel(jid);
  await lab.settled();
  assert.deepEqual(lab.returns.map((each) => each.success), [true]);
  assert.equal(life.journal.entry(jid)?.isCanceled, false);
  await life.acceptor.stop();
});

Deno.test("takeCancels() is kept: a peel that dies before the job has ended returns it as canceled", async () => {
  const lab = await peelLab();
  const first = await lab.start({ execute: () => new Promise(() => {}) });
  const jid = lab.jid();
  lab.say(lab.requestOf(jid, MUTATING));
  await lab.settled();
  lab.cancel(jid);
  await lab.settled();
  first.crash();
  const second = await lab.start();
  await lab.settled();
  assert.equal(reasonOf(lab.returns[0]?.error), "canceled");
  await second.acceptor.stop();
});

Deno.test("takeCancels() takes a master's word only", async () => {
  const lab = await peelLab();
  const life = await lab.start({ execute: endless });
  const jid = lab.jid();
  lab.say(lab.requestOf(jid, MUTATING));
  await lab.settled();
  for (const name of ["alice", "dora", "web-01", "nobody"]) lab.cancel(jid, testSigner(name));
  await lab.settled();
  assert.deepEqual(lab.returns, []);
  assert.equal(life.metrics.value("ingressRefused", { reason: "unknown_key" }), 4);
  lab.cancel(jid);
  await lab.settled();
  assert.equal(lab.returns.length, 1);
  await life.acceptor.stop();
});

import assert from "node:assert/strict";
import { fakeIo } from "../../tests/fakes/cli_io.ts";
import { liveArea, liveRegion } from "./live.ts";
import { newRun, type Run, takeEvent } from "./run_model.ts";
import { PLAIN } from "./style.ts";

const RESULT = { name: "x", changed: true, diff: "", durationMs: 1, details: {} };

function sampleRun(): Run {
  const run = newRun();
  const targets = Array.from({ length: 12 }, (_, n) => `web-${n + 1}`);
  takeEvent(run, { kind: "accepted", jid: "j1", targets, master: "m1" });
  takeEvent(run, { kind: "acks", peels: targets.slice(0, 9) }, 1_000);
  const returns = ["web-1", "web-2"].map((peelId) => ({ peelId, success: true, durationMs: 1 }));
  const changed = {
    peelId: "web-3",
    success: true,
    durationMs: 1,
    returnData: { results: [RESULT] },
  };
  takeEvent(run, { kind: "returns", returns: [...returns, changed] });
  const guess = { peelId: "web-12", success: false, durationMs: 0, unreachable: true };
  takeEvent(run, { kind: "returns", returns: [{ ...guess, error: "UNREACHABLE: no ack" }] });
  return run;
}

Deno.test("liveRegion() shows how far it is, who works and who is silent", () => {
  const times = { nowMs: 15_400, startedMs: 0, deadlineMs: 247_400 };
  assert.deepEqual(liveRegion(sampleRun(), times, PLAIN), [
    " ▕████████░░░░░░░░░░░░░░░░░░▏ 4/12   2 ok · 1 changed · 1 silent   3:52 left",
    " running 6",
    "   web-4   14s",
    "   web-5   14s",
    "   web-6   14s",
    "   web-7   14s",
    "   web-8   14s",
    "   … 1 more                                (--show all lists them)",
    " silent 3",
    "   web-10   no ack yet",
    "   web-11   no ack yet",
    "   web-12   no ack",
    " Ctrl-C detaches, the job goes on · twice cancels it",
  ]);
});

Deno.test("liveRegion() calls nobody silent before an ack is due, and does without signs beyond ASCII", () => {
  const run = newRun();
  takeEvent(run, { kind: "accepted", jid: "j1", targets: ["a", "b"], master: "m1" });
  const ascii = { color: true, unicode: false };
  assert.deepEqual(liveRegion(run, { nowMs: 4_999, startedMs: 0, deadlineMs: null }, ascii), [
    " [..........................] 0/2   0 ok",
    " Ctrl-C detaches, the job goes on | twice cancels it",
  ]);
});

Deno.test("liveArea() draws over what it drew, cut to the terminal, and nothing where there is none", () => {
  const io = fakeIo({ terminal: true });
  const area = liveArea(io, true);
  area.draw(["one", "x".repeat(200)]);
  area.draw(["three"]);
  area.clear();
  area.clear();
  assert.deepEqual(io.err, [
    `one\n${"x".repeat(99)}`,
    "\r\u001b[1A\u001b[Jthree",
    "\r\u001b[J",
  ]);
  for (const options of [{ terminal: false }, { terminal: true, env: { TERM: "dumb" } }]) {
    const silent = fakeIo(options);
    liveArea(silent, true).draw(["x"]);
    assert.deepEqual(silent.err, []);
  }
});

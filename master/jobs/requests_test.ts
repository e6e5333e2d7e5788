import assert from "node:assert/strict";
import { memoryLog } from "../../core/log.ts";
import { REQUESTS_AT_ONCE } from "../../core/limits.ts";
import type { Voice } from "../../core/outgoing.ts";
import { NO_FAIL_POINTS } from "../../core/ports.ts";
import { newJob } from "../../core/wire/job.ts";
import { ManualClock, settle } from "../../tests/fakes/manual_clock.ts";
import { publishRequests } from "./requests.ts";

const PEELS = Array.from({ length: 2 * REQUESTS_AT_ONCE + 1 }, (_, at) => `p${at}`);

function setUp({ unsayable = "" } = {}) {
  const clock = new ManualClock();
  const said: string[] = [];
  let over = false;
  const voice: Voice = {
    headers: () => [],
    answer: () => {},
    say(_rule, subject) {
      if (subject.endsWith(`.${unsayable}`)) throw new Error("planted");
      said.push(subject);
    },
  };
  const job = newJob({
    jid: "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
    function: "test.ping",
    args: {},
    targetExpr: "*",
    timeoutMs: 60_000,
  }, clock.now());
  const log = memoryLog();
  const published = publishRequests(job, PEELS, {
    voice,
    clock,
    log,
    failPoints: NO_FAIL_POINTS,
    peelKey: () => undefined,
    isOver: () => over,
  });
  return { clock, said, log, published, end: () => over = true };
}

Deno.test("publishRequests() tells many peels in parts, so that the master does other things in between", async () => {
  const { clock, said, published } = setUp();
  assert.equal(said.length, REQUESTS_AT_ONCE);
  clock.advance(0);
  await settle();
  assert.equal(said.length, 2 * REQUESTS_AT_ONCE);
  clock.advance(0);
  await published;
  assert.equal(new Set(said).size, PEELS.length);
});

Deno.test("publishRequests() tells nobody else once the job is another's", async () => {
  const { clock, said, published, end } = setUp();
  end();
  clock.advance(0);
  await published;
  assert.equal(said.length, REQUESTS_AT_ONCE);
});

Deno.test("publishRequests() goes on after a peel that cannot be told", async () => {
  const { clock, said, log, published } = setUp({ unsayable: "p3" });
  await clock.advanceSettling(10, 1);
  await published;
  assert.equal(said.length, PEELS.length - 1);
  assert.equal(log.records.length, 1);
});

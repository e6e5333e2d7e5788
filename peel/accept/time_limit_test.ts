import assert from "node:assert/strict";
import {
  CLOCK_SKEW_MS,
  HIGHSTATE_TIMEOUT_MS,
  JOB_TIMEOUT_MS,
  JOB_TIMEOUT_MS_MAX,
  STATE_TIMEOUT_MS,
} from "../../core/limits.ts";
import { responseTo } from "../../tests/fakes/peel_lab.ts";
import { peelLab } from "../../tests/fakes/peel_lab.ts";
import type { ExecRequest } from "../../core/wire/exec.ts";
import { timeLeftMs, timeLimitMs } from "./time_limit.ts";

const MUTATING = "change.it";
const issuedMs = 1_000_000;

const left: [name: string, lifeMs: number, peelClockMs: number, wantMs: number][] = [
  ["all of it for a request that has just come", 60_000, issuedMs, 60_000],
  ["all of it also by a clock that is a minute ahead", 60_000, issuedMs + CLOCK_SKEW_MS, 60_000],
  ["all of it also by a clock that is a minute behind", 60_000, issuedMs - CLOCK_SKEW_MS, 60_000],
  [
    "less for one that was held up longer than clocks differ",
    60_000,
    issuedMs + CLOCK_SKEW_MS + 20_000,
    40_000,
  ],
  ["nothing for one that is over", 60_000, issuedMs + 10 * CLOCK_SKEW_MS, 0],
];
for (const [name, lifeMs, nowMs, wantMs] of left) {
  Deno.test(`timeLeftMs() leaves ${name}`, () => {
    assert.equal(timeLeftMs({ issuedMs, expiresMs: issuedMs + lifeMs }, nowMs), wantMs);
  });
}

const limits: [
  name: string,
  request: Partial<ExecRequest>,
  leftMs: number,
  wantMs: number,
][] = [
  ["what was asked for", { timeoutMs: 123_000 }, Infinity, 123_000],
  ["what is left, if that is less", { timeoutMs: 123_000 }, 5_000, 5_000],
  ["no more than any job may take", { timeoutMs: 1e12 }, Infinity, JOB_TIMEOUT_MS_MAX],
  ["a minute when nobody says so", {}, Infinity, JOB_TIMEOUT_MS],
  ["5 m to a state", { module: "state.apply", id: "web" }, Infinity, STATE_TIMEOUT_MS],
  ["10 m to a highstate", { module: "state.apply" }, Infinity, HIGHSTATE_TIMEOUT_MS],
  ["nothing when its time is over", { timeoutMs: 9 }, -1, -1],
];
for (const [name, request, leftMs, wantMs] of limits) {
  Deno.test(`timeLimitMs() gives ${name}`, () => {
    assert.equal(timeLimitMs({ module: "test.ping", id: "", ...request }, leftMs), wantMs);
  });
}

Deno.test("acceptCommands() lets a function run as long as the request says, less what it waited, and not at all when that is over", async () => {
  const lab = await peelLab();
  const given: number[] = [];
  const waiting: (() => void)[] = [];
  const life = await lab.start({
    execute(request, _signal, timeoutMs) {
      given.push(timeoutMs);
      return new Promise((resolve) => waiting.push(() => resolve(responseTo(request))));
    },
  });
  const jids = [lab.jid(), lab.jid(), lab.jid(), lab.jid()];
  const expiresMs = lab.clock.now() + 300_000;
  const timeouts = [300_000, 300_000, 20_000, 300_000];
  for (const [at, jid] of jids.entries()) {
    const request = lab.requestOf(jid, MUTATING, { timeoutMs: timeouts[at] });
    lab.say(request, { expiresMs });
  }
  await lab.settled();
  for (const waitMs of [100_000, 100_000, 100_001]) {
    await lab.clock.advanceSettling(waitMs);
    waiting.shift()?.();
    await lab.settled();
  }
  assert.deepEqual(given, [300_000, 200_000, 20_000]);
  assert.deepEqual(lab.executed, jids.slice(0, 3));
  const last = lab.returns.find(({ jid }) => jid === jids[3]);
  assert.match(last?.error ?? "", /^refused: .*time was over/);
  await life.acceptor.stop();
});

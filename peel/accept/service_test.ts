import assert from "node:assert/strict";
import { streams } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import {
  CLOCK_SKEW_MS,
  EXECUTION_QUEUE_MAX,
  REPEAT_ANSWER_MS_MIN,
  RETURN_BYTES_MAX,
  RETURN_DRAIN_MS,
  RETURN_RETRY_MS_MAX,
  WORK_DRAIN_MS,
} from "../../core/limits.ts";
import { decode, encode } from "../../core/msgpack.ts";
import type { Store } from "../../core/ports.ts";
import { reasonOf } from "../../core/return_reason.ts";
import type { ExecResponse } from "../../core/wire/exec.ts";
import {
  LAB_PEEL,
  type LifeOptions,
  type PeelLab,
  peelLab,
  responseTo,
} from "../../tests/fakes/peel_lab.ts";

const MUTATING = "change.it";

/** An `execute` that waits until it is told, or ended. */
function held() {
  const waiting = new Map<string, (response: ExecResponse) => void>();
  const execute: LifeOptions["execute"] = ({ jid }, signal) =>
    new Promise((resolve) => {
      waiting.set(jid, resolve);
      signal.addEventListener("abort", () =>
        resolve({ ...responseTo({ jid }), success: false, error: "ended from outside" }));
    });
  return { execute, finish: (jid: string) => waiting.get(jid)?.(responseTo({ jid })) };
}

function returnsOf({ returns }: PeelLab, jid: string) {
  return returns.filter((each) => each.jid === jid);
}

Deno.test("acceptCommands() journals, acks, runs, and returns what came of it", async () => {
  const lab = await peelLab();
  const life = await lab.start();
  const jid = lab.jid();
  lab.say(lab.requestOf(jid));
  await lab.settled();
  assert.deepEqual(lab.executed, [jid]);
  assert.deepEqual(lab.acks.map((ack) => ack.jid), [jid]);
  assert.deepEqual(lab.returns.map((each) => [each.jid, each.peelId, each.success]), [
    [jid, LAB_PEEL, true],
  ]);
  assert.equal(life.journal.entry(jid)?.state, "stored");
  assert.equal(life.journal.entry(jid)?.epoch, 5n);
  await life.acceptor.stop();
});

// ---- fail points ---------------------------------------------------------------------------------------------

const POINTS: [point: string, ran: boolean, result: "success" | "interrupted"][] = [
  ["accept.verified", false, "success"],
  ["accept.journaled", false, "interrupted"],
  ["accept.acked", false, "interrupted"],
  ["exec.started", false, "interrupted"],
  ["exec.finished", true, "interrupted"],
  ["return.journaled", true, "success"],
  ["return.stored", true, "success"],
];
for (const module of ["test.ping", MUTATING]) {
  for (const [point, ran, result] of POINTS) {
    Deno.test(`acceptCommands() after a crash at ${point} of ${module} runs nothing twice and returns ${result}`, async () => {
      const lab = await peelLab();
      const jid = lab.jid();
      const hits: string[] = [];
      const first = await lab.start({
        failPoints: {
          hit(name) {
            hits.push(name);
            return name === point ? new Promise(() => {}) : undefined;
          },
        },
      });
      const firstIssuedMs = lab.clock.now();
      lab.say(lab.requestOf(jid, module));
      await lab.settled();
      assert.equal(hits.at(-1), point, "the crash took place");
      assert.equal(lab.executed.length, ran ? 1 : 0);
      first.crash();

      const second = await lab.start();
      await lab.settled();
      await lab.clock.advanceSettling(5_000);
      lab.say(lab.requestOf(jid, module), { firstIssuedMs }); // the resend of a master that heard nothing
      await lab.settled();
      await lab.clock.advanceSettling(RETURN_RETRY_MS_MAX);
      const found = returnsOf(lab, jid);
      assert.ok(found.length >= 1);
      for (const each of found) {
        assert.equal(each.success ? "success" : reasonOf(each.error), result);
        assert.equal(each.timestampMs, found[0]?.timestampMs, "a resend changes nothing");
      }
      assert.equal(lab.executed.length, ran || point === "accept.verified" ? 1 : 0);
      assert.equal(second.journal.entry(jid)?.state, "stored");
      await second.acceptor.stop();

      const third = await lab.start();
      await lab.settled();
      assert.equal(returnsOf(lab, jid).length, found.length, "what is stored is not sent again");
      await third.acceptor.stop();
    });
  }
}

Deno.test("acceptCommands() ends in a return also where something throws that never should", async () => {
  for (const [point] of POINTS.slice(1)) {
    const lab = await peelLab();
    const jid = lab.jid();
    let thrown = 0;
    const life = await lab.start({
      failPoints: {
        hit(name) {
          if (name === point && thrown++ === 0) throw new Error("a bug");
        },
      },
    });
    lab.say(lab.requestOf(jid, MUTATING));
    await lab.settled();
    await lab.clock.advanceSettling(RETURN_RETRY_MS_MAX);
    lab.say(lab.requestOf(jid, MUTATING));
    await lab.settled();
    assert.equal(thrown > 0, true);
    assert.ok(returnsOf(lab, jid).length >= 1, point);
    assert.ok(lab.executed.length <= 1, point);
    await life.acceptor.stop();
  }
});

// ---- repeats -------------------------------------------------------------------------------------------------

Deno.test("acceptCommands() acks again what is under way, with the time of the first ack, and runs it once", async () => {
  const lab = await peelLab();
  const { execute, finish } = held();
  const life = await lab.start({ execute });
  const jid = lab.jid();
  lab.say(lab.requestOf(jid, MUTATING));
  await lab.settled();
  await lab.clock.advanceSettling(5_000);
  lab.say(lab.requestOf(jid, MUTATING));
  await lab.settled();
  assert.equal(lab.acks.length, 2);
  assert.equal(lab.acks[0]?.timestampMs, lab.acks[1]?.timestampMs);
  assert.equal(lab.returns.length, 0);
  assert.equal(life.metrics.value("ingressRefused", { reason: "replayed" }), 1);
  finish(jid);
  await lab.settled();
  assert.equal(lab.executed.length, 1);
  assert.equal(lab.returns.length, 1);
  await life.acceptor.stop();
});

Deno.test("acceptCommands() answers a finished job from the journal at any epoch, not more often than it must", async () => {
  const lab = await peelLab();
  const life = await lab.start();
  const jid = lab.jid();
  for (let resend = 0; resend < 5; resend++) lab.say(lab.requestOf(jid));
  await lab.settled();
  assert.equal(lab.executed.length, 1);
  const before = lab.returns.length;
  await lab.clock.advanceSettling(REPEAT_ANSWER_MS_MIN);
  for (let resend = 0; resend < 5; resend++) lab.say(lab.requestOf(jid));
  await lab.settled();
  assert.equal(lab.returns.length, before + 1);
  assert.equal(new Set(lab.returns.map((each) => each.timestampMs)).size, 1);
  assert.equal(lab.executed.length, 1);
  assert.equal(life.metrics.value("ingressRefused", { reason: "replayed" }), 9);
  await life.acceptor.stop();
});

Deno.test("acceptCommands() on a lost journal refuses what may have run before, says so, and takes what is new", async () => {
  const lab = await peelLab();
  const [old, young] = [lab.jid(), lab.jid()];
  const firstIssuedMs = lab.clock.now();
  await lab.clock.advanceSettling(1_000);
  lab.files.content.delete("journal");
  const life = await lab.start();
  lab.say(lab.requestOf(old), { firstIssuedMs });
  await lab.settled();
  assert.deepEqual(lab.executed, []);
  assert.equal(reasonOf(returnsOf(lab, old)[0]?.error), "refused");
  assert.equal(life.metrics.value("ingressRefused", { reason: "journal_lost" }), 1);
  await lab.clock.advanceSettling(CLOCK_SKEW_MS);
  lab.say(lab.requestOf(young));
  await lab.settled();
  assert.deepEqual(lab.executed, [young]);
  await life.acceptor.stop();
});

Deno.test("acceptCommands() refuses a request that names no version of the protocol, be it signed by a master", async () => {
  const lab = await peelLab();
  const life = await lab.start();
  const { v: _, ...older } = decode(lab.requestOf(lab.jid()), "request") as Record<string, unknown>;
  lab.say(encode(older));
  await lab.settled();
  assert.deepEqual(lab.executed, []);
  assert.equal(life.metrics.value("ingressRefused", { reason: "decode_failed" }), 1);
  await life.acceptor.stop();
});

Deno.test("acceptCommands() runs a jid once also when the store was made anew and epochs begin again", async () => {
  const lab = await peelLab();
  const life = await lab.start();
  const jid = lab.jid();
  for (const epoch of [5n, 1n, 0n, 2n ** 63n]) {
    lab.say(lab.requestOf(jid, MUTATING, { epoch }));
    await lab.settled();
    await lab.clock.advanceSettling(REPEAT_ANSWER_MS_MIN);
  }
  assert.deepEqual(lab.executed, [jid]);
  assert.equal(returnsOf(lab, jid).length, 4, "and it answers each time");
  await life.acceptor.stop();
});

// ---- queue ---------------------------------------------------------------------------------------------------

Deno.test("acceptCommands() runs what changes something one at a time, in order, and what only reads beside it", async () => {
  const lab = await peelLab();
  const { execute, finish } = held();
  const life = await lab.start({ execute });
  const [first, second, reading] = [lab.jid(), lab.jid(), lab.jid()];
  lab.say(lab.requestOf(first, MUTATING));
  lab.say(lab.requestOf(second, MUTATING));
  lab.say(lab.requestOf(reading));
  await lab.settled();
  assert.deepEqual(lab.executed.toSorted(), [first, reading].toSorted());
  assert.equal(lab.acks.length, 3, "what waits is acknowledged, too");
  const { jobs, queueLength } = life.acceptor.running();
  assert.equal(queueLength, 1);
  assert.deepEqual(
    jobs.map(({ jid, function: name, isWaiting }) => [jid, name, isWaiting]),
    [[first, MUTATING, false], [second, MUTATING, true], [reading, "test.ping", false]],
  );
  finish(first);
  await lab.settled();
  assert.ok(lab.executed.includes(second));
  finish(second);
  finish(reading);
  await lab.settled();
  assert.equal(lab.returns.length, 3);
  assert.deepEqual(life.acceptor.running(), { jobs: [], queueLength: 0, unstored: 0 });
  await life.acceptor.stop();
});

Deno.test("acceptCommands() with 64 jobs waiting returns 'peel busy' at once, and never runs that job later", async () => {
  const lab = await peelLab();
  const { execute, finish } = held();
  const life = await lab.start({ execute });
  const jids = Array.from({ length: EXECUTION_QUEUE_MAX + 2 }, () => lab.jid());
  for (const jid of jids) lab.say(lab.requestOf(jid, MUTATING));
  await lab.settled();
  const last = jids.at(-1) ?? "";
  assert.deepEqual(lab.returns.map(({ jid, error }) => [jid, error]), [
    [last, "peel busy: execution queue full"],
  ]);
  for (const jid of jids) {
    finish(jid);
    await lab.settled();
  }
  lab.say(lab.requestOf(last, MUTATING));
  await lab.settled();
  assert.ok(!lab.executed.includes(last));
  assert.equal(lab.executed.length, EXECUTION_QUEUE_MAX + 1);
  await life.acceptor.stop();
});

// ---- disk and network ----------------------------------------------------------------------------------------

Deno.test("acceptCommands() refuses a job whose journal entry cannot be flushed, and goes on when the disk is back", async () => {
  const lab = await peelLab();
  const life = await lab.start();
  const [refused, later] = [lab.jid(), lab.jid()];
  lab.files.broken = true;
  lab.say(lab.requestOf(refused));
  await lab.settled();
  assert.deepEqual(lab.executed, []);
  assert.deepEqual(lab.acks, []);
  const [answer] = returnsOf(lab, refused);
  assert.equal(reasonOf(answer?.error), "refused");
  assert.match(answer?.error ?? "", /no space left/);
  lab.files.broken = false;
  lab.say(lab.requestOf(later));
  lab.say(lab.requestOf(refused));
  await lab.settled();
  assert.deepEqual(lab.executed, [later], "what was returned as refused is not run later");
  life.crash();
  const next = await lab.start();
  lab.say(lab.requestOf(refused));
  await lab.settled();
  assert.deepEqual(lab.executed, [later], "nor by the next process");
  await next.acceptor.stop();
});

Deno.test("acceptCommands() does not swallow a result that cannot be journaled", async () => {
  const lab = await peelLab();
  const life = await lab.start({
    execute(request) {
      lab.files.broken = true;
      return Promise.resolve(responseTo(request));
    },
  });
  const jid = lab.jid();
  lab.say(lab.requestOf(jid));
  await lab.settled();
  assert.equal(returnsOf(lab, jid)[0]?.success, true);
  lab.files.broken = false;
  await life.acceptor.stop();
});

/** Streams that take nothing while they are shut. */
function shutter(): { isShut: boolean; through(store: Store): Store } {
  const state = {
    isShut: true,
    through: (store: Store): Store => ({
      ...store,
      bucket: (name) => store.bucket(name),
      stream(name) {
        const stream = store.stream(name);
        return {
          ...stream,
          append(...given) {
            if (!state.isShut) return stream.append(...given);
            return Promise.reject(new ZesterError("disconnected", "no connection"));
          },
        };
      },
    }),
  };
  return state;
}

Deno.test("acceptCommands() keeps a return until the stream has it, across a restart, and takes new work meanwhile", async () => {
  const lab = await peelLab();
  const shut = shutter();
  const first = await lab.start({ store: shut.through });
  const [jid, other] = [lab.jid(), lab.jid()];
  lab.say(lab.requestOf(jid));
  await lab.settled();
  const finishedMs = lab.clock.now();
  await lab.clock.advanceSettling(10 * RETURN_RETRY_MS_MAX, 1_000);
  lab.say(lab.requestOf(other));
  await lab.settled();
  assert.deepEqual(lab.executed, [jid, other]);
  assert.equal(first.acceptor.running().unstored, 2);
  first.crash();
  const second = await lab.start({ store: shut.through });
  await lab.settled();
  shut.isShut = false;
  second.acceptor.wake();
  await lab.settled();
  assert.deepEqual(lab.returns.map((each) => each.jid).toSorted(), [jid, other].toSorted());
  assert.equal(returnsOf(lab, jid)[0]?.timestampMs, finishedMs);
  assert.equal(lab.executed.length, 2);
  const stored = await lab.store.stream(streams.jobEvents.name).info();
  assert.equal(stored.messages, 4, "two acks and two returns");
  await second.acceptor.stop();
});

Deno.test("acceptCommands() turns a result that no message can carry into a return that says so", async () => {
  const lab = await peelLab();
  const life = await lab.start({
    execute: (request) =>
      Promise.resolve({
        ...responseTo(request),
        results: [{
          name: "big",
          changed: false,
          diff: "x".repeat(RETURN_BYTES_MAX),
          durationMs: 1,
          details: {},
        }],
      }),
  });
  const jid = lab.jid();
  lab.say(lab.requestOf(jid));
  await lab.settled();
  const [answer] = returnsOf(lab, jid);
  assert.equal(answer?.success, false);
  assert.match(answer?.error ?? "", /it succeeded, but its result cannot be sent: .* bytes/);
  await life.acceptor.stop();
});

Deno.test("acceptCommands() measures how long a job took by the clock that cannot step", async () => {
  const lab = await peelLab();
  const { execute, finish } = held();
  const life = await lab.start({ execute });
  const jid = lab.jid();
  lab.say(lab.requestOf(jid));
  await lab.settled();
  await lab.clock.advanceSettling(1_234);
  const now = lab.clock.now.bind(lab.clock);
  lab.clock.now = () => now() - 3_600_000;
  finish(jid);
  await lab.settled();
  assert.equal(life.journal.entry(jid)?.state, "stored");
  lab.clock.now = now;
  const stored = await lab.store.stream(streams.jobEvents.name).info();
  assert.equal(stored.messages, 2);
  await lab.clock.advanceSettling(REPEAT_ANSWER_MS_MIN);
  lab.say(lab.requestOf(jid));
  await lab.settled();
  assert.equal(returnsOf(lab, jid).at(-1)?.durationMs, 1_234);
  await life.acceptor.stop();
});

// ---- stop ----------------------------------------------------------------------------------------------------

Deno.test("Acceptor.stop() lets what runs end, and returns what waits as interrupted", async () => {
  const lab = await peelLab();
  const { execute, finish } = held();
  const life = await lab.start({ execute });
  const [running, waiting, late] = [lab.jid(), lab.jid(), lab.jid()];
  lab.say(lab.requestOf(running, MUTATING));
  lab.say(lab.requestOf(waiting, MUTATING));
  await lab.settled();
  const stopped = life.acceptor.stop();
  lab.say(lab.requestOf(late, MUTATING));
  await lab.clock.advanceSettling(WORK_DRAIN_MS / 2);
  finish(running);
  await lab.settled();
  await stopped;
  assert.deepEqual(lab.executed, [running]);
  assert.equal(returnsOf(lab, running)[0]?.success, true);
  assert.match(returnsOf(lab, waiting)[0]?.error ?? "", /^interrupted: .* before it began/);
  assert.equal(returnsOf(lab, late).length, 0);
});

Deno.test("Acceptor.stop() ends what does not end by itself, within the drain limit", async () => {
  const lab = await peelLab();
  const life = await lab.start({ execute: held().execute });
  const jid = lab.jid();
  lab.say(lab.requestOf(jid, MUTATING));
  await lab.settled();
  const stopped = life.acceptor.stop();
  await lab.clock.advanceSettling(WORK_DRAIN_MS);
  await stopped;
  assert.match(returnsOf(lab, jid)[0]?.error ?? "", /^interrupted: .* while it ran/);
});

Deno.test("Acceptor.stop() does not wait for a function that ignores it; the next start reports that job", async () => {
  const lab = await peelLab();
  const life = await lab.start({ execute: () => new Promise(() => {}) });
  const jid = lab.jid();
  lab.say(lab.requestOf(jid, MUTATING));
  await lab.settled();
  const stopped = life.acceptor.stop();
  await lab.clock.advanceSettling(WORK_DRAIN_MS + 2 * RETURN_DRAIN_MS, 500);
  await stopped;
  assert.equal(lab.returns.length, 0);
  life.crash();
  const next = await lab.start();
  await lab.settled();
  assert.match(returnsOf(lab, jid)[0]?.error ?? "", /^interrupted: .* while this ran/);
  await next.acceptor.stop();
});

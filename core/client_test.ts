import assert from "node:assert/strict";
import { createEngine } from "../broker/engine.ts";
import { enginePorts } from "../broker/ports.ts";
import { COMMAND_SIGNER, testSigner, testTrust } from "../tests/fakes/identities.ts";
import { ManualClock, seededRandom, settle } from "../tests/fakes/manual_clock.ts";
import {
  cancelJob,
  type ClientPorts,
  dispatchAndFollow,
  type FollowEvent,
  followExisting,
  type FollowNotice,
  query,
} from "./client.ts";
import { isZesterError } from "./errors.ts";
import { keyringOf } from "./keyring.ts";
import { voiceOf } from "./outgoing.ts";
import { type Subject, subjects } from "./subjects.ts";
import { encodeFollow } from "./wire/follow.ts";
import { decodeJob, type Job, newJob } from "./wire/job.ts";
import { decodeQuery, encodeReply } from "./wire/query.ts";
import type { Return } from "./wire/return.ts";

const JID = "2hPx1FNsSgJMqVn5bLSTXeBQMpO";

const accepted = (master = "m1", ...targets: string[]): FollowEvent => ({
  kind: "accepted",
  jid: JID,
  master,
  targets,
});
const given = (peelId: string, change: Partial<Return> = {}): Return => ({
  jid: JID,
  peelId,
  success: true,
  returnData: null,
  durationMs: 1,
  timestampMs: 0,
  ...change,
});
const returns = (...some: Return[]): FollowEvent => ({ kind: "returns", jid: JID, returns: some });
const done = (returnCount: number): FollowEvent => ({
  kind: "done",
  jid: JID,
  status: "complete",
  returnCount,
  successCount: returnCount,
  missing: [],
});
const alive: FollowEvent = { kind: "alive", jid: JID };
const pending: FollowEvent = { kind: "refused", code: "claim_pending", message: "being claimed" };

type Tell = (...events: FollowEvent[]) => void;

/** A fleet whose masters say what a test tells them to. */
function setUp() {
  const clock = new ManualClock();
  const engine = createEngine({ clock, random: seededRandom(1) });
  const trust = testTrust(["alice"]);
  const operator = enginePorts(engine, { role: "operator", identity: "alice", clock });
  const master = enginePorts(engine, { role: "master", identity: "m", clock });
  const masterVoice = voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, master.bus, clock);
  const lost = new AbortController();
  const client: ClientPorts = {
    operator: "alice",
    lost: lost.signal,
    bus: operator.bus,
    clock,
    voice: voiceOf({ signer: testSigner("alice"), generation: 1 }, operator.bus, clock),
    keyring: keyringOf(() => trust),
  };
  const asked: string[] = [];
  /** The masters' answers, one for each request in turn; then silence. */
  function script(...answers: ((tell: Tell) => void)[]): void {
    const listen = (rule: Subject, name: (bytes: Uint8Array) => string) =>
      master.bus.subscribe(rule.filter(), ({ reply = "", data }) => {
        asked.push(name(data));
        answers.shift()?.((...events) => {
          for (const event of events) masterVoice.answer(reply, encodeFollow(event));
        });
      });
    listen(subjects.dispatch, (bytes) => `dispatch ${decodeJob(bytes).jid}`);
    listen(subjects.query, (bytes) => `follow ${decodeQuery(bytes).jid}`);
  }
  const job: Job = newJob(
    { jid: JID, function: "test.ping", args: {}, targetExpr: "*", timeoutMs: 60_000 },
    clock.now(),
  );
  const events: FollowEvent[] = [];
  const notices: FollowNotice[] = [];
  const options = { onNotice: (notice: FollowNotice) => void notices.push(notice) };
  const follow = () => dispatchAndFollow(job, (event) => void events.push(event), client, options);
  const lose = () => lost.abort();
  return { clock, client, master, masterVoice, script, asked, events, notices, follow, lose };
}

Deno.test("dispatchAndFollow() asks another master when one falls silent, and tells each return once", async () => {
  const { clock, script, asked, events, notices, follow } = setUp();
  script(
    (tell) => tell(accepted("m1", "a", "b"), returns(given("a"))), // then it dies
    (tell) => tell(accepted("m2", "a", "b"), returns(given("a"), given("b")), done(2)),
  );
  const followed = follow();
  await clock.advanceSettling(10_000, 1_000);
  await followed;
  assert.deepEqual(asked, [`dispatch ${JID}`, `follow ${JID}`]);
  const told = events.flatMap((event) => event.kind === "returns" ? event.returns : []);
  assert.deepEqual(told.map(({ peelId }) => peelId), ["a", "b"]);
  assert.deepEqual(notices, [{ kind: "silence", master: "m1", afterMs: 10_000 }]);
  assert.equal(events.at(-1)?.kind, "done");
  assert.equal(clock.timers, 0);
});

Deno.test("dispatchAndFollow() stays with a master that says it is alive", async () => {
  const { clock, script, asked, follow } = setUp();
  let tell: Tell = () => {};
  script((given) => {
    tell = given;
    tell(accepted("m1", "a"));
  });
  const followed = follow();
  await settle();
  for (let seconds = 0; seconds < 45; seconds += 3) {
    await clock.advanceSettling(3_000);
    tell(alive);
  }
  tell(done(0));
  await followed;
  assert.equal(asked.length, 1);
});

const skewed: FollowEvent = { kind: "refused", code: "clock_skew", message: "your clock is off" };

Deno.test("dispatchAndFollow() takes the word of a master with another clock for a refusal only if nobody else was asked", async () => {
  const first = setUp();
  first.script((tell) => tell(skewed));
  await first.follow();
  assert.deepEqual(first.events.map(({ kind }) => kind), ["refused"]);

  const { clock, script, asked, events, follow } = setUp();
  script(
    (tell) => tell(pending), // it claims the job at this moment
    (tell) => tell(skewed),
    () => {}, // it has the job, and its answer is lost
    (tell) => tell(skewed),
    (tell) => tell(accepted("m1", "a"), returns(given("a")), done(1)),
  );
  const followed = follow();
  await clock.advanceSettling(10_000, 500);
  await followed;
  assert.equal(asked.length, 5);
  assert.deepEqual(events.map(({ kind }) => kind), ["accepted", "returns", "done"]);

  const gap = setUp();
  gap.script(
    (tell) => tell(accepted("m1", "a"), done(1)), // the return is lost, so that somebody is asked for it
    (tell) => tell(skewed),
    (tell) => tell(accepted("m1", "a"), returns(given("a")), done(1)),
  );
  const filled = gap.follow();
  await gap.clock.advanceSettling(5_000, 500);
  await filled;
  assert.deepEqual(gap.events.map(({ kind }) => kind), ["accepted", "accepted", "returns", "done"]);
});

Deno.test("dispatchAndFollow() sends the very same job again while no master has said that it took it", async () => {
  const { clock, script, asked, notices, follow } = setUp();
  script(() => {}, (tell) => tell(accepted("m2", "a"), returns(given("a")), done(1)));
  const followed = follow();
  await clock.advanceSettling(5_000);
  await followed;
  assert.deepEqual(asked, [`dispatch ${JID}`, `dispatch ${JID}`]);
  assert.deepEqual(notices, [{ kind: "silence", master: null, afterMs: 5_000 }]);
});

Deno.test("dispatchAndFollow() tries again, ever more slowly, while the job is being claimed elsewhere", async () => {
  const { clock, script, asked, notices, follow } = setUp();
  script(
    (tell) => tell(pending),
    (tell) => tell(pending),
    (tell) => tell(accepted("m1", "a"), done(0)),
  );
  const followed = follow();
  await clock.advanceSettling(750, 250);
  await followed;
  assert.equal(asked.length, 3);
  assert.deepEqual(notices.map((each) => each.kind === "pending" && each.retryMs), [250, 500]);
});

Deno.test("dispatchAndFollow() fails at once when no master is there, since nothing was sent", async () => {
  const { follow } = setUp();
  await assert.rejects(follow(), (error) => isZesterError(error, "no_responders"));
});

Deno.test("dispatchAndFollow() gives up after timeout and grace, and says that it may have run", async () => {
  const { clock, script, notices, follow } = setUp();
  script((tell) => tell(accepted("m1", "a")));
  const followed = follow().catch((error: unknown) => error);
  await clock.advanceSettling(80_000, 1_000);
  const error = await followed;
  assert.ok(isZesterError(error, "timeout"));
  assert.equal(
    error.message,
    `job ${JID}: its end was not heard in time; unknown: it may have run`,
  );
  assert.equal(error.fix, `zester job show ${JID}`);
  assert.ok(notices.length > 0);
  assert.equal(clock.timers, 0);
});

Deno.test("dispatchAndFollow() asks once more when the end counts returns that were lost on the way", async () => {
  const { script, asked, events, follow } = setUp();
  script(
    (tell) => tell(accepted("m1", "a", "b"), returns(given("a")), done(2)),
    (tell) => tell(accepted("m1", "a", "b"), returns(given("a"), given("b")), done(2)),
  );
  await follow();
  assert.equal(asked.length, 2);
  assert.equal(events.filter(({ kind }) => kind === "done").length, 1);
  const told = events.flatMap((event) => event.kind === "returns" ? event.returns : []);
  assert.deepEqual(told.map(({ peelId }) => peelId), ["a", "b"]);
});

Deno.test("dispatchAndFollow() passes on a real return after one that a master made up, not the other way round", async () => {
  const { script, events, follow } = setUp();
  const guess = given("a", { success: false, unreachable: true });
  script((tell) =>
    tell(accepted("m1", "a"), returns(guess), returns(given("a")), returns(guess), done(1))
  );
  await follow();
  const told = events.flatMap((event) => event.kind === "returns" ? event.returns : []);
  assert.deepEqual(told.map(({ unreachable }) => !!unreachable), [true, false]);
});

Deno.test("dispatchAndFollow() stops to listen when it is told to, and leaves no timer", async () => {
  const { clock, client, script } = setUp();
  script((tell) => tell(accepted("m1", "a")));
  const stop = new AbortController();
  const followed = followExisting(JID, () => {}, client, { signal: stop.signal });
  await settle();
  stop.abort();
  await followed;
  assert.equal(clock.timers, 0);
});

Deno.test("dispatchAndFollow() ends with accepted when that is all that is wanted", async () => {
  const { client, script, events, clock } = setUp();
  script((tell) => tell(accepted("m1", "a")));
  const job = newJob(
    { jid: JID, function: "test.ping", args: {}, targetExpr: "*", timeoutMs: 1_000 },
    0,
  );
  await dispatchAndFollow(job, (event) => events.push(event), client, { until: "accepted" });
  assert.deepEqual(events.map(({ kind }) => kind), ["accepted"]);
  assert.equal(clock.timers, 0);
});

Deno.test("query() and cancelJob() give the answer, or throw what the master refused with", async () => {
  const { client, master, masterVoice } = setUp();
  const stamp = { master: "m1", nowMs: 0 };
  master.bus.subscribe(
    subjects.query.filter(),
    ({ reply = "" }) =>
      masterVoice.answer(reply, encodeReply({ kind: "prefix", ...stamp, jid: JID })),
  );
  master.bus.subscribe(subjects.adminJob.filter(), ({ reply = "" }) =>
    masterVoice.answer(
      reply,
      encodeReply({ kind: "refused", code: "job_unknown", message: "no job", fix: "look" }),
    ));
  assert.equal((await query("prefix", { jid: "2hP" }, client)).jid, JID);
  await assert.rejects(
    cancelJob("2hP", client),
    (error) => isZesterError(error, "job_unknown") && error.fix === "look",
  );
});

Deno.test("query() refuses an answer that no master has signed", async () => {
  const { client, master, clock } = setUp();
  const forger = voiceOf({ signer: testSigner("web-01"), generation: 1 }, master.bus, clock);
  master.bus.subscribe(
    subjects.query.filter(),
    ({ reply = "" }) =>
      forger.answer(reply, encodeReply({ kind: "prefix", master: "m1", nowMs: 0, jid: JID })),
  );
  await assert.rejects(
    query("prefix", { jid: "2hP" }, client),
    (error) => isZesterError(error, "unknown_key"),
  );
});

Deno.test("dispatchAndFollow() says at once that the connection was lost, and what is known of the job", async () => {
  const { clock, script, events, follow, lose } = setUp();
  script((tell) => tell(accepted("m1", "a", "b"), returns(given("a"))));
  const followed = follow();
  await settle();
  lose();
  await assert.rejects(followed, (error) => {
    assert.ok(isZesterError(error, "disconnected"));
    assert.match(error.message, new RegExp(`connection to the broker was lost\\n.*${JID} goes on`));
    assert.match(error.fix ?? "", new RegExp(`zester job show ${JID}`));
    return true;
  });
  assert.deepEqual(events.map(({ kind }) => kind), ["accepted", "returns"]);
  assert.equal(clock.timers, 0);
});

Deno.test("dispatchAndFollow() does not claim that a job goes on which nobody may have taken", async () => {
  const { script, follow, lose } = setUp();
  script(() => {});
  const followed = follow();
  await settle();
  lose();
  await assert.rejects(followed, /not known whether a master took it/);
});

Deno.test("query() and cancelJob() say at once that the connection was lost", async () => {
  for (const ask of [query.bind(null, "jobs", {}), cancelJob.bind(null, JID)]) {
    const { client, master, script, lose } = setUp();
    script(() => {});
    master.bus.subscribe(subjects.adminJob.filter(), () => {});
    const asked = ask(client);
    await settle();
    lose();
    await assert.rejects(asked, (error) => isZesterError(error, "disconnected"));
  }
});

/** What a peel that was taken over, a server that lies, and text from outside can do to the others: nothing. */
import assert from "node:assert/strict";
import { decode as unpack, encode as pack } from "@msgpack/msgpack";
import fc from "fast-check";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { exitCodeOf } from "../../cli/render/exit_code.ts";
import {
  documents,
  jsonLine,
  outcomeData,
  outcomeIds,
  outcomeJsonLine,
  prettyJson,
} from "../../cli/render/run_data.ts";
import {
  newRun,
  type Run,
  sortedOutcomes,
  summarize,
  takeEvent,
} from "../../cli/render/run_model.ts";
import { outcomeLines, outcomeTable } from "../../cli/render/run_text.ts";
import { chooseStyle } from "../../cli/render/style.ts";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { systemRandom as random } from "../../core/adapters/system_random.ts";
import { buckets, streams } from "../../core/buckets.ts";
import { type ClientPorts, dispatchAndFollow, type FollowEvent } from "../../core/client.ts";
import { encodePublicNkey } from "../../core/crypto/nkey.ts";
import { grantsFor } from "../../core/grants.ts";
import { newEnrollmentId, newKsuid, newMasterId } from "../../core/ids.ts";
import { ingest } from "../../core/ingress.ts";
import { keyringOf } from "../../core/keyring.ts";
import { sealed, voiceOf } from "../../core/outgoing.ts";
import { signedBytes } from "../../core/signature.ts";
import type { Clock } from "../../core/ports.ts";
import { JOB_SUBJECT_MESSAGES_MAX } from "../../core/limits.ts";
import { SILENT_LOG } from "../../core/log.ts";
import { everythingAboutJob, type Role, type Subject, subjects } from "../../core/subjects.ts";
import { encodeAck } from "../../core/wire/ack.ts";
import { encodeEnrollment } from "../../core/wire/enrollment.ts";
import { decodeExecRequest } from "../../core/wire/exec.ts";
import { encodeFollow } from "../../core/wire/follow.ts";
import { encodeReturn } from "../../core/wire/return.ts";
import { heardBefore } from "../../master/jobs/heard.ts";
import { execute } from "../../peel/exec/service.ts";
import { FLEET_BROKERS } from "../fakes/fleet_brokers.ts";
import { startTestFleet, type TestFleet, testJob, type TestPorts, until } from "../fakes/fleet.ts";
import { COMMAND_SIGNER, testSigner, testTrust } from "../fakes/identities.ts";
import { ManualClock } from "../fakes/manual_clock.ts";

// ---- on both brokers -----------------------------------------------------------------------------------------

for (const maker of FLEET_BROKERS) {
  Deno.test({
    name:
      `on ${maker.name} a job passes under the permissions of a fleet, and each peel runs it once`,
    ignore: maker.ignore,
    async fn() {
      const broker = await maker.start([
        ["bootstrap", "bootstrap"],
        ["master", "m1"],
        ["peel", "web-01"],
        ["peel", "web-02"],
        ["operator", "alice"],
      ]);
      try {
        const fleet = await startTestFleet(["web-01", "web-02"], {
          connect: broker.connect,
          clock,
          random,
        });
        const events = await fleet.run("*", "test.ping");
        const done = events.at(-1);
        assert.ok(done?.kind === "done" && done.successCount === 2, JSON.stringify(done));
        assert.deepEqual(fleet.peels.map((peel) => peel.ran.length), [1, 1]);
        await fleet.stop();
      } finally {
        await broker.stop();
      }
    },
  });
}

// ---- volume --------------------------------------------------------------------------------------------------

const FLOOD_IDENTITIES: [Role, string][] = [
  ["bootstrap", "bootstrap"],
  ["master", "m1"],
  ["peel", "good-1"],
  ["peel", "good-2"],
  ["peel", "evil"],
  ["operator", "alice"],
];

/** One message of `evil` as bytes of the protocol: signed with its own key, then changed, which costs a reader the most. */
function badFrame(rule: Subject, subject: string): string {
  const identity = { signer: testSigner("evil"), generation: 1 };
  const context = { domain: rule.domain ?? "", subject };
  const [[name, value] = ["", ""]] = sealed(
    identity,
    context,
    new TextEncoder().encode("said"),
    clock.now(),
  );
  const block = `NATS/1.0\r\n${name}: ${value}\r\n\r\n`;
  return `HPUB ${subject} ${block.length} ${block.length + 4}\r\n${block}sent`;
}

const FLOODS: [name: string, frames: (jid: string) => string[]][] = [
  ["heartbeats", () => [badFrame(subjects.heartbeat, subjects.heartbeat.of({ peel: "evil" }))]],
  ["facts", () => [badFrame(subjects.fact, subjects.fact.of({ peel: "evil" }))]],
  ["acks and returns of a running job", (jid) => [
    badFrame(subjects.ack, subjects.ack.of({ jid, peel: "evil" })),
    badFrame(subjects.return, subjects.return.of({ jid, peel: "evil" })),
  ]],
];
const FLOOD_BATCH = 1_000;
const PINGS = 3;

for (const maker of FLEET_BROKERS) {
  for (const [name, framesOf] of FLOODS) {
    Deno.test({
      name:
        `on ${maker.name} a peel that sends ${name} as fast as it can keeps nobody from being pinged`,
      ignore: maker.ignore,
      async fn() {
        const broker = await maker.start(FLOOD_IDENTITIES);
        const stops: (() => void | Promise<void>)[] = [() => broker.stop()];
        try {
          const fleet = await startTestFleet(["good-1", "good-2"], {
            silent: ["evil"],
            connect: broker.connect,
            clock,
            random,
          });
          stops.push(() => fleet.stop());
          const jid = newKsuid(clock.now(), random);
          const watched = fleet.run("evil", "test.ping", { jid, timeoutMs: 20_000 });
          watched.catch(() => {}); // it ends with the fleet
          await until(() => fleet.master.services.jobs.watchers.isHeld(jid), "the running job");
          const attacker = await broker.attack("peel", "evil");
          stops.push(() => attacker.close());
          const flood = Array.from({ length: FLOOD_BATCH }, () => framesOf(jid)).flat();
          let sent = 0;
          let isOver = false;
          const flooding = (async () => {
            for (; !isOver; sent += flood.length) await attacker.send(flood.join("\r\n"));
          })();
          const refused = () =>
            fleet.master.metrics.value("ingressRefused", { reason: "flooding" });
          await until(() => refused() > 0, "the flood");
          for (let ping = 0; ping < PINGS; ping++) {
            const done = (await fleet.run("good-*", "test.ping")).at(-1);
            assert.ok(done?.kind === "done" && done.successCount === 2, JSON.stringify(done));
          }
          isOver = true;
          await flooding;
          assert.ok(refused() > FLOOD_BATCH, `${refused()} of ${sent}`);
        } finally {
          for (const stop of stops.reverse()) await stop();
        }
      },
    });
  }

  Deno.test({
    name:
      `on ${maker.name} the stream keeps few of the returns that one peel sends for one job, and all of the others`,
    ignore: maker.ignore,
    async fn() {
      const broker = await maker.start(FLOOD_IDENTITIES);
      try {
        const fleet = await startTestFleet(["good-1"], {
          silent: ["evil"],
          connect: broker.connect,
          clock,
          random,
        });
        const jid = newKsuid(clock.now(), random);
        await fleet.run("good-1", "test.ping", { jid });
        const evil = await broker.connect("peel", "evil");
        const voice = voiceOf({ signer: testSigner("evil"), generation: 1 }, evil.bus, clock);
        const subject = subjects.return.of({ jid, peel: "evil" });
        const payload = returnBytes(jid, "evil");
        const stream = evil.store.stream(streams.jobEvents.name);
        for (let n = 0; n < 5 * JOB_SUBJECT_MESSAGES_MAX; n++) {
          const headers = voice.headers(subjects.return, subject, payload);
          assert.equal((await stream.append(subject, payload, { headers })).outcome, "ok");
        }
        const { metrics, ports: { store } } = fleet.master;
        const consumer = await store.stream(streams.jobEvents.name).consumer({
          filter: everythingAboutJob(jid),
          deliver: "all",
          ackWaitMs: 60_000,
          maxAckPending: 1_000,
          inactiveMs: 60_000,
        });
        const stored = await consumer.fetch({ max: 1_000, waitMs: 5_000 });
        const from = (peel: string) => stored.filter((each) => each.subject.endsWith(`.${peel}`));
        assert.equal(from("evil").length, JOB_SUBJECT_MESSAGES_MAX);
        assert.equal(from("good-1").length, 2, "its ack and its return");
        const keyring = keyringOf(
          () => testTrust(),
          (peel) => fleet.master.services.peels.key(peel),
        );
        const heard = await heardBefore(jid, { store, clock, keyring, metrics, log: SILENT_LOG });
        assert.ok(heard.returns.some(({ peelId, success }) => peelId === "good-1" && success));
        await evil.close();
        await fleet.stop();
      } finally {
        await broker.stop();
      }
    },
  });
}

// ---- a peel that was taken over ------------------------------------------------------------------------------

interface Lab {
  readonly fleet: TestFleet;
  connect(role: Role, identity: string): TestPorts;
}

/** A fleet with the peel `good`, and `evil`, which is played by the test. */
async function withEvil(use: (lab: Lab) => Promise<void>): Promise<void> {
  const engine = createEngine({ clock, random });
  const connect = (role: Role, identity: string) =>
    enginePorts(engine, { role, identity, clock, permissions: grantsFor(role, identity) });
  const fleet = await startTestFleet(["good"], {
    silent: ["evil"],
    clock,
    random,
    connect: (role, identity) => Promise.resolve(connect(role, identity)),
  });
  try {
    await use({ fleet, connect });
  } finally {
    await fleet.stop();
  }
}

/** Answers every command for `evil` with these bytes, under its own key. */
function answerWith({ connect }: Lab, bytesOf: (jid: string) => Uint8Array): void {
  const { bus } = connect("peel", "evil");
  const voice = voiceOf({ signer: testSigner("evil"), generation: 1 }, bus, clock);
  bus.subscribe(subjects.command.of({ peel: "evil" }), ({ data }) => {
    const { jid } = decodeExecRequest(data);
    voice.say(subjects.return, subjects.return.of({ jid, peel: "evil" }), bytesOf(jid));
  });
}

function runOf(events: readonly FollowEvent[]): Run {
  const run = newRun();
  for (const event of events) if (event.kind in KINDS) takeEvent(run, event as never);
  return run;
}

const KINDS = { accepted: 1, acks: 1, returns: 1, done: 1, refused: 1 };

/** Those that are no answer at all keep the job waiting until its time is over; the others must have time to be read. */
const ODD_RETURNS: [name: string, (jid: string) => Uint8Array, timeoutMs?: number][] = [
  ["nothing", () => new Uint8Array()],
  ["nested arrays", () => new Uint8Array(500_000).fill(0x91)],
  ["a length of 4 GB", () => Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff)],
  ["another job's id", () => returnBytes(newKsuid(clock.now(), random), "evil")],
  ["another peel's id", (jid) => returnBytes(jid, "good")],
  // Small on the wire, and too large to be passed on once it is encoded again.
  ["a return that swells", (jid) =>
    pack({
      v: 1,
      jid,
      peel_id: "evil",
      success: false,
      error: "failed",
      duration: 0,
      timestamp: new Date(0),
      return_data: {
        peel_id: "evil",
        jid,
        success: false,
        results: Array.from({ length: 26_000 }, () => ({ name: "", changed: false, duration: 0 })),
      },
    }), 10_000],
];

function returnBytes(jid: string, peelId: string): Uint8Array {
  return encodeReturn({
    jid,
    peelId,
    success: true,
    returnData: null,
    durationMs: 1,
    timestampMs: clock.now(),
    unreachable: false,
  });
}

for (const [name, bytesOf, timeoutMs = 400] of ODD_RETURNS) {
  Deno.test(`a peel that answers with ${name} hides no other peel's answer and is not taken for a success`, () =>
    withEvil(async (lab) => {
      answerWith(lab, bytesOf);
      const run = runOf(await lab.fleet.run("*", "test.ping", { timeoutMs }));
      const { ok, failed, silent } = summarize(run);
      assert.deepEqual({ ok, others: failed + silent }, { ok: 1, others: 1 });
      assert.notEqual(exitCodeOf(summarize(run)), 0);
    }));
}

Deno.test("a peel that acks, returns and reports a job that is not for it changes nothing about that job", () =>
  withEvil(async (lab) => {
    const { fleet, connect } = lab;
    const { bus, store } = connect("peel", "evil");
    const voice = voiceOf({ signer: testSigner("evil"), generation: 1 }, bus, clock);
    const jid = newKsuid(clock.now(), random);
    const record = () => fleet.master.ports.store.bucket(buckets.jobs.name).get(jid);
    const said: [Subject, string, Uint8Array][] = [
      [subjects.ack, subjects.ack.of({ jid, peel: "evil" }), ackBytes(jid)],
      [subjects.return, subjects.return.of({ jid, peel: "evil" }), returnBytes(jid, "evil")],
      [subjects.schedule, subjects.schedule.of({ jid, peel: "evil" }), returnBytes(jid, "evil")],
    ];
    const speak = async () => {
      for (const [rule, subject, payload] of said) {
        const headers = voice.headers(rule, subject, payload);
        const stored = await store.stream(streams.jobEvents.name).append(subject, payload, {
          headers,
        });
        assert.equal(stored.outcome, "ok");
      }
    };
    await speak();
    assert.equal(await record(), null, "it makes no job either");
    const running = fleet.run("good", "test.ping", { jid });
    await speak();
    const done = (await running).at(-1);
    assert.ok(done?.kind === "done" && done.status === "complete" && done.returnCount === 1);
    const ended = (await record())?.revision;
    await speak();
    const keys = await fleet.master.ports.store.bucket(buckets.jobReturns.name).keys(jid);
    assert.deepEqual(keys, [`${jid}.good`]);
    assert.equal((await record())?.revision, ended);
  }));

Deno.test("a peel that answers in an older version of the protocol, or names none, is not heard", () =>
  withEvil(async (lab) => {
    answerWith(lab, (jid) => {
      const { v: _, ...older } = unpack(returnBytes(jid, "evil")) as Record<string, unknown>;
      return pack(older);
    });
    const run = runOf(await lab.fleet.run("*", "test.ping", { timeoutMs: 400 }));
    assert.deepEqual([summarize(run).ok, summarize(run).silent], [1, 1]);
    const { metrics } = lab.fleet.master;
    assert.ok(metrics.value("ingressRefused", { reason: "decode_failed" }) > 0);
  }));

function ackBytes(jid: string): Uint8Array {
  return encodeAck({ jid, peelId: "evil", timestampMs: clock.now() });
}

Deno.test("a key of generation 1 speaks for nobody once the peel is enrolled again", () =>
  withEvil(async (lab) => {
    const { fleet } = lab;
    const id = newEnrollmentId(clock.now(), random);
    const record = encodeEnrollment({
      id,
      peelId: "evil",
      publicKey: encodePublicNkey("user", testSigner("evil, reborn").publicKey),
      curvePublicKey: "",
      state: "active",
      generation: 2,
      createdAtMs: clock.now(),
      updatedAtMs: clock.now(),
    });
    const enrollments = fleet.master.ports.store.bucket(buckets.enrollments.name);
    await enrollments.put(id, record);
    await enrollments.put("peel.evil", new TextEncoder().encode(id));
    await until(() => fleet.master.services.peels.key("evil")?.generation === 2, "the new key");
    answerWith(lab, (jid) => returnBytes(jid, "evil"));
    const { silent, ok } = summarize(
      runOf(await fleet.run("*", "test.ping", { timeoutMs: 400 })),
    );
    assert.deepEqual({ ok, silent }, { ok: 1, silent: 1 });
    assert.ok(fleet.master.metrics.value("ingressRefused", { reason: "unknown_key" }) > 0);
  }));

for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
  Deno.test(`execute() answers that there is no function ${name}`, async () => {
    const request = { jid: newKsuid(clock.now(), random), module: name, id: "", args: {} };
    const response = await execute({ ...request, epoch: 1n }, {
      clock,
      peelId: "good",
      timeoutMs: 1_000,
    });
    assert.equal(response.success, false);
    assert.match(response.error ?? "", /no function/);
  });
}

// ---- a server that lies --------------------------------------------------------------------------------------

type Lie = (say: (event: FollowEvent) => void, status: (code: number) => void, jid: string) => void;

/** Dispatches to nobody real: whatever is asked, the server hands out these of the genuine messages of a master. */
async function followLies(lie: Lie): Promise<{ run: Run; error: { code?: string } | null }> {
  const clock = new ManualClock();
  const engine = createEngine({ clock, random });
  const server = enginePorts(engine, { role: "master", identity: "m1", clock });
  const operator = enginePorts(engine, { role: "operator", identity: "alice", clock });
  const jid = newKsuid(clock.now(), random);
  const voice = voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, server.bus, clock);
  const liar = engine.connect({ name: "server", deliver: () => {} });
  for (const rule of [subjects.dispatch, subjects.query]) {
    server.bus.subscribe(rule.filter(), ({ reply = "" }) =>
      lie(
        (event) => voice.answer(reply, encodeFollow(event)),
        (status) => void liar.publish(reply, new Uint8Array(), { status }),
        jid,
      ));
  }
  const events: FollowEvent[] = [];
  let end: { error: { code?: string } | null } | undefined;
  dispatchAndFollow(
    testJob(jid, "*", "test.ping", 100, clock),
    (event) => events.push(event),
    clientOf(operator, clock),
  ).then(() => end = { error: null }, (error) => end = { error });
  for (let second = 0; end === undefined && second < 60; second++) {
    await clock.advanceSettling(1_000);
  }
  assert.ok(end, "it has an end");
  return { run: runOf(events), error: end.error };
}

function clientOf({ bus }: TestPorts, clock: Clock): ClientPorts {
  const voice = voiceOf({ signer: testSigner("alice"), generation: 1 }, bus, clock);
  return { operator: "alice", bus, clock, voice, keyring: keyringOf(() => testTrust(["alice"])) };
}

const MASTER = newMasterId(clock.now(), random);
const accepted = (jid: string): FollowEvent => ({
  kind: "accepted",
  v: 1,
  jid,
  targets: ["web-01", "web-02"],
  master: MASTER,
});
const done = (jid: string): FollowEvent => ({
  kind: "done",
  v: 1,
  jid,
  status: "complete",
  returnCount: 2,
  successCount: 2,
  missing: [],
});

Deno.test("dispatchAndFollow(): a server that keeps the returns back makes nobody a success", async () => {
  const { run, error } = await followLies((say, _, jid) => {
    say(accepted(jid));
    say(done(jid));
  });
  assert.equal(error, null);
  assert.equal(exitCodeOf(summarize(run)), 4);
  assert.equal(summarize(run).silent, 2);
});

Deno.test("dispatchAndFollow(): a server that keeps the beginning back leaves it unknown, not at nobody", async () => {
  const { error } = await followLies((say, _, jid) => say(done(jid)));
  assert.equal(error?.code, "timeout");
});

Deno.test("dispatchAndFollow(): a server that says that nobody is there, after a master has answered, is not believed", async () => {
  const { run, error } = await followLies((say, raw, jid) => {
    say(accepted(jid));
    raw(503);
    say(done(jid));
  });
  assert.equal(error, null);
  assert.equal(run.status, "complete");
});

// ---- signatures ----------------------------------------------------------------------------------------------

const SAMPLE: Record<string, string | string[]> = {
  peel: "evil",
  operator: "alice",
  master: "m1",
  node: "evil",
  jid: newKsuid(clock.now(), random),
  verb: "approve",
  topic: "states",
  query: "jobs",
  function: "f",
  tag: ["a"],
  name: ["a"],
};

Deno.test("ingest() takes a signature on the subject and in the domain that it was made for, and in no other", () => {
  const identity = { signer: testSigner("any"), generation: 1 };
  const sender = {
    role: "peel" as const,
    identity: "any",
    generation: 1,
    verifier: { publicKey: identity.signer.publicKey, verify: verifyAny },
  };
  const rules: readonly Subject[] = Object.values(subjects);
  const payload = Uint8Array.of(1, 2, 3);
  const nowMs = clock.now();
  const wrong: string[] = [];
  for (const made of rules) {
    const from = made.of(SAMPLE as never);
    const headers = sealed(identity, { domain: made.domain ?? "", subject: from }, payload, nowMs);
    for (const rule of rules) {
      const subject = rule.of(SAMPLE as never);
      const door = ingest({ subject, headers, data: payload }, {
        rule,
        keyring: () => sender,
        nowMs,
      });
      const isSame = subject === from && rule.domain === made.domain;
      if (door.ok !== isSame) wrong.push(`${made.pattern} on ${rule.pattern}`);
    }
  }
  assert.deepEqual(wrong, []);

  function verifyAny(bytes: Uint8Array, signature: Uint8Array): boolean {
    return Buffer.from(identity.signer.sign(bytes)).equals(Buffer.from(signature));
  }
});

Deno.test("signedBytes() gives no two messages the same bytes", () => {
  const text = fc.string({ maxLength: 6, unit: fc.constantFrom("a", ".", "\0", "1", " ") });
  const number = fc.nat(300);
  const tuple = fc.tuple(text, text, text, number, number, number, number, number, text);
  type Tuple = typeof tuple extends fc.Arbitrary<infer T> ? T : never;
  const bytesOf = ([domain, subject, keyId, a, b, c, d, e, payload]: Tuple) =>
    signedBytes(
      { domain, subject },
      { keyId, generation: a, audience: b, issuedMs: c, firstIssuedMs: d, expiresMs: e },
      new TextEncoder().encode(payload),
    ).toHex();
  fc.assert(fc.property(tuple, tuple, (left, right) => {
    assert.equal(bytesOf(left) === bytesOf(right), JSON.stringify(left) === JSON.stringify(right));
  }));
});

// ---- text from outside ---------------------------------------------------------------------------------------

const EVIL_TEXT = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202Eabc\u2028\r\nforged  ok\x00\x7f\ufeff";
const UNSAFE = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u;

Deno.test("no form of output lets a return move the cursor, reorder text or forge a line of another peel", async () => {
  const result = {
    name: EVIL_TEXT,
    changed: false,
    diff: EVIL_TEXT,
    durationMs: 1,
    details: { stdout: EVIL_TEXT, [EVIL_TEXT]: EVIL_TEXT },
  };
  const evilDiff = `--- ${EVIL_TEXT}\n+++ ${EVIL_TEXT}\n+${EVIL_TEXT}`;
  const state = { ...result, changed: true, diff: evilDiff, details: { grant: EVIL_TEXT } };
  const composite = JSON.stringify({ [EVIL_TEXT]: [EVIL_TEXT, { [EVIL_TEXT]: EVIL_TEXT }] });
  const skipped = { ...state, skipped: true, skipReason: EVIL_TEXT };
  const results = [
    [result],
    [state],
    [state, skipped],
    [{ ...result, details: { result: composite } }],
    [{ ...result, details: { code: EVIL_TEXT, fix: EVIL_TEXT, exitcode: EVIL_TEXT } }],
  ];
  const style = chooseStyle({ flag: "never", env: {}, isTerminal: true });
  for (
    const [success, given] of [true, false].flatMap((each) =>
      results.map((all) => [each, all] as const)
    )
  ) {
    const run = newRun();
    takeEvent(run, { kind: "accepted", jid: "j", targets: ["evil"], master: MASTER });
    const failure = success ? {} : { error: EVIL_TEXT };
    const returnData = { results: given.map((each) => ({ ...each, ...failure })), test: true };
    const returned = { peelId: "evil", success, durationMs: 1, returnData, ...failure };
    const [outcome] = takeEvent(run, { kind: "returns", returns: [returned] });
    assert.ok(outcome);
    const forms = {
      text: outcomeLines(outcome, 8, { style, isWhole: true }),
      table: outcomeTable(sortedOutcomes(run), style),
      json: prettyJson(sortedOutcomes(run).map(outcomeData)),
      jsonl: outcomeJsonLine(outcome),
      error: jsonLine({ kind: "error", message: EVIL_TEXT }),
      yaml: await documents(sortedOutcomes(run).map(outcomeData)),
      ids: outcomeIds(sortedOutcomes(run)),
    };
    for (const [form, text] of Object.entries(forms)) {
      assert.doesNotMatch(text.replaceAll("\n", ""), UNSAFE, form);
      assert.doesNotMatch(text, /^forged/m, form);
    }
    const shown = [JSON.parse(forms.json)[0], JSON.parse(forms.jsonl)];
    for (const { results: [only] } of shown) assert.equal(only.name, EVIL_TEXT);
  }
});

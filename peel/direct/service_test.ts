import assert from "node:assert/strict";
import { streams } from "../../core/buckets.ts";
import { runDirect } from "../../core/direct.ts";
import { isZesterError } from "../../core/errors.ts";
import { REPEAT_ANSWER_MS_MIN } from "../../core/limits.ts";
import { directReplyRule, ingest } from "../../core/ingress.ts";
import { keyringOf } from "../../core/keyring.ts";
import { voiceOf } from "../../core/outgoing.ts";
import type { StoredMessage } from "../../core/ports.ts";
import { enginePorts } from "../../broker/ports.ts";
import { grantsFor } from "../../core/grants.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeEvent } from "../../core/wire/event.ts";
import { decodeExecResponse, type ExecResponse } from "../../core/wire/exec.ts";
import { testPeelKey, testSigner, testTrust } from "../../tests/fakes/identities.ts";
import { LAB_PEEL, type PeelLab, peelLab } from "../../tests/fakes/peel_lab.ts";

const EVENT = subjects.eventSend.of({ peel: LAB_PEEL, tag: ["audit", "direct"] });
const trust = testTrust();

/** An operator with its own login; what it hears was signed by the peel. */
function operator(lab: PeelLab, name: string) {
  const { clock, engine } = lab;
  const permissions = grantsFor("direct", name);
  const { bus } = enginePorts(engine, { role: "direct", identity: name, clock, permissions });
  const inbox = bus.inbox();
  const heard: ExecResponse[] = [];
  const rule = directReplyRule(inbox, LAB_PEEL);
  const keyring = keyringOf(() => trust, (peel) => testPeelKey(peel));
  bus.subscribe(inbox, (message) => {
    const door = ingest(message, { rule, keyring, nowMs: clock.now() });
    assert.ok(door.ok);
    heard.push(decodeExecResponse(door.payload));
  });
  const voice = voiceOf({ signer: testSigner(name), generation: 1 }, bus, clock);
  const subject = subjects.command.of({ peel: LAB_PEEL });
  return {
    heard,
    say: (payload: Uint8Array, reply: string | null = inbox) =>
      voice.say(subjects.command, subject, payload, {
        audience: 1,
        ...(reply === null ? {} : { reply }),
      }),
  };
}

function audit(lab: PeelLab): Promise<StoredMessage | null> {
  return lab.store.stream(streams.events.name).lastOn(EVENT);
}

Deno.test("acceptCommands() runs a direct command, answers its operator, and leaves an audit event", async () => {
  const lab = await peelLab();
  const life = await lab.start();
  const dora = operator(lab, "dora");
  const jid = lab.jid();
  dora.say(lab.requestOf(jid, "change.it"));
  await lab.settled();
  assert.deepEqual(lab.executed, [jid]);
  assert.deepEqual(dora.heard.map((each) => [each.jid, each.success]), [[jid, true]]);
  assert.deepEqual([lab.acks, lab.returns], [[], []], "it is no job");
  const event = decodeEvent((await audit(lab))?.data ?? new Uint8Array());
  assert.equal(event.tag, "audit.direct");
  assert.deepEqual(event.data, {
    jid,
    operator: "dora",
    function: "change.it",
    success: true,
    duration_ms: 0,
  });
  assert.equal(life.journal.entry(jid)?.state, "stored");
  await life.acceptor.stop();
});

Deno.test("runDirect() gives the answer that the peel signed, and says when there is no peel", async () => {
  const lab = await peelLab();
  const { clock, engine } = lab;
  const permissions = grantsFor("direct", "dora");
  const { bus } = enginePorts(engine, { role: "direct", identity: "dora", clock, permissions });
  const voice = voiceOf({ signer: testSigner("dora"), generation: 1 }, bus, clock);
  const request = { jid: lab.jid(), module: "test.ping", id: "", args: {}, epoch: 0n };
  const peel = { id: LAB_PEEL, key: testPeelKey(LAB_PEEL) };
  const ask = (key = peel.key) =>
    runDirect(request, { ...peel, key }, { bus, clock, voice, trust }, 5_000);
  await assert.rejects(ask(), (error) => isZesterError(error, "no_responders"));
  const life = await lab.start();
  const response = await ask();
  assert.deepEqual([response.jid, response.success], [request.jid, true]);
  await lab.clock.advanceSettling(REPEAT_ANSWER_MS_MIN);
  await assert.rejects(
    ask(testPeelKey("web-02")),
    (error) => isZesterError(error, "unknown_key"),
    "an answer that another key signed is not believed",
  );
  assert.equal(lab.executed.length, 1);
  await life.acceptor.stop();
});

Deno.test("acceptCommands() answers a repeated direct command from the journal, and runs it once", async () => {
  const lab = await peelLab();
  const first = await lab.start();
  const dora = operator(lab, "dora");
  const jid = lab.jid();
  dora.say(lab.requestOf(jid));
  await lab.settled();
  first.crash();
  const second = await lab.start();
  await lab.clock.advanceSettling(REPEAT_ANSWER_MS_MIN);
  dora.say(lab.requestOf(jid));
  await lab.settled();
  assert.equal(dora.heard.length, 2);
  assert.deepEqual(dora.heard[0], dora.heard[1]);
  assert.deepEqual(lab.executed, [jid]);
  await second.acceptor.stop();
});

Deno.test("acceptCommands() tells of a direct run that a crash cut off", async () => {
  const lab = await peelLab();
  const first = await lab.start({ execute: () => new Promise(() => {}) });
  operator(lab, "dora").say(lab.requestOf(lab.jid(), "change.it"));
  await lab.settled();
  assert.equal(await audit(lab), null);
  first.crash();
  const second = await lab.start();
  await lab.settled();
  const event = decodeEvent((await audit(lab))?.data ?? new Uint8Array());
  assert.match(String(event.data?.["error"]), /^interrupted/);
  await second.acceptor.stop();
});

Deno.test("acceptCommands() takes no direct command of an admin without the role, of a stranger, or with a strange inbox", async () => {
  const lab = await peelLab();
  const life = await lab.start();
  const refused = (reason: string) => life.metrics.value("ingressRefused", { reason });
  const [alice, stranger, dora] = ["alice", "stranger", "dora"].map((name) => operator(lab, name));
  alice?.say(lab.requestOf(lab.jid()));
  stranger?.say(lab.requestOf(lab.jid()));
  await lab.settled();
  assert.equal(refused("unknown_key"), 2);
  dora?.say(lab.requestOf(lab.jid()), null);
  dora?.say(lab.requestOf(lab.jid()), "_INBOX.direct.alice.1.x");
  dora?.say(lab.requestOf(lab.jid()), EVENT);
  lab.say(lab.requestOf(lab.jid()), { reply: "_INBOX.direct.dora.x" });
  await lab.settled();
  assert.equal(refused("misaddressed"), 4);
  assert.deepEqual(lab.executed, []);
  await life.acceptor.stop();
});

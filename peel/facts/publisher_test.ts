import assert from "node:assert/strict";
import { nodeHash } from "../../core/crypto/ed25519.ts";
import { ZesterError } from "../../core/errors.ts";
import { ingest } from "../../core/ingress.ts";
import { keyringOf } from "../../core/keyring.ts";
import { FACTS_INTERVAL_MS, FACTS_RETRY_MS, FACTS_RETRY_MS_MAX } from "../../core/limits.ts";
import { memoryLog } from "../../core/log.ts";
import { fakeMetrics } from "../../core/metrics.ts";
import { sealed, voiceOf } from "../../core/outgoing.ts";
import type { Bus, Message } from "../../core/ports.ts";
import { REPLY_DOMAIN, subjects } from "../../core/subjects.ts";
import {
  decodeFacts,
  encodeFactsAnswer,
  type Facts,
  type FactsAnswer,
} from "../../core/wire/facts.ts";
import {
  COMMAND_SIGNER,
  testPeelKey,
  testSigner,
  testTrust,
} from "../../tests/fakes/identities.ts";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { publishFacts } from "./publisher.ts";

/** What a master makes of facts; null is silence. */
type Answerer = (facts: Facts) => Partial<FactsAnswer> | null;

const same: Answerer = (facts) => facts;

function setUp(answerer: Answerer = same, signedBy = COMMAND_SIGNER, collectMs = 0) {
  const clock = new ManualClock(1_000);
  const log = memoryLog();
  const metrics = fakeMetrics();
  const sent: { facts: Facts; atMs: number }[] = [];
  let facts: Record<string, unknown> = { os: "a" };
  let answer = answerer;
  const bus = {
    connected: true,
    request(subject, data, { headers = [] }) {
      const keyring = keyringOf(() => testTrust(), () => testPeelKey("web-01"));
      const message = { subject, data, headers, status: undefined, reply: undefined };
      const door = ingest(message, { rule: subjects.fact, keyring, nowMs: clock.now() });
      assert.ok(door.ok, "signed by the peel");
      const decoded = decodeFacts(door.payload);
      sent.push({ facts: decoded, atMs: clock.monotonic() });
      const said = answer(decoded);
      if (said === null) return Promise.reject(new ZesterError("timeout", "no answer"));
      return Promise.resolve(reply(encodeFactsAnswer({ boot: 0n, sequence: 0n, ...said })));
    },
  } as Partial<Bus> as Bus;
  function reply(data: Uint8Array): Message {
    const subject = "_INBOX.peel.web-01.1";
    const identity = { signer: signedBy, generation: 1 };
    const headers = sealed(identity, { domain: REPLY_DOMAIN, subject }, data, clock.now());
    return { subject, data, headers, status: undefined, reply: undefined };
  }
  const publisher = publishFacts({
    peelId: "web-01",
    bus,
    clock,
    random: seededRandom(1),
    voice: voiceOf({ signer: testSigner("web-01"), generation: 1 }, bus, clock),
    keyring: keyringOf(() => testTrust()),
    hash: nodeHash,
    metrics,
    log,
    collect: async () => {
      if (collectMs > 0) await clock.sleep(collectMs);
      return facts;
    },
  });
  const ages = () => sent.map(({ facts: { boot, sequence } }) => `${boot}/${sequence}`);
  return {
    clock,
    log,
    metrics,
    sent,
    ages,
    publisher,
    change: (to: Record<string, unknown>) => void (facts = to),
    answerWith: (next: Answerer) => void (answer = next),
  };
}

Deno.test("publishFacts() sends at start, and again only what has changed", async () => {
  const { clock, ages, sent, change, publisher } = setUp();
  await clock.advanceSettling(FACTS_INTERVAL_MS * 3, FACTS_INTERVAL_MS);
  assert.deepEqual(ages(), ["1000/1"]);
  change({ os: "b" });
  await clock.advanceSettling(FACTS_INTERVAL_MS);
  assert.deepEqual(ages(), ["1000/1", "1000/2"]);
  assert.deepEqual(sent[1]!.facts.facts, { os: "b" });
  change({ os: "b" });
  await clock.advanceSettling(FACTS_INTERVAL_MS);
  assert.equal(sent.length, 2);
  await publisher.stop();
  assert.equal(clock.timers, 0);
});

Deno.test("publishFacts() resends until it is answered, further and further apart, always the same", async () => {
  const { clock, ages, sent, answerWith, publisher } = setUp(() => null);
  await clock.advanceSettling(600_000, 500);
  const gaps = sent.slice(1).map(({ atMs }, at) => atMs - sent[at]!.atMs);
  assert.ok(gaps[0]! >= FACTS_RETRY_MS / 2 && gaps[0]! <= FACTS_RETRY_MS, `${gaps[0]}`);
  assert.ok(gaps.every((gap) => gap <= FACTS_RETRY_MS_MAX));
  assert.ok(gaps.at(-1)! >= FACTS_RETRY_MS_MAX / 2);
  assert.deepEqual([...new Set(ages())], ["1000/1"]);
  answerWith(same);
  await clock.advanceSettling(FACTS_RETRY_MS_MAX);
  const count = sent.length;
  await clock.advanceSettling(FACTS_RETRY_MS_MAX * 3, 1_000);
  assert.equal(sent.length, count, "answered");
  await publisher.stop();
});

Deno.test("publishFacts() sends the same again after a reconnect, at once", async () => {
  const { clock, ages, publisher } = setUp();
  await clock.advanceSettling(1);
  publisher.reconnected();
  await clock.advanceSettling(1);
  assert.deepEqual(ages(), ["1000/1", "1000/1"]);
  await publisher.stop();
});

Deno.test("publishFacts() goes above what is stored when its clock was ahead before", async () => {
  const stored = { boot: 9_000n, sequence: 7n };
  const { clock, ages, publisher, log } = setUp((facts) =>
    facts.boot > stored.boot ? facts : stored
  );
  await clock.advanceSettling(FACTS_RETRY_MS * 4, 500);
  assert.deepEqual(ages(), ["1000/1", "9001/1"]);
  assert.equal(log.records.filter(({ level }) => level === "warn").length, 1);
  await publisher.stop();
});

Deno.test("publishFacts() goes above another process that speaks as the same peel since the same moment", async () => {
  const stored = { boot: 1_000n, sequence: 7n };
  const { clock, ages, publisher } = setUp((facts) =>
    facts.sequence > stored.sequence ? facts : stored
  );
  await clock.advanceSettling(FACTS_RETRY_MS * 4, 500);
  assert.deepEqual(ages(), ["1000/1", "1000/8"]);
  await publisher.stop();
});

Deno.test("publishFacts() does not send again what masters refuse, until it changes", async () => {
  const { clock, sent, change, publisher, log } = setUp(() => ({ refused: "too large" }));
  await clock.advanceSettling(FACTS_INTERVAL_MS * 2, 10_000);
  assert.equal(sent.length, 1);
  assert.equal(log.records.filter(({ level }) => level === "error").length, 1);
  change({ os: "b" });
  await clock.advanceSettling(FACTS_INTERVAL_MS, 10_000);
  assert.equal(sent.length, 2);
  await publisher.stop();
});

Deno.test("publishFacts() believes no answer that a master has not signed, nor one about something older", async () => {
  const forged = setUp(same, testSigner("web-02"));
  const older = setUp((facts) => ({ ...facts, sequence: facts.sequence - 1n }));
  for (const { clock, sent, publisher } of [forged, older]) {
    await clock.advanceSettling(FACTS_RETRY_MS * 4, 500);
    assert.ok(sent.length > 1);
    await publisher.stop();
  }
});

Deno.test("publishFacts() measures how long the peel took to look at itself", async () => {
  const { clock, metrics, publisher } = setUp(same, COMMAND_SIGNER, 250);
  await clock.advanceSettling(500, 250);
  assert.equal(metrics.value("peelFactsSeconds"), 0.25);
  await publisher.stop();
});

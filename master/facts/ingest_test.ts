import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets } from "../../core/buckets.ts";
import { newMasterId } from "../../core/ids.ts";
import { ingest, replyRule } from "../../core/ingress.ts";
import { keyringOf } from "../../core/keyring.ts";
import {
  FACTS_MESSAGE_BYTES_MAX,
  FACTS_READY_POLL_MS,
  FACTS_WAITING_MAX,
  WATCH_RETRY_MS,
} from "../../core/limits.ts";
import { memoryLog, SILENT_LOG } from "../../core/log.ts";
import { fakeMetrics } from "../../core/metrics.ts";
import { sealed, voiceOf } from "../../core/outgoing.ts";
import type { Bucket, HeaderField, Message, Store, WriteResult } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { ZesterError } from "../../core/errors.ts";
import {
  decodeFactsAnswer,
  decodeFactsRecord,
  encodeFacts,
  encodeFactsRecord,
  type FactsRecord,
} from "../../core/wire/facts.ts";
import {
  COMMAND_SIGNER,
  testPeelKey,
  testSigner,
  testTrust,
} from "../../tests/fakes/identities.ts";
import { ManualClock, seededRandom, settle } from "../../tests/fakes/manual_clock.ts";
import { followFacts } from "./directory.ts";
import { takeFacts } from "./ingest.ts";
import { storeFacts } from "./store.ts";

const FACTS = buckets.facts.name;

async function setUp(change: (store: Store) => Store = (store) => store, known = { peels: true }) {
  const clock = new ManualClock();
  const random = seededRandom(1);
  const engine = createEngine({ clock, random });
  const master = enginePorts(engine, { role: "master", identity: "m", clock });
  const peel = enginePorts(engine, { role: "peel", identity: "web-01", clock });
  await master.admin.ensureBucket(buckets.facts);
  const metrics = fakeMetrics();
  const log = memoryLog();
  const masterId = newMasterId(clock.now(), random);
  const directory = followFacts({ store: master.store, clock, log });
  await settle();
  const keys = new Map([["web-01", testPeelKey("web-01")]]);
  const taker = takeFacts({
    masterId,
    bus: master.bus,
    store: change(master.store),
    clock,
    voice: voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, master.bus, clock),
    keyring: keyringOf(() => testTrust(), (id) => keys.get(id)),
    metrics,
    log,
    facts: directory,
    knowsPeels: () => known.peels,
  });
  const bucket = master.store.bucket(FACTS);
  const stop = async () => {
    await taker.stop();
    directory.stop();
  };
  return { clock, master, peel, metrics, log, directory, bucket, masterId, keys, stop };
}

type Rig = Awaited<ReturnType<typeof setUp>>;

interface Sent {
  readonly facts?: Record<string, unknown>;
  readonly payload?: Uint8Array;
  readonly signedBy?: string;
  readonly headers?: readonly HeaderField[];
  readonly reply?: string;
}

/** Publishes as the peel does, and gives what came to its inbox. */
async function send(rig: Rig, boot: number, sequence: number, sent: Sent = {}): Promise<Message[]> {
  const { peel: { bus }, clock } = rig;
  const { facts = { os: "ubuntu" }, signedBy = "web-01" } = sent;
  const payload = sent.payload ??
    encodeFacts({ boot: BigInt(boot), sequence: BigInt(sequence), facts });
  const subject = subjects.fact.of({ peel: "web-01" });
  const identity = { signer: testSigner(signedBy), generation: 1 };
  const headers = sealed(
    identity,
    { domain: subjects.fact.domain!, subject },
    payload,
    clock.now(),
  );
  const inbox = bus.inbox();
  const answers: Message[] = [];
  const subscription = bus.subscribe(inbox, (message) => answers.push(message));
  bus.publish(subject, payload, {
    headers: [...headers, ...(sent.headers ?? [])],
    reply: sent.reply ?? inbox,
  });
  for (let turn = 0; turn < 10; turn++) await settle();
  subscription.unsubscribe();
  return answers;
}

function opened(message: Message | undefined, rig: Rig) {
  assert.ok(message !== undefined, "no answer");
  const keyring = keyringOf(() => testTrust());
  const rule = replyRule(message.subject);
  const door = ingest(message, { rule, keyring, nowMs: rig.clock.now() });
  assert.ok(door.ok, "the answer is signed by a master");
  return decodeFactsAnswer(door.payload);
}

async function storedIn(bucket: Bucket, peel = "web-01"): Promise<FactsRecord | null> {
  const entry = await bucket.get(peel);
  return entry === null ? null : decodeFactsRecord(entry.value);
}

Deno.test("takeFacts() stores what a peel says in a record of its own, and answers", async () => {
  const rig = await setUp();
  const [message] = await send(rig, 5, 1, { facts: { os: "ubuntu", cpus: 2 } });
  const answer = opened(message, rig);
  assert.deepEqual([answer.boot, answer.sequence, answer.refused], [5n, 1n, undefined]);
  assert.deepEqual(await storedIn(rig.bucket), {
    v: 1,
    peelId: "web-01",
    boot: 5n,
    sequence: 1n,
    facts: { os: "ubuntu", cpus: 2 },
    master: rig.masterId,
    storedMs: rig.clock.now(),
  });
  assert.deepEqual([...rig.directory.index.column("os").same("Ubuntu")], ["ubuntu"]);
  await rig.stop();
});

const orders: [
  name: string,
  second: [boot: number, sequence: number],
  os: string,
  answer: string,
][] = [
  ["takes a later sequence", [5, 2], "new", "5/2"],
  ["takes a later boot with a lower sequence", [6, 1], "new", "6/1"],
  ["leaves an earlier sequence", [5, 0], "old", "5/1"],
  ["leaves an earlier boot with a higher sequence", [4, 9], "old", "5/1"],
  ["answers a copy without writing it again", [5, 1], "old", "5/1"],
];
for (const [name, [boot, sequence], os, want] of orders) {
  Deno.test(`takeFacts() ${name}`, async () => {
    const rig = await setUp();
    await send(rig, 5, 1, { facts: { os: "old" } });
    const [message] = await send(rig, boot, sequence, { facts: { os: "new" } });
    const answer = opened(message, rig);
    assert.equal(`${answer.boot}/${answer.sequence}`, want);
    assert.equal((await storedIn(rig.bucket))?.facts["os"], os);
    assert.equal((await rig.bucket.history("web-01")).length, os === "new" ? 2 : 1);
    assert.equal(rig.metrics.value("factsSync"), 2, "what is there already is in sync, too");
    assert.equal(rig.metrics.value("factsSyncErrors"), 0);
    await rig.stop();
  });
}

const spoofs: [name: string, sent: Sent, reason: string][] = [
  ["signed by another peel", { signedBy: "web-02" }, "unknown_key"],
  ["delivered by the server itself", { headers: [["Nats-Stream", "KV_facts"]] }, "spoof"],
  ["that wants its answer elsewhere", { reply: "_INBOX.operator.alice.x" }, "misaddressed"],
];
for (const [name, sent, reason] of spoofs) {
  Deno.test(`takeFacts() drops a message ${name}, without an answer`, async () => {
    const rig = await setUp();
    assert.deepEqual(await send(rig, 5, 1, sent), []);
    assert.equal(await rig.bucket.get("web-01"), null);
    assert.equal(rig.metrics.value("ingressRefused", { reason }), 1);
    await rig.stop();
  });
}

Deno.test("takeFacts() leaves facts to other masters until it knows the peels", async () => {
  const known = { peels: false };
  const rig = await setUp(undefined, known);
  assert.deepEqual((await send(rig, 5, 1)).map(({ status }) => status), [503]);
  known.peels = true;
  await rig.clock.advanceSettling(FACTS_READY_POLL_MS);
  assert.equal(opened((await send(rig, 5, 1))[0], rig).boot, 5n);
  await rig.stop();
});

Deno.test("takeFacts() drops what a peel says that is not enrolled", async () => {
  const rig = await setUp();
  rig.keys.delete("web-01");
  assert.deepEqual(await send(rig, 5, 1), []);
  assert.equal(rig.metrics.value("ingressRefused", { reason: "unknown_key" }), 1);
  await rig.stop();
});

const hopeless: [name: string, payload: Uint8Array, why: RegExp][] = [
  [
    "too large",
    encodeFacts({ boot: 5n, sequence: 1n, facts: { a: "x".repeat(FACTS_MESSAGE_BYTES_MAX) } }),
    /at most 260096/,
  ],
  ["not facts", Uint8Array.of(0x93, 1, 2, 3), /Facts/],
  ["not a value at all", Uint8Array.of(0xc1), /Facts/],
];
for (const [name, payload, why] of hopeless) {
  Deno.test(`takeFacts() says once and for all that facts are ${name}`, async () => {
    const rig = await setUp();
    const [message] = await send(rig, 5, 1, { payload });
    assert.match(opened(message, rig).refused ?? "", why);
    assert.equal(await rig.bucket.get("web-01"), null);
    assert.equal(rig.metrics.value("factsSyncErrors"), 1);
    await rig.stop();
  });
}

Deno.test("takeFacts() takes the largest facts that are allowed", async () => {
  const rig = await setUp();
  const frame = encodeFacts({ boot: 5n, sequence: 1n, facts: { a: "" } }).length + 4;
  const facts = { a: "x".repeat(FACTS_MESSAGE_BYTES_MAX - frame) };
  const payload = encodeFacts({ boot: 5n, sequence: 1n, facts });
  assert.equal(payload.length, FACTS_MESSAGE_BYTES_MAX);
  const [message] = await send(rig, 5, 1, { payload });
  assert.equal(opened(message, rig).refused, undefined);
  await rig.stop();
});

Deno.test("takeFacts() is silent while the store does not answer, and drops what it cannot hold", async () => {
  const never = new Promise<WriteResult>(() => {});
  const rig = await setUp((store) => ({
    ...store,
    bucket: (name) => ({ ...store.bucket(name), create: () => never }),
  }));
  const { peel: { bus }, clock } = rig;
  const subject = subjects.fact.of({ peel: "web-01" });
  const voice = voiceOf({ signer: testSigner("web-01"), generation: 1 }, bus, clock);
  for (let at = 1; at <= FACTS_WAITING_MAX + 40; at++) {
    const payload = encodeFacts({ boot: 1n, sequence: BigInt(at), facts: {} });
    voice.say(subjects.fact, subject, payload, { reply: bus.inbox() });
  }
  for (let turn = 0; turn < 10; turn++) await settle();
  assert.equal(rig.metrics.value("factsSyncErrors"), 8, "32 written, 1,024 waiting");
  rig.directory.stop();
});

// ---- the write -----------------------------------------------------------------------------------------------

function record(boot: number, sequence: number, facts: Record<string, unknown> = {}): FactsRecord {
  const master = newMasterId(0, seededRandom(boot * 100 + sequence));
  const age = { boot: BigInt(boot), sequence: BigInt(sequence) };
  return { peelId: "web-01", ...age, facts, master, storedMs: 0 };
}

/** A store whose first write has this fate. */
function withFirstWrite(
  store: Store,
  fate: (write: () => Promise<WriteResult>) => Promise<WriteResult>,
): Store {
  let first = true;
  const once = (write: () => Promise<WriteResult>) => {
    if (!first) return write();
    first = false;
    return fate(write);
  };
  return {
    ...store,
    bucket(name) {
      const bucket = store.bucket(name);
      return {
        ...bucket,
        get: (key, options) => bucket.get(key, options),
        create: (key, value) => once(() => bucket.create(key, value)),
        update: (key, value, revision) => once(() => bucket.update(key, value, revision)),
      };
    },
  };
}

const LOST: WriteResult = { outcome: "unknown", cause: new ZesterError("timeout", "no answer") };

Deno.test("storeFacts() looks up a write whose answer was lost, whether it arrived or not", async () => {
  for (const arrives of [true, false]) {
    const rig = await setUp();
    const store = withFirstWrite(rig.master.store, async (write) => {
      if (arrives) await write();
      return LOST;
    });
    const outcome = await storeFacts(record(5, 1), undefined, store);
    assert.deepEqual(outcome, { result: "stored", boot: 5n, sequence: 1n });
    assert.equal((await rig.bucket.history("web-01")).length, 1);
    await rig.stop();
  }
});

Deno.test("storeFacts() does not write over something newer that came in between", async () => {
  const rig = await setUp();
  const store = withFirstWrite(rig.master.store, async (write) => {
    await rig.bucket.put("web-01", encodeFactsRecord(record(6, 1)));
    return await write();
  });
  const outcome = await storeFacts(record(5, 9), undefined, store);
  assert.deepEqual(outcome, { result: "stale", boot: 6n, sequence: 1n });
  assert.equal((await storedIn(rig.bucket))?.boot, 6n);
  await rig.stop();
});

Deno.test("storeFacts() writes over something older that it did not know of, and over what nobody can read", async () => {
  for (const before of [encodeFactsRecord(record(4, 1)), Uint8Array.of(0xc1)]) {
    const rig = await setUp();
    await rig.bucket.put("web-01", before);
    const known = { boot: 3n, sequence: 1n, revision: 77n };
    for (const guess of [undefined, known]) {
      const sequence = guess === undefined ? 1 : 2;
      const outcome = await storeFacts(record(5, sequence), guess, rig.master.store);
      assert.equal(outcome.result, "stored");
    }
    assert.equal((await storedIn(rig.bucket))?.sequence, 2n);
    await rig.stop();
  }
});

Deno.test("storeFacts() gives up when the store never says how a write went", async () => {
  const rig = await setUp();
  const { store } = rig.master;
  const mute: Store = {
    ...store,
    bucket: (name) => ({
      ...store.bucket(name),
      get: () => Promise.resolve(null),
      create: () => Promise.resolve(LOST),
    }),
  };
  await assert.rejects(storeFacts(record(5, 1), undefined, mute), /not stored after 5 tries/);
  await rig.stop();
});

// ---- the copy in memory --------------------------------------------------------------------------------------

Deno.test("followFacts() knows what is stored, forgets what is deleted, and ignores what it cannot read", async () => {
  const rig = await setUp();
  const { bucket, directory } = rig;
  await bucket.put("web-01", encodeFactsRecord(record(5, 1, { os: "a" })));
  await bucket.put("web-02", encodeFactsRecord(record(5, 1, { os: "forged" })));
  await settle();
  assert.equal(directory.ready, true);
  assert.deepEqual(directory.index.facts("web-01"), { os: "a" });
  assert.equal(directory.index.facts("web-02"), undefined, "a record under another key");
  await bucket.put("web-01", Uint8Array.of(0xc1));
  await settle();
  assert.equal(directory.index.facts("web-01"), undefined);
  await bucket.put("web-01", encodeFactsRecord(record(5, 2, { os: "b" })));
  await settle();
  assert.equal(directory.stored("web-01")?.sequence, 2n);
  await bucket.delete("web-01");
  await settle();
  assert.equal(directory.stored("web-01"), undefined);
  assert.deepEqual([...directory.index.column("os").values], []);
  await rig.stop();
});

Deno.test("followFacts() keeps what it knows while the watch is down, and then what it shows replaces it", async () => {
  const rig = await setUp();
  await rig.bucket.put("web-01", encodeFactsRecord(record(5, 1, { os: "a" })));
  const { store } = rig.master;
  const ends: ((reason: ZesterError) => void)[] = [];
  const breakable: Store = {
    ...store,
    bucket(name) {
      const bucket = store.bucket(name);
      return {
        ...bucket,
        async watch(filter, handler) {
          const watch = await bucket.watch(filter, handler);
          const { promise, resolve } = Promise.withResolvers<ZesterError>();
          ends.push(resolve);
          return { stop: () => watch.stop(), ended: Promise.race([watch.ended, promise]) };
        },
      };
    },
  };
  const directory = followFacts({ store: breakable, clock: rig.clock, log: SILENT_LOG });
  await settle();
  assert.deepEqual(directory.index.facts("web-01"), { os: "a" });
  ends[0]!(new ZesterError("disconnected", "gone"));
  await rig.bucket.delete("web-01");
  await rig.clock.advanceSettling(WATCH_RETRY_MS);
  assert.equal(ends.length, 2);
  assert.equal(directory.index.facts("web-01"), undefined);
  directory.stop();
  await rig.stop();
});

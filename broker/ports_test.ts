import assert from "node:assert/strict";
import type { BucketSpec, StreamSpec } from "../core/buckets.ts";
import { isZesterError } from "../core/errors.ts";
import type { Bucket, ConsumerSpec, Stream, WatchEvent } from "../core/ports.ts";
import { ManualClock, seededRandom, settle } from "../tests/fakes/manual_clock.ts";
import { createEngine } from "./engine.ts";
import { enginePorts } from "./ports.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

const BUCKET: BucketSpec = {
  name: "b",
  history: 3,
  storage: "memory",
  valueBytesMax: 1_024,
  bytesMax: 4_096,
  peelReads: [],
  operatorReads: [],
  note: "test",
};

const STREAM: StreamSpec = {
  name: "events",
  subjects: ["e.>"],
  maxAgeMs: 60_000,
  bytesMax: 100_000,
  duplicateWindowMs: 1_000,
  storage: "file",
  durables: [{
    name: "shared",
    filter: "e.>",
    deliver: "all",
    ackWaitMs: 1_000,
    maxAckPending: 10,
  }],
  replayable: true,
  note: "test",
};

async function setUp(bucket: Partial<BucketSpec> = {}) {
  const clock = new ManualClock();
  const engine = createEngine({ clock, random: seededRandom(1) });
  const connect = (identity: string) => enginePorts(engine, { role: "master", identity, clock });
  const one = connect("m1");
  await one.admin.ensureBucket({ ...BUCKET, ...bucket });
  await one.admin.ensureStream(STREAM);
  return {
    clock,
    engine,
    connect,
    one,
    bucket: one.store.bucket("b"),
    stream: one.store.stream("events"),
  };
}

/** The revision of a write that must have worked. */
async function revisionOf(write: ReturnType<Bucket["put"]>): Promise<bigint> {
  const result = await write;
  assert.equal(result.outcome, "ok");
  return result.outcome === "ok" ? result.revision : 0n;
}

async function failsWith(promise: Promise<unknown>, code: Parameters<typeof isZesterError>[1]) {
  await assert.rejects(promise, (thrown: unknown) => isZesterError(thrown, code));
}

// ---- bus -----------------------------------------------------------------------------------------------------

Deno.test("request() resolves with the first reply, sent to the client's own inbox", async () => {
  const { one, connect } = await setUp();
  const two = connect("m2");
  two.bus.subscribe("ask.*", (message) => {
    assert.match(message.reply ?? "", /^_INBOX\.master\.m1\./);
    two.bus.publish(message.reply ?? "", bytes(`re ${text(message.data)}`));
    two.bus.publish(message.reply ?? "", bytes("too late"));
  });
  const reply = await one.bus.request("ask.x", bytes("hi"), { timeoutMs: 1_000 });
  assert.equal(text(reply.data), "re hi");
});

Deno.test("request() to nobody fails with no_responders, to the silent with timeout", async () => {
  const { clock, one } = await setUp();
  await failsWith(one.bus.request("nobody", bytes(""), { timeoutMs: 1_000 }), "no_responders");
  one.bus.subscribe("silent", () => {});
  const waiting = one.bus.request("silent", bytes(""), { timeoutMs: 1_000 });
  const failed = failsWith(waiting, "timeout");
  await clock.advanceSettling(1_000);
  await failed;
});

Deno.test("subscribe() delivers in order, later than the publish that causes it", async () => {
  const { one } = await setUp();
  const got: string[] = [];
  const subscription = one.bus.subscribe("x", (message) => void got.push(text(message.data)));
  for (const each of ["1", "2", "3"]) one.bus.publish("x", bytes(each));
  assert.deepEqual(got, []);
  await settle();
  assert.deepEqual(got, ["1", "2", "3"]);
  one.bus.publish("x", bytes("4"));
  subscription.unsubscribe();
  subscription.unsubscribe();
  await settle();
  assert.deepEqual(got, ["1", "2", "3"], "nothing comes after unsubscribe()");
});

Deno.test("publish() takes a copy of its bytes", async () => {
  const { one } = await setUp();
  const got: string[] = [];
  one.bus.subscribe("x", (message) => void got.push(text(message.data)));
  const buffer = bytes("before");
  one.bus.publish("x", buffer);
  buffer.fill(0);
  await settle();
  assert.deepEqual(got, ["before"]);
});

Deno.test("close() ends what waits and refuses what comes later", async () => {
  const { clock, one } = await setUp();
  one.bus.subscribe("silent", () => {});
  const waiting = failsWith(one.bus.request("silent", bytes(""), { timeoutMs: 9_000 }), "closed");
  const watch = await one.store.bucket("b").watch(">", () => {});
  one.close();
  await waiting;
  assert.ok(isZesterError(await watch.ended, "closed"));
  assert.equal(one.bus.connected, false);
  assert.throws(
    () => one.bus.publish("x", bytes("")),
    (e: unknown) => isZesterError(e, "disconnected"),
  );
  await failsWith(one.bus.flush(1), "disconnected");
  await failsWith(one.store.bucket("b").get("k"), "disconnected");
  clock.advance(60_000);
});

Deno.test("enginePorts() with permissions refuses to subscribe and drops what may not be sent", async () => {
  const { engine, clock, one } = await setUp();
  const narrow = enginePorts(engine, {
    role: "peel",
    identity: "p1",
    clock,
    permissions: { publish: { allow: ["ok"] }, subscribe: { allow: ["_INBOX.peel.p1.>"] } },
  });
  const got: string[] = [];
  one.bus.subscribe(">", (message) => void got.push(message.subject));
  narrow.bus.publish("ok", bytes(""));
  narrow.bus.publish("secret", bytes(""));
  await settle();
  assert.deepEqual(got, ["ok"]);
  assert.throws(
    () => narrow.bus.subscribe("secret", () => {}),
    (thrown: unknown) => isZesterError(thrown, "permission_denied"),
  );
  await failsWith(narrow.store.bucket("b").put("k", bytes("v")), "permission_denied");
});

// ---- buckets -------------------------------------------------------------------------------------------------

Deno.test("create() writes only where no value is: never was, deleted, or expired", async () => {
  const { clock, bucket } = await setUp({ ttlMs: 10_000 });
  assert.equal((await bucket.create("k", bytes("1"))).outcome, "ok");
  assert.equal((await bucket.create("k", bytes("2"))).outcome, "conflict");
  await bucket.delete("k");
  assert.equal(await bucket.get("k"), null);
  assert.equal((await bucket.create("k", bytes("3"))).outcome, "ok");
  clock.advance(10_000);
  assert.equal(await bucket.get("k"), null);
  assert.equal((await bucket.create("k", bytes("4"))).outcome, "ok");
});

Deno.test("update() and delete() with a revision lose to whoever wrote in between", async () => {
  const { bucket } = await setUp();
  const first = await revisionOf(bucket.put("k", bytes("1")));
  const second = await revisionOf(bucket.update("k", bytes("2"), first));
  assert.ok(second > first);
  assert.equal((await bucket.update("k", bytes("3"), first)).outcome, "conflict");
  assert.equal((await bucket.delete("k", { revision: first })).outcome, "conflict");
  assert.equal((await bucket.delete("k", { revision: second })).outcome, "ok");
});

Deno.test("update() of eight racing writers lets exactly one through", async () => {
  const { connect, bucket } = await setUp();
  const revision = await revisionOf(bucket.put("k", bytes("0")));
  const writers = Array.from({ length: 8 }, (_, at) => connect(`w${at}`).store.bucket("b"));
  const results = await Promise.all(
    writers.map((writer, at) => writer.update("k", bytes(String(at)), revision)),
  );
  assert.equal(results.filter((result) => result.outcome === "ok").length, 1);
  assert.equal(results.filter((result) => result.outcome === "conflict").length, 7);
});

Deno.test("get() gives value, revision and time; history() the revisions that are kept", async () => {
  const { clock, bucket } = await setUp();
  for (const each of ["1", "2", "3", "4"]) await bucket.put("k", bytes(each));
  const entry = await bucket.get("k", { leader: true });
  assert.deepEqual(
    [entry?.key, text(entry?.value ?? bytes("")), entry?.revision, entry?.createdMs],
    ["k", "4", 4n, clock.now()],
  );
  assert.deepEqual((await bucket.history("k")).map((each) => text(each.value)), ["2", "3", "4"]);
  await bucket.delete("k");
  assert.deepEqual((await bucket.history("k")).map((each) => text(each.value)), ["3", "4"]);
});

Deno.test("keys() lists what is there, below a prefix of whole tokens, sorted", async () => {
  const { bucket } = await setUp();
  for (const key of ["b", "active.2", "active.1", "active", "activex.1", "gone"]) {
    await bucket.put(key, bytes(""));
  }
  await bucket.delete("gone");
  assert.deepEqual(await bucket.keys(), ["active", "active.1", "active.2", "activex.1", "b"]);
  assert.deepEqual(await bucket.keys("active"), ["active.1", "active.2"]);
});

Deno.test("watch() shows current values, then replayed, then changes", async () => {
  const { bucket } = await setUp();
  await bucket.put("a", bytes("old"));
  await bucket.put("a", bytes("1"));
  await bucket.put("gone", bytes("x"));
  await bucket.delete("gone");
  const seen: string[] = [];
  const show = (event: WatchEvent) =>
    event.kind === "put"
      ? `${event.entry.key}=${text(event.entry.value)}@${event.entry.revision}`
      : event.kind === "delete"
      ? `${event.key} deleted`
      : event.kind;
  const watch = await bucket.watch(">", (event) => void seen.push(show(event)));
  await settle();
  assert.deepEqual(seen.splice(0), ["a=1@2", "replayed"]);
  await bucket.put("b", bytes("2"));
  await bucket.delete("a");
  await settle();
  assert.deepEqual(seen.splice(0), ["b=2@5", "a deleted"]);
  watch.stop();
  assert.equal(await watch.ended, undefined);
  await bucket.put("b", bytes("3"));
  await settle();
  assert.deepEqual(seen, []);
});

Deno.test("watch() of an empty bucket is replayed at once; expiry makes no event", async () => {
  const { clock, engine, bucket } = await setUp({ ttlMs: 1_000 });
  const seen: string[] = [];
  const watch = await bucket.watch("k.*", (event) => void seen.push(event.kind));
  await bucket.put("k.1", bytes("x"));
  await bucket.put("other", bytes("x"));
  await clock.advanceSettling(5_000);
  assert.deepEqual(seen, ["replayed", "put"]);
  watch.stop();
  assert.deepEqual(engine.jetstream.consumerNames("KV_b"), []);
});

Deno.test("put() over a limit fails with its reason and changes nothing", async () => {
  const { bucket, one } = await setUp({ bytesMax: 2_000 });
  await failsWith(bucket.put("k", new Uint8Array(1_025)), "payload_too_large");
  await bucket.put("k1", new Uint8Array(1_000));
  await failsWith(bucket.put("k2", new Uint8Array(1_000)), "store_full");
  assert.deepEqual(await bucket.keys(), ["k1"]);
  await failsWith(bucket.put("bad key", bytes("")), "bad_subject");
  await failsWith(one.store.bucket("missing").get("k"), "not_found");
});

Deno.test("ensureBucket() brings settings up to date and keeps the values", async () => {
  const { engine, one, bucket } = await setUp();
  for (const each of ["1", "2", "3"]) await bucket.put("k", bytes(each));
  await one.admin.ensureBucket({ ...BUCKET, history: 2 });
  assert.equal(engine.jetstream.streamInfo("KV_b").config.max_msgs_per_subject, 2);
  assert.equal((await bucket.history("k")).length, 2);
});

// ---- streams -------------------------------------------------------------------------------------------------

const READER: ConsumerSpec = { deliver: "all", ackWaitMs: 1_000, maxAckPending: 10 };

async function append(stream: Stream, ...bodies: string[]): Promise<void> {
  for (const body of bodies) await stream.append(`e.${body}`, bytes(body));
}

Deno.test("append() stores, refuses by condition, and drops repeats", async () => {
  const { one, stream } = await setUp();
  const live: string[] = [];
  one.bus.subscribe("e.>", (message) => void live.push(message.subject));
  const options = { messageId: "1", expectedLastSequence: 0n };
  assert.deepEqual(await stream.append("e.a", bytes("1"), options), {
    outcome: "ok",
    sequence: 1n,
    duplicate: false,
  });
  const conflict = await stream.append("e.a", bytes("2"), { expectedLastSubjectSequence: 0n });
  assert.deepEqual(conflict, { outcome: "conflict" });
  const repeat = await stream.append("e.a", bytes("1"), { messageId: "1" });
  assert.deepEqual(repeat, { outcome: "ok", sequence: 1n, duplicate: true });
  assert.equal(live.length, 3, "subscribers see every publish");
  const stored = await stream.lastOn("e.a");
  assert.deepEqual([stored?.sequence, text(stored?.data ?? bytes(""))], [1n, "1"]);
  assert.equal(await stream.get(2n), null);
  assert.equal((await stream.info()).lastSequence, 1n);
  await failsWith(stream.append("nowhere", bytes("")), "no_responders");
});

Deno.test("fetch() gives what is there up to max, else what comes first, else nothing", async () => {
  const { clock, stream } = await setUp();
  await append(stream, "a", "b", "c");
  const consumer = await stream.consumer(READER);
  const first = await consumer.fetch({ max: 2, waitMs: 1_000 });
  assert.deepEqual(first.map((each) => text(each.data)), ["a", "b"]);
  assert.deepEqual(await consumer.info(), { pending: 1, ackPending: 2 });
  const rest = await consumer.fetch({ max: 5, waitMs: 500 });
  assert.deepEqual(rest.map((each) => [each.subject, each.deliveries]), [["e.c", 1]]);
  const waiting = consumer.fetch({ max: 5, waitMs: 500 });
  await append(stream, "d");
  assert.deepEqual((await waiting).map((each) => text(each.data)), ["d"]);
  const inVain = consumer.fetch({ max: 5, waitMs: 500 });
  await clock.advanceSettling(500);
  assert.deepEqual(await inVain, []);
  assert.deepEqual(await consumer.fetch({ max: 5, waitMs: 0 }), []);
});

Deno.test("ack(), nak(), working() and term() of a delivery do as they say", async () => {
  const { clock, stream } = await setUp();
  await append(stream, "ack", "nak", "working", "term");
  const consumer = await stream.consumer(READER);
  const [ack, nak, working, term] = await consumer.fetch({ max: 4, waitMs: 100 });
  await ack?.ack();
  nak?.nak(200);
  term?.term("bad");
  await clock.advanceSettling(200);
  const early = await consumer.fetch({ max: 4, waitMs: 0 });
  assert.deepEqual(early.map((each) => [text(each.data), each.deliveries]), [["nak", 2]]);
  await early[0]?.ack();
  await clock.advanceSettling(700);
  working?.working();
  await clock.advanceSettling(200);
  assert.deepEqual(await consumer.fetch({ max: 4, waitMs: 0 }), []);
  await clock.advanceSettling(800);
  const late = await consumer.fetch({ max: 4, waitMs: 0 });
  assert.deepEqual(late.map((each) => text(each.data)), ["working"]);
});

Deno.test("consumer() of a durable is shared by all that name it", async () => {
  const { connect, stream } = await setUp();
  const [spec] = STREAM.durables;
  assert.ok(spec);
  const { name: durable, filter, deliver, ackWaitMs, maxAckPending } = spec;
  const shared: ConsumerSpec = { durable, filter, deliver, ackWaitMs, maxAckPending };
  const one = await stream.consumer(shared);
  const two = await connect("m2").store.stream("events").consumer(shared);
  const waiting = [one.fetch({ max: 2, waitMs: 500 }), two.fetch({ max: 2, waitMs: 500 })];
  await append(stream, "a", "b");
  const got = (await Promise.all(waiting)).map((each) => each.map((one) => text(one.data)));
  assert.deepEqual(got, [["a"], ["b"]]);
  await failsWith(stream.consumer({ ...shared, maxAckPending: 99 }), "store_refused");
});

Deno.test("delete() of a consumer ends a fetch that waits with not_found", async () => {
  const { stream } = await setUp();
  const consumer = await stream.consumer(READER);
  const waiting = failsWith(consumer.fetch({ max: 1, waitMs: 60_000 }), "not_found");
  await consumer.delete();
  await waiting;
  await failsWith(consumer.fetch({ max: 1, waitMs: 1 }), "not_found");
});

Deno.test("ensureStream() brings stream and durables up to date", async () => {
  const { engine, one } = await setUp();
  const durables = STREAM.durables.map((each) => ({ ...each, maxAckPending: 20 }));
  await one.admin.ensureStream({ ...STREAM, bytesMax: 50_000, durables });
  assert.equal(engine.jetstream.streamInfo("events").config.max_bytes, 50_000);
  assert.equal(engine.jetstream.consumerInfo("events", "shared").config.max_ack_pending, 20);
});

import assert from "node:assert/strict";
import { ManualClock, seededRandom } from "../tests/fakes/manual_clock.ts";
import {
  type BrokerMessage,
  type ConnectOptions,
  createEngine,
  type Engine,
  type Session,
} from "./engine.ts";
import type { LogRecord } from "./jetstream/types.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

interface Probe extends Session {
  readonly got: { sid: string; message: BrokerMessage }[];
  /** "sid:subject=payload" of each. */
  seen(): string[];
}

function newEngine() {
  const clock = new ManualClock();
  return { clock, engine: createEngine({ clock, random: seededRandom(1) }) };
}

function probe(engine: Engine, options: Partial<ConnectOptions> = {}): Probe {
  const got: Probe["got"] = [];
  const session = engine.connect({
    name: "test",
    deliver: (message, sid) => void got.push({ sid, message }),
    ...options,
  });
  const seen = () =>
    got.map(({ sid, message }) =>
      `${sid}:${message.subject}=${message.status ?? text(message.data)}`
    );
  return { ...session, got, seen };
}

Deno.test("publish() reaches each matching subscription once, in this and other sessions", () => {
  const { engine } = newEngine();
  const a = probe(engine);
  const b = probe(engine);
  a.subscribe("1", "x.*");
  a.subscribe("2", "x.>");
  b.subscribe("9", "x.y");
  assert.equal(a.publish("x.y", bytes("hi")), "ok");
  assert.deepEqual(a.seen(), ["1:x.y=hi", "2:x.y=hi"]);
  assert.deepEqual(b.seen(), ["9:x.y=hi"]);
});

Deno.test("publish() refuses subjects that are none", () => {
  const { engine } = newEngine();
  const a = probe(engine);
  for (const subject of ["", "a..b", "a.*", "a b", ">"]) {
    assert.equal(a.publish(subject, bytes("")), "denied", subject);
  }
  assert.equal(a.subscribe("1", "a..b"), "denied");
});

Deno.test("publish() takes wildcards only in requests to the API, where they are plain tokens", () => {
  const { engine } = newEngine();
  const a = probe(engine);
  a.subscribe("1", "$JS.API.CONSUMER.CREATE.*.>");
  assert.equal(a.publish("$JS.API.CONSUMER.CREATE.S.c.s.*", bytes("x")), "ok");
  assert.equal(a.publish("$JS.API.CONSUMER.CREATE.S.c.>", bytes("y")), "ok");
  assert.deepEqual(a.seen(), [
    "1:$JS.API.CONSUMER.CREATE.S.c.s.*=x",
    "1:$JS.API.CONSUMER.CREATE.S.c.>=y",
  ]);
  assert.equal(a.publish("s.*", bytes("z")), "denied");
});

Deno.test("connect() with echo false keeps a session's own messages from it", () => {
  const { engine } = newEngine();
  const a = probe(engine, { echo: false });
  const b = probe(engine);
  a.subscribe("1", "x");
  b.subscribe("1", "x");
  a.publish("x", bytes("1"));
  b.publish("x", bytes("2"));
  assert.deepEqual(a.seen(), ["1:x=2"]);
});

Deno.test("unsubscribe() with a number ends the subscription after that many messages", () => {
  const { engine } = newEngine();
  const a = probe(engine);
  a.subscribe("1", "x");
  a.publish("x", bytes("1"));
  a.unsubscribe("1", 2);
  a.publish("x", bytes("2"));
  a.publish("x", bytes("3"));
  assert.deepEqual(a.seen(), ["1:x=1", "1:x=2"]);
  a.subscribe("2", "x");
  a.publish("x", bytes("4"));
  a.unsubscribe("2", 1);
  assert.equal(engine.hasInterest("x"), false);
});

Deno.test("close() of a session ends its subscriptions and its publishing", () => {
  const { engine } = newEngine();
  const a = probe(engine);
  a.subscribe("1", "x");
  a.close();
  assert.equal(engine.hasInterest("x"), false);
  assert.equal(a.publish("x", bytes("")), "denied");
});

Deno.test("publish() gives each message to one member of a queue group and to every plain subscriber", () => {
  const { engine } = newEngine();
  const members = [probe(engine), probe(engine), probe(engine)];
  const plain = probe(engine);
  for (const member of members) member.subscribe("q", "work", "group");
  plain.subscribe("p", "work");
  for (let each = 0; each < 300; each++) plain.publish("work", bytes(String(each)));
  assert.equal(plain.got.length, 300);
  assert.equal(members.reduce((sum, member) => sum + member.got.length, 0), 300);
  for (const member of members) assert.ok(member.got.length > 50, "each gets its share");
});

Deno.test("publish() picks queue members by the Random port, so that a run repeats", () => {
  const run = (seed: number) => {
    const engine = createEngine({ clock: new ManualClock(), random: seededRandom(seed) });
    const members = [probe(engine), probe(engine)];
    for (const member of members) member.subscribe("q", "work", "group");
    const from = probe(engine);
    for (let each = 0; each < 30; each++) from.publish("work", bytes(String(each)));
    return members.map((member) => member.seen());
  };
  assert.deepEqual(run(7), run(7));
  assert.notDeepEqual(run(7), run(8));
});

const publishCases: [name: string, subject: string, want: "ok" | "denied"][] = [
  ["takes an allowed literal", "ok.one", "ok"],
  ["takes what a wildcard allows", "wild.a.b", "ok"],
  ["refuses what no pattern allows", "other", "denied"],
  ["refuses what is denied though allowed", "wild.secret", "denied"],
];

for (const [name, subject, want] of publishCases) {
  Deno.test(`publish() with permissions ${name}`, () => {
    const { engine } = newEngine();
    const other = probe(engine);
    other.subscribe("1", ">");
    const publish = { allow: ["ok.one", "wild.>"], deny: ["wild.secret"] };
    const a = probe(engine, { permissions: { publish } });
    assert.equal(a.publish(subject, bytes("")), want);
    assert.equal(other.got.length, want === "ok" ? 1 : 0);
  });
}

const subscribeCases: [name: string, pattern: string, want: "ok" | "denied"][] = [
  ["takes a subset of an allowed pattern", "in.*", "ok"],
  ["takes the allowed pattern itself", "in.>", "ok"],
  ["refuses more than is allowed", ">", "denied"],
  ["refuses a pattern within a denied one", "in.secret.x", "denied"],
];

for (const [name, pattern, want] of subscribeCases) {
  Deno.test(`subscribe() with permissions ${name}`, () => {
    const { engine } = newEngine();
    const subscribe = { allow: ["in.>"], deny: ["in.secret.>"] };
    const a = probe(engine, { permissions: { subscribe } });
    assert.equal(a.subscribe("1", pattern), want);
  });
}

Deno.test("subscribe() over a denied pattern delivers all but what is denied", () => {
  const { engine } = newEngine();
  const a = probe(engine, { permissions: { subscribe: { deny: ["in.secret"] } } });
  assert.equal(a.subscribe("1", "in.>"), "ok");
  const b = probe(engine);
  b.publish("in.secret", bytes("no"));
  b.publish("in.open", bytes("yes"));
  assert.deepEqual(a.seen(), ["1:in.open=yes"]);
});

Deno.test("connect() with an empty allow list allows nothing", () => {
  const { engine } = newEngine();
  const none = { allow: [] };
  const a = probe(engine, { permissions: { publish: none, subscribe: none } });
  assert.equal(a.publish("x", bytes("")), "denied");
  assert.equal(a.subscribe("1", "x"), "denied");
});

Deno.test("publish() of a request to nobody is answered with 503, only to the asker", () => {
  const { engine } = newEngine();
  const a = probe(engine);
  const b = probe(engine);
  a.subscribe("1", "inbox.a");
  b.subscribe("1", "inbox.>");
  a.publish("nobody.home", bytes(""), { reply: "inbox.a" });
  assert.deepEqual(a.seen(), ["1:inbox.a=503"]);
  assert.deepEqual(b.seen(), []);
});

Deno.test("publish() of a request to nobody stays silent when the session asked for that", () => {
  const { engine } = newEngine();
  const a = probe(engine, { noResponders: false });
  a.subscribe("1", "inbox.a");
  a.publish("nobody.home", bytes(""), { reply: "inbox.a" });
  assert.deepEqual(a.seen(), []);
});

Deno.test("publish() to a stream is answered with its acknowledgement or its error", () => {
  const { engine } = newEngine();
  engine.jetstream.createStream({ name: "S", subjects: ["s.>"], storage: "memory" });
  const a = probe(engine);
  a.subscribe("1", "inbox");
  a.subscribe("2", "s.x");
  a.publish("s.x", bytes("one"), { reply: "inbox" });
  a.publish("s.x", bytes("two"), {
    reply: "inbox",
    headers: [["Nats-Expected-Last-Sequence", "7"]],
  });
  const answers = a.got.filter(({ sid }) => sid === "1")
    .map(({ message }) => JSON.parse(text(message.data)));
  assert.deepEqual(answers, [
    { stream: "S", seq: 1 },
    {
      error: { code: 400, err_code: 10071, description: "wrong last sequence: 1" },
      stream: "S",
      seq: 0,
    },
  ]);
  assert.equal(a.got.filter(({ sid }) => sid === "2").length, 2, "subscribers see both");
});

/** A log that is durable when the test says so. */
function slowLog() {
  const records: LogRecord[] = [];
  const waiting: (() => void)[] = [];
  return {
    records,
    write: (record: LogRecord) => void records.push(record),
    whenDurable: (callback: () => void) => void waiting.push(callback),
    flush: () => waiting.splice(0).forEach((each) => each()),
  };
}

Deno.test("publish() to a stream on disk is acknowledged only once it is durable", () => {
  const persistence = slowLog();
  const engine = createEngine({ clock: new ManualClock(), random: seededRandom(1), persistence });
  engine.jetstream.createStream({ name: "S", subjects: ["s"] });
  engine.jetstream.createStream({ name: "M", subjects: ["m"], storage: "memory" });
  const a = probe(engine);
  a.subscribe("1", "inbox");
  a.publish("s", bytes("disk"), { reply: "inbox" });
  assert.deepEqual(a.seen(), []);
  a.publish("m", bytes("memory"), { reply: "inbox" });
  assert.deepEqual(a.seen(), ['1:inbox={"stream":"M","seq":1}']);
  persistence.flush();
  assert.equal(a.seen()[1], '1:inbox={"stream":"S","seq":1}');
  assert.deepEqual(persistence.records.map((record) => record.type), ["stream_put", "stored"]);
});

Deno.test("an acknowledgement that asks for a reply gets it once it is durable", () => {
  const persistence = slowLog();
  const engine = createEngine({ clock: new ManualClock(), random: seededRandom(1), persistence });
  engine.jetstream.createStream({ name: "S", subjects: ["s"] });
  engine.jetstream.createConsumer("S", { durable_name: "C", ack_policy: "explicit" });
  const a = probe(engine);
  a.subscribe("1", "inbox");
  a.publish("s", bytes("x"));
  engine.jetstream.pull("S", "C", { batch: 1 }, "inbox");
  const reply = a.got[0]?.message.reply ?? "";
  assert.match(reply, /^\$JS\.ACK\.S\.C\.1\.1\.1\.\d{19}\.0$/);
  a.publish(reply, bytes("+ACK"), { reply: "inbox" });
  assert.equal(a.got.length, 1);
  persistence.flush();
  assert.deepEqual(a.seen(), ["1:s=x", "1:inbox="]);
  assert.equal(engine.jetstream.consumerInfo("S", "C").num_ack_pending, 0);
});

Deno.test("the broker never sends to its own subjects, so that a reply cannot give it orders", () => {
  const { engine } = newEngine();
  engine.jetstream.createStream({ name: "S", subjects: ["s"], storage: "memory" });
  const spy = probe(engine);
  spy.subscribe("1", "$JS.>");
  const a = probe(engine);
  a.publish("s", bytes("x"), { reply: "$JS.API.STREAM.DELETE.S" });
  assert.deepEqual(spy.seen(), []);
});

Deno.test("publish() with 10,000 other subscriptions costs about what it costs with one", () => {
  const { engine } = newEngine();
  const a = probe(engine);
  for (let each = 0; each < 10_000; each++) a.subscribe(String(each), `peer.${each}.cmd`);
  const started = performance.now();
  for (let each = 0; each < 10_000; each++) a.publish(`peer.${each}.cmd`, bytes("x"));
  const spentMs = performance.now() - started;
  assert.equal(a.got.length, 10_000);
  // A scan would look at 10^8 subscriptions: many seconds.
  assert.ok(spentMs < 2_000, `took ${spentMs} ms`);
});

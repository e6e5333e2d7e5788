import assert from "node:assert/strict";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { type BrokerMessage, createEngine } from "../engine.ts";
import { type ConsumerConfigInput, JetStreamApiError, type PullRequest } from "./types.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);
const MS = 1_000_000;

/** A stream with a client that listens on `in.>`; what it got is shown as payload or status. */
function setUp(options: { history?: number } = {}) {
  const clock = new ManualClock();
  const engine = createEngine({ clock, random: seededRandom(1) });
  const { jetstream } = engine;
  jetstream.createStream({
    name: "S",
    subjects: ["s.>"],
    storage: "memory",
    max_msgs_per_subject: options.history ?? -1,
  });
  const got: BrokerMessage[] = [];
  const client = engine.connect({ name: "c", deliver: (message) => void got.push(message) });
  client.subscribe("1", "in.>");
  const show = (message: BrokerMessage) =>
    message.status === undefined
      ? text(message.data)
      : `${message.status} ${message.description ?? ""}`;
  return {
    clock,
    engine,
    jetstream,
    client,
    got,
    put(...bodies: string[]) {
      for (const body of bodies) jetstream.append("S", { subject: `s.${body}`, data: bytes(body) });
    },
    make(config: ConsumerConfigInput = {}) {
      return jetstream.createConsumer("S", {
        durable_name: "C",
        ack_policy: "explicit",
        ack_wait: 1_000 * MS,
        ...config,
      });
    },
    pull(request: Partial<PullRequest> = {}, to = "in.1") {
      jetstream.pull("S", "C", { batch: 10, ...request }, to);
    },
    /** What came since the last look. */
    take: () => got.splice(0).map(show),
    /** Messages that came since the last look, to be answered. */
    takeRaw: () => got.splice(0),
    answer(message: BrokerMessage | undefined, payload: string) {
      client.publish(message?.reply ?? "none", bytes(payload));
    },
    info: () => jetstream.consumerInfo("S", "C"),
  };
}

const policyCases: [name: string, config: ConsumerConfigInput, want: string[]][] = [
  ["all", { deliver_policy: "all" }, ["a", "b", "a", "c", "new"]],
  ["new", { deliver_policy: "new" }, ["new"]],
  ["last", { deliver_policy: "last" }, ["c", "new"]],
  ["last of a filter", { deliver_policy: "last", filter_subject: "s.a" }, ["a"]],
  [
    "last_per_subject",
    { deliver_policy: "last_per_subject", filter_subject: "s.>" },
    ["b", "a", "c", "new"],
  ],
  ["by_start_sequence", { deliver_policy: "by_start_sequence", opt_start_seq: 3 }, [
    "a",
    "c",
    "new",
  ]],
  ["by_start_time", {
    deliver_policy: "by_start_time",
    opt_start_time: "2026-01-01T00:00:01.000Z",
  }, ["c", "new"]],
  ["a filter", { filter_subject: "s.a" }, ["a", "a"]],
  ["several filters", { filter_subjects: ["s.a", "s.new"] }, ["a", "a", "new"]],
];

for (const [name, config, want] of policyCases) {
  Deno.test(`createConsumer() with ${name} delivers ${want.join(" ")}, and counts what is left`, () => {
    const test = setUp();
    test.put("a", "b", "a");
    test.clock.advance(1_000);
    test.put("c");
    test.make(config);
    test.put("new");
    assert.equal(test.info().num_pending, want.length);
    test.pull();
    const messages = test.takeRaw();
    assert.deepEqual(messages.map((message) => text(message.data)), want);
    const left = messages.map((message) => Number(message.reply?.split(".").at(-1)));
    assert.deepEqual(left, want.map((_, at) => want.length - 1 - at));
    assert.equal(test.info().num_pending, 0);
  });
}

Deno.test("a delivered message keeps its subject, whatever inbox it is sent to", () => {
  const test = setUp();
  test.put("a");
  test.make();
  test.pull();
  const [message] = test.takeRaw();
  assert.equal(message?.subject, "s.a");
  assert.match(message?.reply ?? "", /^\$JS\.ACK\.S\.C\.1\.1\.1\.1767225600000000000\.0$/);
});

Deno.test("+ACK settles a message for good; without it the message comes again after AckWait", () => {
  const test = setUp();
  test.put("a", "b");
  test.make();
  test.pull({ batch: 2 });
  test.answer(test.takeRaw()[0], "+ACK");
  assert.equal(test.info().num_ack_pending, 1);
  test.pull();
  test.clock.advance(999);
  assert.deepEqual(test.take(), []);
  test.clock.advance(1);
  const [again] = test.takeRaw();
  assert.equal(text(again?.data ?? bytes("")), "b");
  assert.equal(again?.reply?.split(".")[4], "2", "second delivery");
  test.answer(again, "+ACK");
  test.clock.advance(10_000);
  assert.deepEqual(test.take(), []);
  const { delivered, ack_floor } = test.info();
  assert.deepEqual(delivered, { consumer_seq: 3, stream_seq: 2 });
  assert.deepEqual(ack_floor, { consumer_seq: 3, stream_seq: 2 });
});

const ackCases: [payload: string, again: "at once" | "later" | "after AckWait" | "never"][] = [
  ["-NAK", "at once"],
  ['-NAK {"delay":5000000000}', "later"],
  ["-NAK {broken", "at once"],
  ["+WPI", "after AckWait"],
  ["+TERM", "never"],
  ["+TERM bad input", "never"],
  ["", "never"],
  ["nonsense", "after AckWait"],
];

for (const [payload, again] of ackCases) {
  Deno.test(`the answer ${JSON.stringify(payload)} brings a message again ${again}`, () => {
    const test = setUp();
    test.put("a");
    test.make();
    test.pull({ batch: 5 });
    const [message] = test.takeRaw();
    test.clock.advance(500);
    test.answer(message, payload);
    const atOnce = test.take();
    test.clock.advance(600); // past the first AckWait, within one that starts at the answer
    const soon = test.take();
    test.clock.advance(400);
    const afterWait = test.take();
    test.clock.advance(4_000);
    const later = test.take();
    assert.equal(atOnce.length > 0, again === "at once");
    if (again === "never") assert.deepEqual([...soon, ...afterWait, ...later], []);
    if (again === "later") assert.deepEqual([soon, afterWait, later], [[], [], ["a"]]);
    if (payload === "+WPI") assert.deepEqual([soon, afterWait[0]], [[], "a"]);
  });
}

Deno.test("max_ack_pending holds back new messages until some are settled", () => {
  const test = setUp();
  test.put("a", "b", "c");
  test.make({ max_ack_pending: 2 });
  test.pull();
  const messages = test.takeRaw();
  assert.equal(messages.length, 2);
  test.answer(messages[0], "+ACK");
  assert.deepEqual(test.take(), ["c"]);
});

Deno.test("max_deliver ends the deliveries of a message and frees its place", () => {
  const test = setUp();
  test.put("a");
  test.make({ max_deliver: 2 });
  test.pull();
  test.clock.advance(1_000);
  assert.deepEqual(test.take(), ["a", "a"]);
  test.clock.advance(1_000);
  assert.deepEqual(test.take(), []);
  assert.equal(test.info().num_ack_pending, 0);
});

Deno.test("backoff gives each delivery its own wait", () => {
  const test = setUp();
  test.put("a");
  test.make({ backoff: [100 * MS, 300 * MS] });
  test.pull();
  const times: number[] = [];
  for (let ms = 0; ms <= 1_000; ms += 50) {
    if (test.take().length > 0) times.push(ms);
    test.clock.advance(50);
  }
  assert.deepEqual(times, [0, 100, 400, 700, 1_000]);
});

Deno.test("ack policy all settles everything up to the message", () => {
  const test = setUp();
  test.put("a", "b", "c");
  test.make({ ack_policy: "all" });
  test.pull();
  test.answer(test.takeRaw()[1], "+ACK");
  assert.equal(test.info().num_ack_pending, 1);
});

Deno.test("a message that leaves the stream is not delivered again and frees its place", () => {
  const test = setUp({ history: 1 });
  test.put("a");
  test.make({ max_ack_pending: 1 });
  test.pull();
  assert.deepEqual(test.take(), ["a"]);
  test.put("a");
  assert.deepEqual(test.take(), ["a"]);
  assert.equal(test.info().num_ack_pending, 1);
});

Deno.test("num_pending follows messages that are removed before they were delivered", () => {
  const test = setUp();
  test.make({ filter_subject: "s.a" });
  test.put("a", "b", "a");
  assert.equal(test.info().num_pending, 2);
  test.jetstream.deleteMessage("S", 1);
  test.jetstream.deleteMessage("S", 2);
  assert.equal(test.info().num_pending, 1);
  test.pull();
  assert.deepEqual(test.take(), ["a"]);
});

// ---- pull requests -------------------------------------------------------------------------------------------

Deno.test("pull() that does not wait gets what is there and then 404", () => {
  const test = setUp();
  test.make();
  test.pull({ no_wait: true });
  assert.deepEqual(test.take(), ["404 No Messages"]);
  test.put("a", "b");
  test.pull({ no_wait: true });
  assert.deepEqual(test.take(), ["a", "b", "404 No Messages"]);
  test.put("c");
  assert.deepEqual(test.take(), []);
});

Deno.test("pull() ends with 408 when its time is up, naming what it did not get", () => {
  const test = setUp();
  test.make();
  test.pull({ batch: 3, expires: 1_000 * MS });
  test.put("a");
  test.clock.advance(999);
  assert.deepEqual(test.take(), ["a"]);
  test.clock.advance(1);
  const [status] = test.takeRaw();
  assert.deepEqual([status?.status, status?.description], [408, "Request Timeout"]);
  assert.deepEqual(status?.headers, [["Nats-Pending-Messages", "2"], ["Nats-Pending-Bytes", "0"]]);
  assert.equal(test.info().num_waiting, 0);
});

Deno.test("pull() beats while it waits", () => {
  const test = setUp();
  test.make();
  test.pull({ expires: 1_000 * MS, idle_heartbeat: 400 * MS });
  test.clock.advance(400);
  const [beat] = test.takeRaw();
  assert.deepEqual([beat?.status, beat?.description], [100, "Idle Heartbeat"]);
  test.clock.advance(600);
  assert.deepEqual(test.take(), ["100 Idle Heartbeat", "408 Request Timeout"]);
});

Deno.test("pull() with max_bytes ends before a message that does not fit", () => {
  const test = setUp();
  test.make();
  test.put("a");
  test.pull({ max_bytes: 10 });
  assert.deepEqual(test.take(), ["409 Message Size Exceeds MaxBytes"]);
  test.pull({ batch: 1, max_bytes: 1_000 });
  assert.deepEqual(test.take(), ["a", "409 Batch Completed"]);
});

Deno.test("pull() of several readers is served in turn, each message once", () => {
  const test = setUp();
  test.make();
  const places: string[] = [];
  const other = test.engine.connect({ name: "d", deliver: () => void places.push("other") });
  other.subscribe("1", "other.>");
  test.pull({ batch: 2 }, "in.1");
  test.pull({ batch: 2 }, "other.1");
  test.put("a", "b", "c", "d");
  assert.equal(places.length, 2);
  assert.deepEqual(test.take(), ["a", "c"]);
});

Deno.test("pull() of a reader that has gone loses no message", () => {
  const test = setUp();
  test.make();
  const gone = test.engine.connect({ name: "d", deliver: () => assert.fail("gone") });
  gone.subscribe("1", "other.>");
  test.pull({ batch: 5 }, "other.1");
  gone.close();
  test.pull({ batch: 5 }, "in.1");
  test.put("a");
  assert.deepEqual(test.take(), ["a"]);
});

const pullRefusals: [
  name: string,
  config: ConsumerConfigInput,
  request: Partial<PullRequest>,
  want: string,
][] = [
  ["too large a batch", { max_batch: 5 }, {}, "409 Exceeded MaxRequestBatch of 5"],
  ["more than may wait", { max_waiting: 1 }, {}, "409 Exceeded MaxWaiting"],
  [
    "a heartbeat longer than half its time",
    {},
    { expires: 1_000 * MS, idle_heartbeat: 600 * MS },
    "400 Bad Request - heartbeat value too large",
  ],
];

for (const [name, config, request, want] of pullRefusals) {
  Deno.test(`pull() is refused for ${name}`, () => {
    const test = setUp();
    test.make(config);
    if (config.max_waiting === 1) test.pull({ batch: 1 });
    test.pull(request);
    assert.deepEqual(test.take(), [want]);
  });
}

Deno.test("deleteConsumer() tells those who wait", () => {
  const test = setUp();
  test.make();
  test.pull();
  test.jetstream.deleteConsumer("S", "C");
  assert.deepEqual(test.take(), ["409 Consumer Deleted"]);
  assert.equal(test.clock.timers, 0);
});

// ---- push ----------------------------------------------------------------------------------------------------

const ORDERED: ConsumerConfigInput = {
  name: "C",
  deliver_policy: "last_per_subject",
  filter_subject: "s.>",
  deliver_subject: "push.1",
  ack_policy: "none",
  flow_control: true,
  idle_heartbeat: 5_000 * MS,
  mem_storage: true,
};

Deno.test("a push consumer waits for its receiver, then sends what is there and what comes", () => {
  const test = setUp();
  test.put("a", "b", "a");
  const report = test.jetstream.createConsumer("S", ORDERED);
  assert.equal(report.num_pending, 2);
  assert.deepEqual(test.take(), []);
  test.client.subscribe("2", "push.1");
  test.put("c");
  const messages = test.takeRaw();
  assert.deepEqual(messages.map((message) => text(message.data)), ["b", "a", "c"]);
  const consumerSequences = messages.map((message) => message.reply?.split(".")[6]);
  assert.deepEqual(consumerSequences, ["1", "2", "3"]);
  assert.equal(test.info().push_bound, true);
});

Deno.test("a push consumer beats when idle, with its last sequences", () => {
  const test = setUp();
  test.put("a");
  test.jetstream.createConsumer("S", ORDERED);
  test.client.subscribe("2", "push.*");
  test.take();
  test.clock.advance(3_000);
  test.put("b");
  test.take();
  test.clock.advance(4_999);
  assert.deepEqual(test.take(), []);
  test.clock.advance(1);
  const [beat] = test.takeRaw();
  assert.equal(beat?.description, "Idle Heartbeat");
  assert.deepEqual(beat?.headers, [["Nats-Last-Consumer", "2"], ["Nats-Last-Stream", "2"]]);
});

Deno.test("a push consumer under flow control stops until its receiver answers", () => {
  const test = setUp();
  test.jetstream.createConsumer("S", ORDERED);
  test.client.subscribe("2", "push.1");
  const big = new Uint8Array(100 * 1_024);
  for (let each = 0; each < 10; each++) {
    test.jetstream.append("S", { subject: `s.${each}`, data: big });
  }
  const first = test.takeRaw();
  const requests = first.filter((message) => message.status === 100);
  assert.equal(requests.length, 1);
  const sent = first.length - 1;
  assert.ok(sent < 10, `${sent} of 10 sent`);
  test.clock.advance(5_000);
  const stalled = test.takeRaw()[0]?.headers.find(([name]) => name === "Nats-Consumer-Stalled");
  assert.equal(stalled?.[1], requests[0]?.reply);
  let total = sent;
  for (let request = requests[0]; request !== undefined;) {
    test.client.publish(request.reply ?? "", bytes(""));
    const more = test.takeRaw();
    total += more.filter((message) => message.status === undefined).length;
    request = more.find((message) => message.description === "FlowControl Request");
  }
  assert.equal(total, 10);
});

Deno.test("a push consumer with a group sends each message to one member", () => {
  const test = setUp();
  test.jetstream.createConsumer("S", {
    name: "C",
    deliver_subject: "push.1",
    deliver_group: "g",
    ack_policy: "none",
  });
  test.client.subscribe("2", "push.1");
  test.put("a");
  assert.deepEqual(test.take(), [], "not a member");
  test.client.subscribe("3", "push.1", "g");
  test.client.subscribe("4", "push.1", "g");
  test.client.unsubscribe("2");
  assert.deepEqual(test.take(), ["a", "a"], "the plain subscriber and one member");
  test.put("b");
  assert.deepEqual(test.take(), ["b"]);
});

Deno.test("headers_only sends the size instead of the payload", () => {
  const test = setUp();
  test.put("abc");
  test.make({ headers_only: true });
  test.pull();
  const [message] = test.takeRaw();
  assert.deepEqual([message?.data.length, message?.headers], [0, [["Nats-Msg-Size", "3"]]]);
});

// ---- lifetime and settings -----------------------------------------------------------------------------------

Deno.test("an ephemeral consumer goes when nobody pulls for its threshold; a durable stays", () => {
  const test = setUp();
  test.make();
  const { name } = test.jetstream.createConsumer("S", {
    ack_policy: "explicit",
    inactive_threshold: 2_000 * MS,
  });
  test.clock.advance(1_500);
  test.jetstream.pull("S", name, { batch: 1, expires: 3_000 * MS }, "in.2");
  test.clock.advance(4_000);
  assert.ok(test.jetstream.consumerNames("S").includes(name));
  test.clock.advance(2_001);
  assert.deepEqual(test.jetstream.consumerNames("S"), ["C"]);
});

Deno.test("a push consumer without a name goes after its receiver left", () => {
  const test = setUp();
  test.jetstream.createConsumer("S", ORDERED);
  test.client.subscribe("2", "push.1");
  test.clock.advance(60_000);
  assert.equal(test.jetstream.consumerNames("S").length, 1);
  test.client.unsubscribe("2");
  test.clock.advance(5_000);
  assert.deepEqual(test.jetstream.consumerNames("S"), []);
  assert.equal(test.clock.timers, 0);
});

const badConsumers: [name: string, config: ConsumerConfigInput, errCode: number][] = [
  ["two kinds of filter", { filter_subject: "s.a", filter_subjects: ["s.b"] }, 10136],
  ["filters that overlap", { filter_subjects: ["s.a", "s.>"] }, 10138],
  ["a start sequence that is not wanted", { opt_start_seq: 3 }, 10094],
  ["a start sequence that is missing", { deliver_policy: "by_start_sequence" }, 10094],
  ["last per subject without a filter", { deliver_policy: "last_per_subject" }, 10094],
  ["two names", { name: "D" }, 10132],
  ["delivery into its own stream", { deliver_subject: "s.loop" }, 10081],
  ["delivery to a wildcard", { deliver_subject: "in.*" }, 10079],
  ["flow control without push", { flow_control: true }, 10089],
  ["flow control without heartbeat", { flow_control: true, deliver_subject: "p" }, 10108],
];

for (const [name, config, errCode] of badConsumers) {
  Deno.test(`createConsumer() refuses ${name}`, () => {
    const test = setUp();
    assert.throws(
      () => test.make(config),
      (thrown: unknown) => thrown instanceof JetStreamApiError && thrown.errCode === errCode,
    );
    assert.deepEqual(test.jetstream.consumerNames("S"), []);
  });
}

Deno.test("createConsumer() binds, creates or updates by its action", () => {
  const test = setUp();
  const config = { durable_name: "C", ack_policy: "explicit" } as const;
  const errCodeOf = (call: () => unknown) => {
    try {
      call();
      return "ok";
    } catch (thrown) {
      return thrown instanceof JetStreamApiError ? thrown.errCode : thrown;
    }
  };
  const create = (more: ConsumerConfigInput, action: "create" | "update" | "") => () =>
    test.jetstream.createConsumer("S", { ...config, ...more }, action);
  assert.equal(errCodeOf(create({}, "update")), 10149);
  assert.equal(errCodeOf(create({}, "create")), "ok");
  assert.equal(errCodeOf(create({}, "create")), "ok");
  assert.equal(errCodeOf(create({ max_deliver: 3 }, "create")), 10148);
  assert.equal(errCodeOf(create({ max_deliver: 3 }, "update")), "ok");
  assert.equal(test.info().config.max_deliver, 3);
  assert.equal(errCodeOf(create({ ack_policy: "none" }, "")), 10012);
});

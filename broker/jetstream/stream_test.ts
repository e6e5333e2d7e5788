import assert from "node:assert/strict";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { createEngine } from "../engine.ts";
import type { HeaderField } from "../../core/ports.ts";
import type { JetStream } from "./api.ts";
import { JetStreamApiError, type StreamConfigInput } from "./types.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);
const MS = 1_000_000;

function setUp(config: Partial<StreamConfigInput> = {}) {
  const clock = new ManualClock();
  const engine = createEngine({ clock, random: seededRandom(1) });
  const { jetstream } = engine;
  jetstream.createStream({ name: "S", subjects: ["s.>"], storage: "memory", ...config });
  return { clock, engine, jetstream };
}

function put(jetstream: JetStream, subject: string, body = "x", headers: HeaderField[] = []) {
  return jetstream.append("S", { subject, data: bytes(body), headers });
}

/** Sequences still there. */
function kept(jetstream: JetStream): number[] {
  const { last_seq: last } = jetstream.streamInfo("S").state;
  return Array.from({ length: last }, (_, at) => at + 1).filter((seq) => {
    try {
      return jetstream.getMessage("S", { seq }).sequence === seq;
    } catch {
      return false;
    }
  });
}

function refused(call: () => unknown, errCode: number, description?: string): void {
  assert.throws(call, (thrown: unknown) => {
    assert.ok(thrown instanceof JetStreamApiError, String(thrown));
    assert.equal(thrown.errCode, errCode, thrown.description);
    if (description !== undefined) assert.equal(thrown.description, description);
    return true;
  });
}

// One message here is 19 + payload bytes: 3 of subject, 16 of storage.
const limitCases: [
  name: string,
  config: Partial<StreamConfigInput>,
  puts: string[],
  want: number[],
][] = [
  ["max_msgs drops the oldest", { max_msgs: 2 }, ["s.a", "s.b", "s.c"], [2, 3]],
  ["max_bytes drops the oldest", { max_bytes: 50 }, ["s.a", "s.b", "s.c"], [2, 3]],
  [
    "max_msgs_per_subject drops the oldest of that subject",
    { max_msgs_per_subject: 1 },
    ["s.a", "s.b", "s.a"],
    [2, 3],
  ],
  [
    "discard new still replaces on a subject at its limit",
    { max_msgs_per_subject: 1, max_msgs: 2, discard: "new" },
    ["s.a", "s.b", "s.a"],
    [2, 3],
  ],
];

for (const [name, config, puts, want] of limitCases) {
  Deno.test(`append() under ${name}`, () => {
    const { jetstream } = setUp(config);
    for (const subject of puts) put(jetstream, subject);
    assert.deepEqual(kept(jetstream), want);
    assert.equal(jetstream.streamInfo("S").state.bytes, want.length * 20);
  });
}

const refusalCases: [
  name: string,
  config: Partial<StreamConfigInput>,
  errCode: number,
  description: string,
][] = [
  ["max_msgs", { max_msgs: 1 }, 10077, "maximum messages exceeded"],
  ["max_bytes", { max_bytes: 30 }, 10077, "maximum bytes exceeded"],
  [
    "discard_new_per_subject",
    { max_msgs_per_subject: 1, discard_new_per_subject: true },
    10077,
    "maximum messages per subject exceeded",
  ],
];

for (const [name, config, errCode, description] of refusalCases) {
  Deno.test(`append() with discard new is refused over ${name}`, () => {
    const { jetstream } = setUp({ discard: "new", ...config });
    put(jetstream, "s.a");
    refused(() => put(jetstream, "s.a"), errCode, description);
    assert.deepEqual(kept(jetstream), [1]);
  });
}

Deno.test("append() over max_msg_size is refused, headers included", () => {
  const { jetstream } = setUp({ max_msg_size: 30 });
  put(jetstream, "s.a", "x".repeat(30));
  refused(() => put(jetstream, "s.a", "x".repeat(31)), 10054);
  refused(() => put(jetstream, "s.a", "x".repeat(20), [["A", "b"]]), 10054);
});

Deno.test("max_age lets messages go by timer, and nobody reads one that is too old", () => {
  const { clock, engine, jetstream } = setUp({ max_age: 1_000 * MS, duplicate_window: 100 * MS });
  put(jetstream, "s.a");
  clock.advance(600);
  put(jetstream, "s.b");
  clock.advance(399);
  assert.deepEqual(kept(jetstream), [1, 2]);
  clock.advance(1);
  assert.deepEqual(kept(jetstream), [2]);
  clock.advance(600);
  const { state } = jetstream.streamInfo("S");
  assert.deepEqual([state.messages, state.first_seq, state.last_seq], [0, 3, 2]);
  assert.equal(clock.timers, 0, "no timer without a message");
  engine.close();
});

Deno.test("append() drops a repeat within the duplicate window, counted from the first", () => {
  const { clock, jetstream } = setUp({ duplicate_window: 1_000 * MS });
  const id: HeaderField[] = [["Nats-Msg-Id", "one"]];
  assert.deepEqual(put(jetstream, "s.a", "x", id), { stream: "S", seq: 1 });
  clock.advance(999);
  assert.deepEqual(put(jetstream, "s.b", "y", id), { stream: "S", seq: 1, duplicate: true });
  clock.advance(1);
  assert.deepEqual(put(jetstream, "s.a", "z", id), { stream: "S", seq: 2 });
});

const conditionCases: [name: string, headers: HeaderField[], want: number | "ok"][] = [
  ["the right last sequence", [["Nats-Expected-Last-Sequence", "2"]], "ok"],
  ["a wrong last sequence", [["Nats-Expected-Last-Sequence", "1"]], 10071],
  ["the right last sequence on its subject", [["Nats-Expected-Last-Subject-Sequence", "1"]], "ok"],
  ["a wrong last sequence on its subject", [["Nats-Expected-Last-Subject-Sequence", "2"]], 10071],
  ["none where there is one", [["Nats-Expected-Last-Subject-Sequence", "0"]], 10071],
  ["the right last id", [["Nats-Expected-Last-Msg-Id", "two"]], "ok"],
  ["a wrong last id", [["Nats-Expected-Last-Msg-Id", "one"]], 10070],
  ["its own stream", [["Nats-Expected-Stream", "S"]], "ok"],
  ["another stream", [["Nats-Expected-Stream", "T"]], 10060],
  ["a roll-up where none is allowed", [["Nats-Rollup", "sub"]], 10111],
  ["a lifetime of its own", [["Nats-TTL", "1s"]], 10166],
  [
    "another subject's last sequence",
    [
      ["Nats-Expected-Last-Subject-Sequence", "2"],
      ["Nats-Expected-Last-Subject-Sequence-Subject", "s.b"],
    ],
    "ok",
  ],
];

for (const [name, headers, want] of conditionCases) {
  Deno.test(`append() expecting ${name} is ${want === "ok" ? "taken" : `refused (${want})`}`, () => {
    const { jetstream } = setUp();
    put(jetstream, "s.a", "x", [["Nats-Msg-Id", "one"]]);
    put(jetstream, "s.b", "x", [["Nats-Msg-Id", "two"]]);
    if (want === "ok") assert.equal(put(jetstream, "s.a", "y", headers).seq, 3);
    else {
      refused(() => put(jetstream, "s.a", "y", headers), want);
      assert.equal(jetstream.streamInfo("S").state.last_seq, 2);
    }
  });
}

Deno.test("append() expecting nothing on a subject is taken again after its value expired", () => {
  const { clock, jetstream } = setUp({ max_age: 1_000 * MS });
  const none: HeaderField[] = [["Nats-Expected-Last-Subject-Sequence", "0"]];
  put(jetstream, "s.a", "x", none);
  clock.advance(500);
  refused(() => put(jetstream, "s.a", "x", none), 10071, "wrong last sequence: 1");
  clock.advance(500);
  assert.equal(put(jetstream, "s.a", "x", none).seq, 2);
});

Deno.test("append() of an allowed roll-up replaces what was on its subject, or all", () => {
  const { jetstream } = setUp({ allow_rollup_hdrs: true });
  for (const subject of ["s.a", "s.b", "s.a"]) put(jetstream, subject);
  put(jetstream, "s.a", "x", [["Nats-Rollup", "sub"]]);
  assert.deepEqual(kept(jetstream), [2, 4]);
  put(jetstream, "s.c", "x", [["Nats-Rollup", "all"]]);
  assert.deepEqual(kept(jetstream), [5]);
});

Deno.test("getMessage() finds by sequence, last by subject and next by subject", () => {
  const { jetstream } = setUp();
  for (const [subject, body] of [["s.a", "1"], ["s.b", "2"], ["s.a", "3"]] as const) {
    put(jetstream, subject, body);
  }
  const read = (query: Parameters<JetStream["getMessage"]>[1]) =>
    text(jetstream.getMessage("S", query).data);
  assert.equal(read({ seq: 2 }), "2");
  assert.equal(read({ last_by_subj: "s.a" }), "3");
  assert.equal(read({ last_by_subj: "s.*" }), "3");
  assert.equal(read({ next_by_subj: "s.a", seq: 2 }), "3");
  assert.equal(read({ next_by_subj: "s.>" }), "1");
  refused(() => read({ seq: 4 }), 10037, "no message found");
  refused(() => read({ last_by_subj: "s.c" }), 10037);
  refused(() => read({ next_by_subj: "s.a", seq: 4 }), 10037);
  refused(() => jetstream.getMessage("T", { seq: 1 }), 10059, "stream not found");
});

Deno.test("deleteMessage() and purge() remove what they name", () => {
  const { jetstream } = setUp();
  for (const subject of ["s.a", "s.b", "s.a", "s.b", "s.a"]) put(jetstream, subject);
  jetstream.deleteMessage("S", 2);
  refused(() => jetstream.deleteMessage("S", 2), 10043, "sequence 2 not found");
  assert.equal(jetstream.streamInfo("S").state.num_deleted, 1);
  assert.equal(jetstream.purge("S", { filter: "s.a", keep: 1 }), 2);
  assert.deepEqual(kept(jetstream), [4, 5]);
  assert.equal(jetstream.purge("S", { seq: 5 }), 1);
  assert.equal(jetstream.purge("S"), 1);
  const { state } = jetstream.streamInfo("S");
  assert.deepEqual([state.messages, state.first_seq, state.last_seq], [0, 6, 5]);
  assert.equal(put(jetstream, "s.a").seq, 6, "sequences go on");
});

Deno.test("deleteMessage() and purge() are refused where the stream denies them", () => {
  const { jetstream } = setUp({ deny_delete: true, deny_purge: true });
  put(jetstream, "s.a");
  refused(() => jetstream.deleteMessage("S", 1), 10057, "message delete not permitted");
  refused(() => jetstream.purge("S"), 10110, "stream purge not permitted");
});

const badStreams: [name: string, config: StreamConfigInput, errCode: number][] = [
  ["a subject that another stream has", { name: "T", subjects: ["s.x"] }, 10065],
  ["a wildcard over another stream", { name: "T", subjects: ["s.*"] }, 10065],
  ["a wildcard that reaches the broker's own subjects", { name: "T", subjects: ["*.x"] }, 10052],
  ["a name with a dot", { name: "T.x", subjects: ["t"] }, 10052],
  ["the broker's own subjects", { name: "T", subjects: ["$JS.API.>"] }, 10052],
  ["everything", { name: "T", subjects: [">"] }, 10052],
  ["a window longer than its age", {
    name: "T",
    subjects: ["t"],
    max_age: 1_000 * MS,
    duplicate_window: 2_000 * MS,
  }, 10052],
  ["roll-ups without purge", {
    name: "T",
    subjects: ["t"],
    allow_rollup_hdrs: true,
    deny_purge: true,
  }, 10052],
  ["other settings under a name in use", { name: "S", subjects: ["s.>"], max_msgs: 5 }, 10058],
];

for (const [name, config, errCode] of badStreams) {
  Deno.test(`createStream() refuses ${name}`, () => {
    const { jetstream } = setUp();
    refused(() => jetstream.createStream(config), errCode);
    assert.deepEqual(jetstream.streamNames(), ["S"]);
  });
}

Deno.test("createStream() with the same settings again changes nothing", () => {
  const { jetstream } = setUp();
  put(jetstream, "s.a");
  jetstream.createStream({ storage: "memory", subjects: ["s.>"], name: "S" });
  assert.equal(jetstream.streamInfo("S").state.messages, 1);
});

Deno.test("updateStream() applies new limits and subjects at once", () => {
  const { jetstream, engine } = setUp();
  for (let each = 0; each < 5; each++) put(jetstream, "s.a");
  jetstream.updateStream({ name: "S", subjects: ["t"], storage: "memory", max_msgs: 2 });
  assert.deepEqual(kept(jetstream), [4, 5]);
  const session = engine.connect({ name: "x", deliver() {} });
  session.publish("s.a", bytes("lost"));
  session.publish("t", bytes("kept"));
  assert.deepEqual(kept(jetstream), [5, 6]);
  assert.deepEqual(jetstream.streamNames("t"), ["S"]);
  assert.deepEqual(jetstream.streamNames("s.a"), []);
});

Deno.test("updateStream() cannot lift a denial or change the storage", () => {
  const { jetstream } = setUp({ deny_delete: true, deny_purge: true });
  const base: StreamConfigInput = { name: "S", subjects: ["s.>"], storage: "memory" };
  refused(() => jetstream.updateStream({ ...base, deny_purge: true }), 10052);
  refused(() => jetstream.updateStream({ ...base, deny_delete: true }), 10052);
  refused(
    () => jetstream.updateStream({ ...base, storage: "file", deny_delete: true, deny_purge: true }),
    10052,
  );
});

Deno.test("deleteStream() frees its name and its subjects, and cancels its timers", () => {
  const { clock, jetstream } = setUp({ max_age: 5_000 * MS });
  jetstream.createConsumer("S", { name: "c", ack_policy: "explicit" });
  put(jetstream, "s.a");
  assert.ok(clock.timers > 0);
  jetstream.deleteStream("S");
  assert.equal(clock.timers, 0);
  refused(() => jetstream.streamInfo("S"), 10059);
  jetstream.createStream({ name: "T", subjects: ["s.>"] });
});

Deno.test("streamInfo() counts messages by subject where asked", () => {
  const { jetstream } = setUp();
  for (const subject of ["s.b", "s.a", "s.b"]) put(jetstream, subject);
  const { state } = jetstream.streamInfo("S", { subjectsFilter: "s.*" });
  assert.deepEqual(state.subjects, { "s.a": 1, "s.b": 2 });
  assert.equal(state.num_subjects, 2);
});

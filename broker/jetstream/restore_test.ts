import assert from "node:assert/strict";
import fc from "fast-check";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { type BrokerMessage, createEngine, type Engine } from "../engine.ts";
import { JetStreamApiError, type LogRecord } from "./types.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const MS = 1_000_000;
const SUBJECTS = ["s.a", "s.b", "s.c"];

type Step =
  | { do: "append"; subject: number; id: number | null; rollUp: boolean }
  | { do: "advance"; ms: number }
  | { do: "delete"; sequence: number }
  | { do: "purge"; subject: number | null; keep: number }
  | { do: "limit"; messages: number; perSubject: number; ageMs: number }
  | { do: "consumer"; name: number; policy: "all" | "new" | "last_per_subject" }
  | { do: "pull"; name: number; batch: number }
  | { do: "answer"; at: number; payload: string }
  | { do: "drop"; name: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      subject: fc.nat(2),
      id: fc.option(fc.nat(5)),
      rollUp: fc.integer({ min: 0, max: 9 }).map((each) => each === 0),
    }),
  },
  fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 900 }) }),
  fc.record({ do: fc.constant("delete" as const), sequence: fc.integer({ min: 1, max: 20 }) }),
  fc.record({
    do: fc.constant("purge" as const),
    subject: fc.option(fc.nat(2)),
    keep: fc.nat(2),
  }),
  fc.record({
    do: fc.constant("limit" as const),
    messages: fc.constantFrom(-1, 3, 6),
    perSubject: fc.constantFrom(-1, 1, 2),
    ageMs: fc.constantFrom(0, 500, 2_000),
  }),
  fc.record({
    do: fc.constant("consumer" as const),
    name: fc.nat(1),
    policy: fc.constantFrom("all" as const, "new" as const, "last_per_subject" as const),
  }),
  fc.record({
    do: fc.constant("pull" as const),
    name: fc.nat(1),
    batch: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({
    do: fc.constant("answer" as const),
    at: fc.nat(6),
    payload: fc.constantFrom("+ACK", "-NAK", "+TERM", "+WPI"),
  }),
  fc.record({ do: fc.constant("drop" as const), name: fc.nat(1) }),
);

/** An engine with one stream on disk, whose log is kept, and a client that pulls. */
function setUp() {
  const clock = new ManualClock();
  const log: LogRecord[] = [];
  const engine = createEngine({
    clock,
    random: seededRandom(3),
    persistence: {
      // A copy: what is on disk does not change with what is in memory.
      write: (record) => void log.push(structuredClone(record)),
      whenDurable: (callback) => callback(),
    },
  });
  const got: BrokerMessage[] = [];
  const client = engine.connect({ name: "c", deliver: (message) => void got.push(message) });
  client.subscribe("1", "in.>");
  engine.jetstream.createStream({ name: "S", subjects: ["s.>"], allow_rollup_hdrs: true });
  engine.jetstream.createStream({ name: "M", subjects: ["m.>"], storage: "memory" });
  return { clock, log, engine, client, got };
}

type World = ReturnType<typeof setUp>;

function perform({ clock, engine, client, got }: World, step: Step): void {
  const { jetstream } = engine;
  switch (step.do) {
    case "append": {
      const headers: [string, string][] = step.id === null ? [] : [["Nats-Msg-Id", `${step.id}`]];
      if (step.rollUp) headers.push(["Nats-Rollup", "sub"]);
      const subject = SUBJECTS[step.subject] ?? "s.a";
      jetstream.append("S", { subject, data: bytes("x"), headers });
      jetstream.append("M", { subject: "m.x", data: bytes("x") });
      return;
    }
    case "advance":
      return clock.advance(step.ms);
    case "delete":
      return jetstream.deleteMessage("S", step.sequence);
    case "purge": {
      const filter = step.subject === null ? {} : { filter: SUBJECTS[step.subject] ?? "s.a" };
      jetstream.purge("S", { ...filter, keep: step.keep });
      return;
    }
    case "limit":
      jetstream.updateStream({
        name: "S",
        subjects: ["s.>"],
        allow_rollup_hdrs: true,
        max_msgs: step.messages,
        max_msgs_per_subject: step.perSubject,
        max_age: step.ageMs * MS,
      });
      return;
    case "consumer":
      jetstream.createConsumer("S", {
        durable_name: `c${step.name}`,
        deliver_policy: step.policy,
        filter_subject: "s.>",
        ack_policy: "explicit",
        ack_wait: 400 * MS,
        max_ack_pending: 3,
        max_deliver: 3,
      });
      return;
    case "pull":
      return jetstream.pull("S", `c${step.name}`, { batch: step.batch, no_wait: true }, "in.1");
    case "answer": {
      const reply = got.filter((message) => message.reply !== undefined).at(-1 - step.at)?.reply;
      if (reply !== undefined) client.publish(reply, bytes(step.payload));
      return;
    }
    case "drop":
      return jetstream.deleteConsumer("S", `c${step.name}`);
  }
}

function performAll(world: World, steps: readonly Step[]): void {
  for (const each of steps) {
    try {
      perform(world, each);
    } catch (thrown) {
      if (!(thrown instanceof JetStreamApiError)) throw thrown; // refusals are part of the game
    }
  }
}

/** All that a client can see of the stream on disk. */
function visible(engine: Engine) {
  const { jetstream } = engine;
  const { config, state } = jetstream.streamInfo("S");
  const messages = Array.from({ length: state.last_seq }, (_, at) => {
    try {
      return jetstream.getMessage("S", { seq: at + 1 });
    } catch {
      return null;
    }
  });
  const consumers = jetstream.consumerNames("S").map((name) => {
    const { ts: _, num_waiting: __, ...report } = jetstream.consumerInfo("S", name);
    return report;
  });
  // Of an empty stream the time of its last message is not kept.
  const { last_ts: _, ...rest } = state;
  return { config, state: rest, messages, consumers };
}

function rebuilt(world: World, records: Iterable<LogRecord>): Engine {
  const engine = createEngine({ clock: world.clock, random: seededRandom(4) });
  for (const record of records) engine.restore(structuredClone(record));
  return engine;
}

Deno.test("restore() of the log, and of a snapshot, shows what was there", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = setUp();
      performAll(world, steps);
      const want = visible(world.engine);
      const fromLog = rebuilt(world, world.log);
      const fromSnapshot = rebuilt(world, world.engine.snapshot());
      assert.deepEqual(visible(fromLog), want);
      assert.deepEqual(visible(fromSnapshot), want);
      assert.deepEqual(fromLog.jetstream.streamNames(), ["S"], "memory streams are not kept");
      for (const engine of [world.engine, fromLog, fromSnapshot]) engine.close();
      assert.equal(world.clock.timers, 0);
    }),
    { numRuns: 300 },
  );
});

Deno.test("restore() keeps a duplicate window, also of messages that are gone", () => {
  const world = setUp();
  const headers: [string, string][] = [["Nats-Msg-Id", "once"]];
  world.engine.jetstream.append("S", { subject: "s.a", data: bytes("x"), headers });
  world.engine.jetstream.purge("S");
  for (const records of [world.log, [...world.engine.snapshot()]]) {
    const engine = rebuilt(world, records);
    const ack = engine.jetstream.append("S", { subject: "s.a", data: bytes("x"), headers });
    assert.deepEqual(ack, { stream: "S", seq: 1, duplicate: true });
    engine.close();
  }
});

Deno.test("restore() resumes a durable: acknowledged messages stay away, the others come again", () => {
  const world = setUp();
  performAll(world, [
    { do: "consumer", name: 0, policy: "all" },
    ...[0, 1, 2].map((subject): Step => ({ do: "append", subject, id: null, rollUp: false })),
    { do: "pull", name: 0, batch: 2 },
    { do: "answer", at: 1, payload: "+ACK" },
  ]);
  const engine = rebuilt(world, world.log);
  const got: BrokerMessage[] = [];
  const client = engine.connect({ name: "c", deliver: (message) => void got.push(message) });
  client.subscribe("1", "in.>");
  engine.jetstream.pull("S", "c0", { batch: 10 }, "in.1");
  assert.deepEqual(got.map((message) => message.subject), ["s.c"]);
  world.clock.advance(400);
  assert.deepEqual(got.map((message) => message.subject), ["s.c", "s.b", "s.c"]);
  assert.equal(got[1]?.reply?.split(".")[4], "2", "the delivery before the restart counts");
  engine.close();
  world.engine.close();
});

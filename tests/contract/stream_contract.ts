/** What every stream and its consumers must do, whatever stores them. */
import assert from "node:assert/strict";
import { isZesterError } from "../../core/errors.ts";
import type { AppendResult, ConsumerSpec, Delivery, Stream } from "../../core/ports.ts";
import {
  bytes,
  type Client,
  eventually,
  fresh,
  pause,
  streamSpec,
  take,
  type TargetMaker,
  text,
} from "./target.ts";

type Step = [name: string, run: (a: Client, b: Client) => Promise<void>];

/** Runs the suite on one target, with two clients on it. */
export function streamContract({ name, ignore = false, make }: TargetMaker): void {
  Deno.test({
    name: `stream contract on ${name}`,
    ignore,
    async fn(t) {
      const target = await make();
      try {
        const a = await target.connect("alice");
        const b = await target.connect("bob");
        for (const [step, run] of STEPS) await t.step(step, () => run(a, b));
        await a.close();
        await b.close();
      } finally {
        await target.close();
      }
    },
  });
}

interface Made {
  name: string;
  stream: Stream;
  /** Appends one message per text on `<name>.<token>`. */
  append(texts: readonly string[], token?: string): Promise<void>;
}

async function newStream(
  client: Client,
  change: Parameters<typeof streamSpec>[0] = {},
): Promise<Made> {
  const spec = streamSpec(change);
  await client.admin.ensureStream(spec);
  const stream = client.store.stream(spec.name);
  return {
    name: spec.name,
    stream,
    async append(texts, token = "x") {
      for (const each of texts) {
        sequenceOf(await stream.append(`${spec.name}.${token}`, bytes(each)));
      }
    },
  };
}

function sequenceOf(result: AppendResult): bigint {
  assert.equal(result.outcome, "ok", Deno.inspect(result));
  return (result as { sequence: bigint }).sequence;
}

function reader(change: Partial<ConsumerSpec> = {}): ConsumerSpec {
  return { deliver: "all", ackWaitMs: 30_000, maxAckPending: 100, ...change };
}

const texts = (deliveries: readonly Delivery[]) => deliveries.map((each) => text(each.data));
const numbers = (count: number) => Array.from({ length: count }, (_, at) => String(at));

const STEPS: Step[] = [
  ["append() numbers messages; get() and lastOn() read them back", async (a, b) => {
    const { name, stream, append } = await newStream(a);
    const headers = [["Zester-Sig", "s"], ["Two", "1"], ["Two", "2"]] as const;
    const first = await stream.append(`${name}.a`, bytes("one"), { headers });
    assert.deepEqual(first, { outcome: "ok", sequence: 1n, duplicate: false });
    await append(["two"], "b");
    const other = b.store.stream(name);
    const stored = (await other.get(1n))!;
    assert.equal(stored.subject, `${name}.a`);
    assert.equal(text(stored.data), "one");
    assert.deepEqual(stored.headers, headers);
    assert.equal(stored.sequence, 1n);
    assert.ok(Math.abs(stored.storedMs - Date.now()) < 60_000);
    assert.equal(text((await other.lastOn(`${name}.b`))!.data), "two");
    assert.equal(await other.get(3n), null);
    assert.equal(await other.lastOn(`${name}.c`), null);
  }],
  ["a plain publish into a stream is stored, and acknowledged when it has a reply", async (a) => {
    const { name, stream } = await newStream(a);
    const answer = await a.bus.request(`${name}.x`, bytes("core"), { timeoutMs: 5_000 });
    assert.deepEqual(JSON.parse(text(answer.data)), { stream: name, seq: 1 });
    assert.equal(text((await stream.get(1n))!.data), "core");
  }],
  ["info() counts messages and knows first and last", async (a) => {
    const { stream, append } = await newStream(a, { messagesMax: 3 });
    const { messages, firstSequence, lastSequence } = await stream.info();
    assert.deepEqual({ messages, lastSequence }, { messages: 0, lastSequence: 0n });
    assert.ok(firstSequence <= 1n);
    await append(numbers(5));
    const { bytes: size, ...rest } = await stream.info();
    assert.deepEqual(rest, { messages: 3, firstSequence: 3n, lastSequence: 5n });
    assert.ok(size > 0);
  }],
  ["a full stream drops its oldest, by messages and by bytes", async (a) => {
    const byCount = await newStream(a, { messagesMax: 3 });
    await byCount.append(numbers(10));
    assert.equal(await byCount.stream.get(7n), null);
    assert.equal(text((await byCount.stream.get(8n))!.data), "7");
    const byBytes = await newStream(a, { bytesMax: 10_000 });
    await byBytes.append(Array.from({ length: 20 }, () => "x".repeat(1_000)));
    const info = await byBytes.stream.info();
    assert.ok(info.bytes <= 10_000 && info.messages >= 8, Deno.inspect(info));
    assert.equal(info.lastSequence, 20n);
  }],
  ["messages go when they are as old as the stream allows", async (a) => {
    const { stream, append } = await newStream(a, { maxAgeMs: 1_000, duplicateWindowMs: 1_000 });
    await append(["old"]);
    await eventually("the expiry", () => stream.info(), (each) => each.messages === 0);
    await append(["new"]);
    assert.equal((await stream.info()).lastSequence, 2n);
  }],
  ["append() with a message id takes it once within the window", async (a) => {
    const { name, stream } = await newStream(a, { duplicateWindowMs: 1_000 });
    const send = () => stream.append(`${name}.x`, bytes("x"), { messageId: "id-1" });
    assert.deepEqual(await send(), { outcome: "ok", sequence: 1n, duplicate: false });
    assert.deepEqual(await send(), { outcome: "ok", sequence: 1n, duplicate: true });
    const other = await stream.append(`${name}.y`, bytes("y"), { messageId: "id-2" });
    assert.deepEqual(other, { outcome: "ok", sequence: 2n, duplicate: false });
    const isNew = (each: AppendResult) => each.outcome === "ok" && !each.duplicate;
    const later = await eventually("the end of the window", send, isNew);
    assert.equal(sequenceOf(later), 3n);
  }],
  ["append() by expected sequence writes only if that is the last", async (a) => {
    const { name, stream, append } = await newStream(a);
    const at = (expectedLastSequence: bigint) =>
      stream.append(`${name}.x`, bytes("x"), { expectedLastSequence });
    assert.equal(sequenceOf(await at(0n)), 1n);
    assert.deepEqual(await at(5n), { outcome: "conflict" });
    await append(["other"], "y");
    assert.deepEqual(await at(1n), { outcome: "conflict" });
    assert.equal(sequenceOf(await at(2n)), 3n);
  }],
  ["append() by expected sequence of its subject looks at that subject only", async (a) => {
    const { name, stream, append } = await newStream(a);
    const on = (token: string, expectedLastSubjectSequence: bigint) =>
      stream.append(`${name}.${token}`, bytes("x"), { expectedLastSubjectSequence });
    assert.equal(sequenceOf(await on("a", 0n)), 1n);
    await append(["other"], "b");
    assert.deepEqual(await on("a", 0n), { outcome: "conflict" });
    assert.deepEqual(await on("a", 2n), { outcome: "conflict" });
    assert.equal(sequenceOf(await on("a", 1n)), 3n);
    assert.equal(sequenceOf(await on("c", 0n)), 4n);
  }],
  ["append() by eight writers at one expected sequence has one winner", async (a, b) => {
    const { name, stream, append } = await newStream(a);
    await append(["first"]);
    const other = b.store.stream(name);
    const results = await Promise.all(
      Array.from(
        { length: 8 },
        (_, at) =>
          (at % 2 ? stream : other).append(`${name}.x`, bytes(`w${at}`), {
            expectedLastSequence: 1n,
          }),
      ),
    );
    assert.equal(results.filter((each) => each.outcome === "ok").length, 1, Deno.inspect(results));
    assert.equal(results.filter((each) => each.outcome === "conflict").length, 7);
  }],
  ["append() refuses a subject that is not the stream's", async (a) => {
    const { stream } = await newStream(a);
    await assert.rejects(
      stream.append(fresh("elsewhere"), bytes("x")),
      (error) => isZesterError(error, "no_responders") || isZesterError(error, "bad_subject"),
    );
  }],
  ["a consumer delivers in order, filtered, with sequence and time", async (a) => {
    const { name, stream, append } = await newStream(a);
    await append(["1", "2"], "in.a");
    await append(["no"], "out");
    await append(["3"], "in.b");
    const consumer = await stream.consumer(reader({ filter: `${name}.in.*` }));
    const deliveries = await take(consumer, 3);
    assert.deepEqual(texts(deliveries), ["1", "2", "3"]);
    assert.deepEqual(deliveries.map((each) => each.sequence), [1n, 2n, 4n]);
    assert.deepEqual(deliveries.map((each) => each.deliveries), [1, 1, 1]);
    assert.equal(deliveries[2]!.subject, `${name}.in.b`);
    assert.equal(deliveries[0]!.storedMs, (await stream.get(1n))!.storedMs);
    for (const each of deliveries) await each.ack();
    assert.deepEqual(await consumer.fetch({ max: 5, waitMs: 0 }), []);
    await consumer.delete();
  }],
  ["a consumer starts where its deliver policy says", async (a) => {
    const { name, stream, append } = await newStream(a);
    await append(["a1", "a2"], "a");
    await append(["b1"], "b");
    await a.settle?.(name);
    const fromNew = await stream.consumer(reader({ deliver: "new" }));
    await append(["a3"], "a");
    assert.deepEqual(texts(await take(fromNew, 1)), ["a3"]);
    await a.settle?.(name);
    const last = await stream.consumer(reader({ deliver: "lastPerSubject", filter: `${name}.>` }));
    assert.deepEqual(texts(await take(last, 2)), ["b1", "a3"]);
    const middle = await stream.consumer(reader({ deliver: { fromSequence: 2n } }));
    assert.deepEqual(texts(await take(middle, 3)), ["a2", "b1", "a3"]);
  }],
  [
    "fetch() waits for the first message, up to its time, and says when there is none",
    async (a, b) => {
      const { name, stream } = await newStream(a);
      const consumer = await stream.consumer(reader());
      assert.deepEqual(await consumer.fetch({ max: 1, waitMs: 50 }), []);
      const waiting = consumer.fetch({ max: 1, waitMs: 5_000 });
      const started = performance.now();
      sequenceOf(await b.store.stream(name).append(`${name}.x`, bytes("late")));
      assert.deepEqual(texts(await waiting), ["late"]);
      assert.ok(performance.now() - started < 4_000, "it came when it was there");
    },
  ],
  ["a durable is shared: each message goes to one of its readers", async (a, b) => {
    const { name, stream, append } = await newStream(a);
    await append(numbers(40));
    const spec = reader({ durable: "shared" });
    const consumers = [
      await stream.consumer(spec),
      await b.store.stream(name).consumer(spec),
      await stream.consumer(spec),
    ];
    const seen: string[] = [];
    const read = async (consumer: typeof consumers[number]) => {
      for (let idle = 0; idle < 2;) {
        const deliveries = await consumer.fetch({ max: 4, waitMs: 100 });
        for (const each of deliveries) await each.ack();
        seen.push(...texts(deliveries));
        idle = deliveries.length === 0 ? idle + 1 : 0;
      }
    };
    await Promise.all(consumers.map(read));
    assert.deepEqual(seen.sort((x, y) => Number(x) - Number(y)), numbers(40));
    assert.deepEqual(await consumers[0]!.info(), { pending: 0, ackPending: 0 });
  }],
  ["a durable is bound again with the same settings and refused with others", async (a) => {
    const { stream, append } = await newStream(a);
    const spec = reader({ durable: "bound" });
    await append(["1", "2"]);
    const [first] = await take(await stream.consumer(spec), 1);
    await first!.ack();
    assert.deepEqual(texts(await take(await stream.consumer(spec), 1)), ["2"]);
    await assert.rejects(stream.consumer({ ...spec, maxAckPending: 7 }));
  }],
  ["ensureStream() makes the durables that it names, and keeps their place", async (a) => {
    const spec = streamSpec();
    const durable = {
      name: "made",
      filter: `${spec.name}.in.>`,
      deliver: "all",
      ackWaitMs: 30_000,
      maxAckPending: 10,
    } as const;
    await a.admin.ensureStream({ ...spec, durables: [durable] });
    const stream = a.store.stream(spec.name);
    await stream.append(`${spec.name}.in.x`, bytes("1"));
    const { name: _, ...settings } = durable;
    const consumer = await stream.consumer({ ...settings, durable: "made" });
    await (await take(consumer, 1))[0]!.ack();
    await a.admin.ensureStream({ ...spec, durables: [durable] });
    assert.deepEqual(await consumer.info(), { pending: 0, ackPending: 0 });
  }],
  ["info() of a consumer tells waiting from delivered", async (a) => {
    const { name, stream, append } = await newStream(a);
    await append(numbers(5));
    await a.settle?.(name);
    const consumer = await stream.consumer(reader());
    assert.deepEqual(await consumer.info(), { pending: 5, ackPending: 0 });
    const taken = await take(consumer, 2);
    assert.deepEqual(await consumer.info(), { pending: 3, ackPending: 2 });
    await taken[0]!.ack();
    assert.deepEqual(await consumer.info(), { pending: 3, ackPending: 1 });
  }],
  ["a message that is not acknowledged comes again after AckWait", async (a) => {
    const { stream, append } = await newStream(a);
    const consumer = await stream.consumer(reader({ ackWaitMs: 500 }));
    await append(["1"]);
    const started = performance.now();
    const [first] = await take(consumer, 1);
    const [again] = await take(consumer, 1);
    assert.ok(performance.now() - started >= 450, "not before AckWait");
    assert.equal(text(again!.data), "1");
    assert.equal(again!.sequence, first!.sequence);
    assert.equal(again!.deliveries, 2);
    await again!.ack();
    assert.deepEqual(await consumer.fetch({ max: 1, waitMs: 700 }), []);
  }],
  ["nak() brings the message back at once, and not before its delay", async (a) => {
    const { stream, append } = await newStream(a);
    const consumer = await stream.consumer(reader());
    await append(["1"]);
    (await take(consumer, 1))[0]!.nak();
    const [second] = await take(consumer, 1);
    assert.equal(second!.deliveries, 2);
    const started = performance.now();
    second!.nak(400);
    const [third] = await take(consumer, 1);
    const waited = performance.now() - started;
    assert.ok(waited >= 350 && waited < 5_000, `after ${waited} ms`);
    assert.equal(third!.deliveries, 3);
    await third!.ack();
  }],
  ["working() starts AckWait again", async (a) => {
    const { stream, append } = await newStream(a);
    const consumer = await stream.consumer(reader({ ackWaitMs: 600 }));
    await append(["1"]);
    const [delivery] = await take(consumer, 1);
    const started = performance.now();
    for (let at = 0; at < 4; at++) {
      await pause(250);
      delivery!.working();
    }
    const early = await consumer.fetch({ max: 1, waitMs: 100 });
    // On a machine that stood still for longer than AckWait, a redelivery proves nothing.
    if (performance.now() - started < 1_500) assert.deepEqual(early, []);
    if (early.length === 0) assert.equal((await take(consumer, 1))[0]!.deliveries, 2);
  }],
  ["term() ends delivery", async (a) => {
    const { stream, append } = await newStream(a);
    const consumer = await stream.consumer(reader({ ackWaitMs: 300 }));
    await append(["poison", "good"]);
    const [poison, good] = await take(consumer, 2);
    poison!.term("not for us");
    await good!.ack();
    await eventually("the end", () => consumer.info(), (each) => each.ackPending === 0);
    assert.deepEqual(await consumer.fetch({ max: 1, waitMs: 500 }), []);
  }],
  ["maxDeliver ends delivery", async (a) => {
    const { stream, append } = await newStream(a);
    const consumer = await stream.consumer(reader({ ackWaitMs: 300, maxDeliver: 2 }));
    await append(["1"]);
    assert.equal((await take(consumer, 1))[0]!.deliveries, 1);
    assert.equal((await take(consumer, 1))[0]!.deliveries, 2);
    assert.deepEqual(await consumer.fetch({ max: 1, waitMs: 700 }), []);
  }],
  ["maxAckPending holds back more until something is acknowledged", async (a) => {
    const { stream, append } = await newStream(a);
    const consumer = await stream.consumer(reader({ maxAckPending: 2 }));
    await append(numbers(4));
    const held = await take(consumer, 2);
    assert.deepEqual(await consumer.fetch({ max: 2, waitMs: 100 }), []);
    await held[0]!.ack();
    assert.deepEqual(texts(await take(consumer, 1)), ["2"]);
    assert.deepEqual(await consumer.fetch({ max: 1, waitMs: 100 }), []);
  }],
  ["delete() removes a consumer, and fetch() then says so", async (a) => {
    const { stream } = await newStream(a);
    const consumer = await stream.consumer(reader({ durable: "short" }));
    await consumer.delete();
    await assert.rejects(
      consumer.fetch({ max: 1, waitMs: 50 }),
      (error) => isZesterError(error, "not_found") || isZesterError(error, "no_responders"),
    );
    await assert.rejects(consumer.info(), (error) => isZesterError(error, "not_found"));
  }],
  ["an unnamed consumer goes away without a reader", async (a) => {
    const { stream } = await newStream(a);
    const consumer = await stream.consumer(reader({ inactiveMs: 300 }));
    const isGone = () =>
      consumer.info().then(() => false, (error) => isZesterError(error, "not_found"));
    // Asking for its info is no reading.
    await eventually("its end", isGone, (each) => each);
  }],
];

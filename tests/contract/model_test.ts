/**
 * The engine against nats-server: the same random list of commands must give the same answers on both, revisions and
 * sequences included. A difference is a bug of the engine, or of one of the two adapters.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { systemRandom as random } from "../../core/adapters/system_random.ts";
import { isZesterError } from "../../core/errors.ts";
import type { Bucket, Consumer, Delivery, Stream } from "../../core/ports.ts";
import { natsSingle } from "./nats_targets.ts";
import { bucketSpec, bytes, type Client, streamSpec, text } from "./target.ts";

const RUNS = 30;
const COMMANDS_MAX = 30;
const KEYS = ["a", "a.b", "a.c", "d"] as const;
const TOKENS = ["x", "y.z"] as const;

/** `age` picks a revision or sequence relative to the last one that was seen: 0 is right, others are stale or ahead. */
type Command =
  | { do: "create" | "put"; key: string; value: string }
  | { do: "update"; key: string; value: string; age: number }
  | { do: "delete"; key: string; age: number | null }
  | { do: "get" | "history"; key: string }
  | { do: "keys"; prefix: string | null }
  | { do: "append"; token: string; id: string | null; age: number | null; perSubject: boolean }
  | { do: "read"; sequence: number }
  | { do: "fetch"; max: number }
  | { do: "ack" | "nak" | "term"; which: number }
  | { do: "info" };

const key = fc.constantFrom(...KEYS);
const value = fc.constantFrom("", "1", "2");
const age = fc.constantFrom(0, 0, 0, 1, -1);
const which = fc.nat(5);

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ do: fc.constantFrom("create" as const, "put" as const), key, value }),
  fc.record({ do: fc.constant("update" as const), key, value, age }),
  fc.record({ do: fc.constant("delete" as const), key, age: fc.option(age) }),
  fc.record({ do: fc.constantFrom("get" as const, "history" as const), key }),
  fc.record({ do: fc.constant("keys" as const), prefix: fc.option(fc.constantFrom("a", "d")) }),
  fc.record({
    do: fc.constant("append" as const),
    token: fc.constantFrom(...TOKENS),
    id: fc.option(fc.constantFrom("i", "j")),
    age: fc.option(age),
    perSubject: fc.boolean(),
  }),
  fc.record({ do: fc.constant("read" as const), sequence: fc.nat(6) }),
  fc.record({ do: fc.constant("fetch" as const), max: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constantFrom("ack" as const, "nak" as const, "term" as const), which }),
  fc.constant({ do: "info" as const }),
);

/** One side of the comparison: fresh stores, and what a client remembers between commands. */
class Side {
  readonly #bucket: Bucket;
  readonly #stream: Stream;
  readonly #consumer: Consumer;
  readonly #name: string;
  readonly #revisions = new Map<string, bigint>();
  readonly #sequences = new Map<string, bigint>();
  #held: Delivery[] = [];

  private constructor(bucket: Bucket, stream: Stream, consumer: Consumer, name: string) {
    this.#bucket = bucket;
    this.#stream = stream;
    this.#consumer = consumer;
    this.#name = name;
  }

  static async make(client: Client, names: { bucket: string; stream: string }): Promise<Side> {
    await client.admin.ensureBucket(bucketSpec({ name: names.bucket, history: 3 }));
    await client.admin.ensureStream(streamSpec({ name: names.stream, messagesMax: 8 }));
    const stream = client.store.stream(names.stream);
    const consumer = await stream.consumer({
      durable: "model",
      deliver: "all",
      ackWaitMs: 60_000,
      maxAckPending: 3,
    });
    return new Side(client.store.bucket(names.bucket), stream, consumer, names.stream);
  }

  /** Does the command and says what came of it, without what may differ: times, and the names of the stores. */
  async answer(command: Command): Promise<unknown> {
    try {
      return await this.#do(command);
    } catch (error) {
      if (isZesterError(error)) return { error: error.code };
      throw error;
    }
  }

  async #do(command: Command): Promise<unknown> {
    switch (command.do) {
      case "create":
      case "put":
        return this.#note(
          command.key,
          await this.#bucket[command.do](command.key, bytes(command.value)),
        );
      case "update": {
        const revision = this.#revision(command.key, command.age);
        const result = await this.#bucket.update(command.key, bytes(command.value), revision);
        return this.#note(command.key, result);
      }
      case "delete": {
        const options = command.age === null
          ? {}
          : { revision: this.#revision(command.key, command.age) };
        return this.#note(command.key, await this.#bucket.delete(command.key, options));
      }
      case "get": {
        const entry = await this.#bucket.get(command.key);
        return entry && [entry.key, entry.revision, text(entry.value)];
      }
      case "history":
        return (await this.#bucket.history(command.key)).map((each) => [
          each.revision,
          text(each.value),
        ]);
      case "keys":
        return await this.#bucket.keys(command.prefix ?? undefined);
      case "append":
        return await this.#append(command);
      case "read": {
        const stored = await this.#stream.get(BigInt(command.sequence));
        return stored && [this.#token(stored.subject), stored.headers, text(stored.data)];
      }
      case "fetch":
        return await this.#fetch(command.max);
      case "ack":
      case "nak":
      case "term":
        return await this.#settle(command.do, command.which);
      case "info": {
        const { bytes: _, ...info } = await this.#stream.info();
        return { ...info, ...await this.#consumer.info() };
      }
    }
  }

  #revision(key: string, age: number): bigint {
    const revision = (this.#revisions.get(key) ?? 1n) + BigInt(age);
    return revision < 0n ? 0n : revision;
  }

  #note(key: string, result: { outcome: string; revision?: bigint }): unknown {
    if (result.revision !== undefined) this.#revisions.set(key, result.revision);
    return result;
  }

  async #append(command: Command & { do: "append" }): Promise<unknown> {
    const last = this.#sequences.get(command.perSubject ? command.token : "") ?? 0n;
    const expected = command.age === null ? undefined : last + BigInt(command.age);
    const isAsked = expected !== undefined && expected >= 0n;
    const result = await this.#stream.append(`${this.#name}.${command.token}`, bytes("m"), {
      ...(command.id === null ? {} : { messageId: command.id }),
      ...(isAsked && command.perSubject ? { expectedLastSubjectSequence: expected } : {}),
      ...(isAsked && !command.perSubject ? { expectedLastSequence: expected } : {}),
    });
    if (result.outcome === "ok" && !result.duplicate) {
      this.#sequences.set(command.token, result.sequence);
      this.#sequences.set("", result.sequence);
    }
    return result;
  }

  async #fetch(max: number): Promise<unknown> {
    const deliveries = await this.#consumer.fetch({ max, waitMs: 5 });
    this.#held.push(...deliveries);
    return deliveries.map((each) => [each.sequence, each.deliveries, this.#token(each.subject)]);
  }

  async #settle(how: "ack" | "nak" | "term", which: number): Promise<unknown> {
    const delivery = this.#held[which % Math.max(1, this.#held.length)];
    if (delivery === undefined) return "nothing held";
    this.#held = this.#held.filter((each) => each !== delivery);
    await delivery[how]();
    return [how, delivery.sequence];
  }

  #token(subject: string): string {
    return subject.slice(this.#name.length + 1);
  }
}

async function compare(engine: Client, nats: Client, commands: readonly Command[]): Promise<void> {
  const names = { bucket: bucketSpec().name, stream: streamSpec().name };
  const [left, right] = [await Side.make(engine, names), await Side.make(nats, names)];
  for (const [at, each] of commands.entries()) {
    const [here, there] = [await left.answer(each), await right.answer(each)];
    assert.deepEqual(here, there, `command ${at}, ${Deno.inspect(each)}: engine, then nats-server`);
  }
}

Deno.test({
  name: "enginePorts() answers any list of commands as nats-server does",
  ignore: natsSingle.ignore === true,
  async fn() {
    const engine = createEngine({ clock, random });
    const ports = enginePorts(engine, { role: "master", identity: "model", clock });
    const target = await natsSingle.make();
    const nats = await target.connect("model");
    const here: Client = { ...ports, close: () => Promise.resolve(ports.close()) };
    try {
      // A failure prints the seed and the shortest list that still fails.
      await fc.assert(
        fc.asyncProperty(
          fc.array(command, { minLength: 5, maxLength: COMMANDS_MAX, size: "max" }),
          (commands) => compare(here, nats, commands),
        ),
        { numRuns: Number(Deno.env.get("MODEL_RUNS") ?? RUNS) },
      );
    } finally {
      await nats.close();
      await target.close();
      await here.close();
      engine.close();
    }
  },
});

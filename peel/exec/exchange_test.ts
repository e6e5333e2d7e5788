import assert from "node:assert/strict";
import { HOST_CALLS_AT_ONCE_MAX, WORKER_MESSAGES_PER_WINDOW_MAX } from "../../core/limits.ts";
import { ManualClock, settle } from "../../tests/fakes/manual_clock.ts";
import { type Exchange, type HostDoor, openExchange } from "./exchange.ts";
import type { Reply, ToWorker, Work } from "./protocol.ts";

/** A line to nobody, and what was said on it. */
function lab() {
  const clock = new ManualClock();
  const said: ToWorker[] = [];
  let isEnded = false;
  const exchange = openExchange({
    send: (message) => said.push(message),
    end: () => isEnded = true,
  }, clock);
  return { clock, said, exchange, isEnded: () => isEnded };
}

function perform(
  { sandbox }: Exchange,
  { work = { do: "run" }, door = () => Promise.resolve("done") }: {
    work?: Work;
    door?: HostDoor;
  } = {},
): Promise<Reply> {
  return sandbox.perform(
    { module: { from: "shipped", name: "t.t" }, params: {}, facts: {}, work },
    { timeoutMs: 1_000, signal: new AbortController().signal, door },
  );
}

function errorOf(reply: Reply): string {
  assert.ok(!reply.ok);
  return reply.error.message;
}

const call = { kind: "call", call: 1, task: 1, name: "stat", args: ["/x"] };

/** A list that claims to be long without being so. */
function sparse(): unknown[] {
  const list: unknown[] = [];
  list.length = 2 ** 32 - 1;
  return list;
}

function deep(levels: number): unknown {
  return levels === 0 ? 1 : [deep(levels - 1)];
}

/** Every level holds the one below it ten times: little memory, ten billion parts. */
function laughs(): unknown {
  let value: unknown = "ha";
  for (let level = 0; level < 10; level++) value = Array(10).fill(value);
  return value;
}

const endings: [name: string, message: unknown, wanted: RegExp][] = [
  ["sends a number", 5, /no message/],
  ["sends null", null, /no message/],
  ["sends an unknown kind", { kind: "task" }, /no message/],
  ["calls for a task that never was", { ...call, task: 99 }, /does not have/],
  ["calls for task 0", { ...call, task: 0 }, /does not have/],
  ["calls for a task named by text", { ...call, task: "1" }, /does not have/],
  ["calls for a task named by a list", { ...call, task: [1] }, /does not have/],
  ["calls with a Map", { ...call, args: [new Map()] }, /no plain data/],
  ["calls with a date", { ...call, args: [new Date(0)] }, /no plain data/],
  ["calls with what has no end", { ...call, args: [deep(1_000)] }, /nested too deeply/],
  ["calls with a list that claims to be long", { ...call, args: sparse() }, /too many parts/],
  ["calls with a laugh of ten billion", { ...call, args: [laughs()] }, /too many parts/],
  ["calls with 100 MB", { ...call, args: [new Uint8Array(1e8)] }, /too large/],
  ["says that it is broken", { kind: "broken", message: "late" }, /late/],
  ["says so without a word", { kind: "broken" }, /undefined/],
];
for (const [name, message, wanted] of endings) {
  Deno.test(`openExchange() ends who ${name}`, async () => {
    const { exchange, isEnded } = lab();
    const reply = perform(exchange);
    exchange.take(message);
    assert.match(errorOf(await reply), wanted);
    assert.ok(isEnded() && exchange.sandbox.isClosed);
  });
}

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

const replies: [name: string, work: Work, reply: unknown, wanted: RegExp][] = [
  ["none", { do: "run" }, undefined, /gave no reply/],
  ["no outcome", { do: "run" }, { value: 1 }, /gave no reply/],
  ["an error that is a text", { do: "run" }, { ok: false, error: "x" }, /did not say why/],
  ["an error without text", { do: "run" }, { ok: false, error: { message: 5 } }, /not say why/],
  ["a value that holds itself", { do: "run" }, { ok: true, value: cyclic }, /nested too deeply/],
  ["a value of 100 MB", { do: "run" }, { ok: true, value: "x".repeat(1e8) }, /too large/],
  ["a Map", { do: "run" }, { ok: true, value: new Map() }, /no plain data/],
  ["an error object", { do: "run" }, { ok: true, value: new Error("x") }, /no plain data/],
  ["a class of its own", { do: "run" }, { ok: true, value: new (class A {})() }, /no plain data/],
  ["bytes from a function", { do: "run" }, { ok: true, value: new Uint8Array(1) }, /no plain/],
  ["a drift without a diff", { do: "check" }, { ok: true, value: {} }, /neither null nor a diff/],
  ["a diff that is a list", { do: "check" }, { ok: true, value: { diff: ["x"] } }, /a diff/],
  [
    "details that are numbers",
    { do: "apply", context: { isForced: false } },
    { ok: true, value: { diff: "x", details: { a: 1 } } },
    /details that are not texts/,
  ],
];
for (const [name, work, reply, wanted] of replies) {
  Deno.test(`openExchange() does not believe ${name}`, async () => {
    const { exchange } = lab();
    const answered = perform(exchange, { work });
    exchange.take({ kind: "reply", task: 1, reply });
    assert.match(errorOf(await answered), wanted);
  });
}

Deno.test("openExchange() passes on no more of an error than an error has", async () => {
  const { exchange } = lab();
  const answered = perform(exchange);
  const error = { message: "m".repeat(1e6), code: "closed", details: { a: 1 }, changed: "yes" };
  exchange.take({ kind: "reply", task: 1, reply: { ok: false, error } });
  const reply = await answered;
  assert.ok(!reply.ok);
  assert.deepEqual(Object.keys(reply.error), ["message"]);
  assert.ok(reply.error.message.length < 20_000);
});

Deno.test("openExchange() takes the first reply, ignores others, and those to nobody's task", async () => {
  const { exchange } = lab();
  const first = perform(exchange);
  exchange.take({ kind: "reply", task: 2, reply: { ok: true, value: "forged before its time" } });
  exchange.take({ kind: "reply", task: 1, reply: { ok: true, value: "first" } });
  exchange.take({ kind: "reply", task: 1, reply: { ok: true, value: "second" } });
  assert.deepEqual(await first, { ok: true, value: "first" });
  const second = perform(exchange);
  exchange.take({ kind: "reply", task: 2, reply: { ok: true, value: "in time" } });
  assert.deepEqual(await second, { ok: true, value: "in time" });
});

Deno.test("openExchange() does not do the calls of a task that is over, and goes on", async () => {
  const { exchange, said } = lab();
  let calls = 0;
  const door: HostDoor = () => Promise.resolve(calls++);
  const over = perform(exchange, { door });
  exchange.take({ kind: "reply", task: 1, reply: { ok: true } });
  assert.deepEqual(await over, { ok: true, value: null });
  exchange.take(call);
  await settle();
  assert.equal(calls, 0);
  assert.match(JSON.stringify(said.at(-1)), /is over/);
  assert.ok(!exchange.sandbox.isClosed);
});

Deno.test("openExchange() does few host calls at once and the others after them", async () => {
  const { exchange, said } = lab();
  const open: (() => void)[] = [];
  let most = 0;
  let doing = 0;
  const door: HostDoor = () => {
    most = Math.max(most, ++doing);
    return new Promise((resolve) =>
      open.push(() => {
        doing -= 1;
        resolve(null);
      })
    );
  };
  void perform(exchange, { door });
  for (let id = 1; id <= 1_000; id++) exchange.take({ ...call, call: id });
  while (open.length > 0) {
    for (const done of open.splice(0)) done();
    await settle();
  }
  assert.equal(most, HOST_CALLS_AT_ONCE_MAX);
  assert.equal(said.filter(({ kind }) => kind === "answer").length, 1_000);
});

Deno.test("openExchange() ends who talks too fast, and only then", async () => {
  const { exchange, clock } = lab();
  const reply = perform(exchange);
  const noise = { kind: "reply", task: 7 };
  for (let n = 0; n < WORKER_MESSAGES_PER_WINDOW_MAX; n++) exchange.take(noise);
  assert.ok(!exchange.sandbox.isClosed);
  exchange.take(noise);
  assert.match(errorOf(await reply), /too fast/);
  assert.ok(clock.now() >= 0);
});

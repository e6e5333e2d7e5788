/** What the NATS adapter does when the server stops, dies, comes back, or is not there yet. */
import assert from "node:assert/strict";
import { isZesterError, type ZesterError } from "../../core/errors.ts";
import { CLI_CONNECT_TIMEOUT_MS, STORE_TIMEOUT_MS } from "../../core/limits.ts";
import { connectNats, type NatsConnection } from "../../core/nats/mod.ts";
import { natsServerOrSkip, startNats, type TestNats } from "../fakes/nats_server.ts";
import { bucketSpec, bytes, eventually, streamSpec, text } from "./target.ts";

const ignore = await natsServerOrSkip() === null;

interface Lab {
  nats: TestNats;
  connection: NatsConnection;
  /** Kinds of the events so far. */
  events: string[];
  problems: ZesterError[];
}

async function connectTo(nats: TestNats, mode: "daemon" | "cli" = "daemon"): Promise<Lab> {
  const events: string[] = [];
  const problems: ZesterError[] = [];
  const connection = await connectNats({
    servers: nats.urls,
    user: nats.user,
    password: nats.password,
    role: "master",
    identity: "lab",
    mode,
    name: "lab",
    onStatus: (event) => events.push(event.kind),
    onProblem: (error) => problems.push(error),
  });
  return { nats, connection, events, problems };
}

/** One server and a daemon's connection to it. */
function lab(name: string, run: (lab: Lab) => Promise<void>): void {
  Deno.test({
    name,
    ignore,
    async fn() {
      const nats = await startNats();
      const made = await connectTo(nats);
      try {
        await connected(made);
        await run(made);
      } finally {
        await made.connection.close();
        await nats.stop();
      }
    },
  });
}

async function connected({ connection }: Lab): Promise<void> {
  await eventually("the connection", () => connection.bus.connected, (each) => each);
}

async function failsBy(ms: number, work: Promise<unknown>): Promise<ZesterError> {
  const started = performance.now();
  const error = await work.then(() => assert.fail("it did not fail"), (thrown) => thrown);
  assert.ok(isZesterError(error), Deno.inspect(error));
  const took = performance.now() - started;
  assert.ok(took < ms + 1_500, `${error.code} came after ${Math.round(took)} ms`);
  return error;
}

lab("every call on a stopped server ends by its deadline", async ({ nats, connection }) => {
  const [spec, stored] = [bucketSpec(), streamSpec()];
  await connection.admin.ensureBucket(spec);
  await connection.admin.ensureStream(stored);
  const bucket = connection.store.bucket(spec.name);
  const stream = connection.store.stream(stored.name);
  const consumer = await stream.consumer({ deliver: "all", ackWaitMs: 5_000, maxAckPending: 5 });
  connection.bus.subscribe("lab.silent", () => {});
  await connection.bus.flush(1_000);
  await nats.pause();
  try {
    const errors = await Promise.all([
      failsBy(300, connection.bus.flush(300)),
      failsBy(300, connection.bus.request("lab.silent", bytes(""), { timeoutMs: 300 })),
      failsBy(STORE_TIMEOUT_MS, bucket.get("k")),
      failsBy(STORE_TIMEOUT_MS, bucket.get("k", { leader: true })),
      failsBy(STORE_TIMEOUT_MS, bucket.keys()),
      failsBy(STORE_TIMEOUT_MS, bucket.watch(">", () => {})),
      failsBy(STORE_TIMEOUT_MS, stream.info()),
      failsBy(STORE_TIMEOUT_MS, consumer.fetch({ max: 1, waitMs: 100 })),
      failsBy(
        STORE_TIMEOUT_MS,
        stream.consumer({ deliver: "all", ackWaitMs: 1, maxAckPending: 1 }),
      ),
      checkUnknown(bucket.put("k", bytes("x"))),
      checkUnknown(stream.append(`${stored.name}.x`, bytes("x"))),
    ]);
    const codes = errors.map((each) => each?.code);
    assert.deepEqual(new Set(codes), new Set(["timeout", undefined]));
  } finally {
    nats.resume();
  }
  // What was unknown may have happened: here it has, as soon as the server goes on.
  const late = await eventually("the write", () => bucket.get("k"), (each) => each !== null);
  assert.equal(text(late!.value), "x");
});

async function checkUnknown(write: Promise<{ outcome: string }>): Promise<undefined> {
  const started = performance.now();
  const result = await write;
  assert.equal(result.outcome, "unknown", Deno.inspect(result));
  assert.ok(performance.now() - started < STORE_TIMEOUT_MS + 1_500);
}

lab("publish() on a lost connection throws and nothing is sent later", async (made) => {
  const { nats, connection, events } = made;
  const { bus } = connection;
  const heard: string[] = [];
  bus.subscribe("lab.x", (each) => heard.push(text(each.data)));
  await bus.flush(1_000);
  await nats.kill();
  await eventually("the loss", () => bus.connected, (each) => !each);
  const isLoss = (error: unknown) => isZesterError(error, "disconnected");
  assert.throws(() => bus.publish("lab.x", bytes("never")), isLoss);
  await assert.rejects(bus.request("lab.x", bytes(""), { timeoutMs: 5_000 }), isLoss);
  await assert.rejects(bus.flush(5_000), isLoss);
  await assert.rejects(connection.store.bucket("b").put("k", bytes("")), isLoss);
  await nats.restart();
  await connected(made);
  bus.publish("lab.x", bytes("after"));
  await eventually("the message after", () => heard.length, (n) => n > 0);
  assert.deepEqual(heard, ["after"]);
  assert.deepEqual(events, ["connected", "disconnected", "reconnected"]);
});

lab(
  "what waits for an answer is told at once when the server dies",
  async ({ nats, connection }) => {
    const { bus, store, admin } = connection;
    const spec = bucketSpec();
    await admin.ensureBucket(spec);
    bus.subscribe("lab.silent", () => {});
    const watch = await store.bucket(spec.name).watch(">", () => {});
    await nats.pause();
    const waiting = failsBy(2_000, bus.request("lab.silent", bytes(""), { timeoutMs: 60_000 }));
    const write = store.bucket(spec.name).put("k", bytes("x"));
    const started = performance.now();
    await nats.kill();
    assert.equal((await waiting).code, "disconnected");
    assert.equal((await write).outcome, "unknown");
    assert.equal((await watch.ended)?.code, "disconnected");
    assert.ok(performance.now() - started < STORE_TIMEOUT_MS, "not by waiting for a deadline");
  },
);

Deno.test({
  name:
    "connectNats() as a daemon returns before there is a server, and connects when there is one",
  ignore,
  async fn() {
    const nats = await startNats();
    await nats.kill();
    const made = await connectTo(nats);
    const { bus } = made.connection;
    try {
      assert.equal(bus.connected, false);
      const heard: string[] = [];
      const early = bus.subscribe("lab.gone", () => assert.fail("it was unsubscribed"));
      bus.subscribe("lab.early", (each) => heard.push(text(each.data)));
      early.unsubscribe();
      assert.throws(
        () => bus.publish("lab.early", bytes("x")),
        (e) => isZesterError(e, "disconnected"),
      );
      await nats.restart();
      await connected(made);
      assert.deepEqual(made.events, ["connected"]);
      assert.ok(made.problems.every((each) => each.code === "unreachable"));
      bus.publish("lab.gone", bytes("x"));
      bus.publish("lab.early", bytes("x"));
      await eventually("the message", () => heard.length, (n) => n === 1);
      assert.ok(made.connection.serverVersion()!.startsWith("2."));
    } finally {
      await made.connection.close();
      await nats.stop();
    }
  },
});

Deno.test({
  name: "connectNats() for the CLI says within its deadline that nobody is there, and where",
  ignore,
  async fn() {
    const nats = await startNats();
    try {
      await nats.pause();
      const stopped = await failsBy(CLI_CONNECT_TIMEOUT_MS, connectTo(nats, "cli"));
      nats.resume();
      await nats.kill();
      const refused = await failsBy(CLI_CONNECT_TIMEOUT_MS, connectTo(nats, "cli"));
      for (const error of [stopped, refused]) {
        assert.equal(error.code, "unreachable");
        assert.ok(error.message.includes(nats.url), error.message);
        assert.notEqual(error.fix, undefined);
      }
    } finally {
      await nats.stop();
    }
  },
});

Deno.test({
  name:
    "connectNats() with a wrong password is refused, and close() ends a daemon that still tries",
  ignore,
  async fn() {
    const nats = await startNats();
    const wrong: TestNats = { ...nats, password: "wrong" };
    try {
      const error = await failsBy(CLI_CONNECT_TIMEOUT_MS, connectTo(wrong, "cli"));
      assert.equal(error.code, "permission_denied");
      const daemon = await connectTo(wrong);
      await eventually("two attempts", () => daemon.problems.length, (n) => n >= 2);
      await daemon.connection.close();
      assert.equal(daemon.connection.bus.connected, false);
    } finally {
      await nats.stop();
    }
  },
});

Deno.test({
  name: "a client without the right gets permission_denied, not a timeout",
  ignore,
  async fn() {
    const inbox = "_INBOX.master.lab.>";
    const nats = await startNats({
      users: [{
        user: "narrow",
        password: "p\"'\\ $x",
        permissions: {
          publish: { allow: ["may.*", "$KV.some.mine"] },
          subscribe: { allow: [inbox, "may.>"], deny: ["may.not"] },
        },
      }],
    });
    const made = await connectTo(nats, "cli");
    const { bus, store } = made.connection;
    const isDenied = (error: unknown) => isZesterError(error, "permission_denied");
    try {
      await assert.rejects(bus.request("other", bytes(""), { timeoutMs: 5_000 }), isDenied);
      await assert.rejects(store.bucket("some").put("theirs", bytes("")), isDenied);
      await assert.rejects(store.bucket("some").get("mine"), isDenied);
      bus.subscribe("may.not", () => {});
      await eventually("the refusal", () => made.problems.some(isDenied), (each) => each);
      const heard: string[] = [];
      bus.subscribe("may.do", (each) => heard.push(text(each.data)));
      bus.publish("may.do", bytes("yes"));
      await eventually("the message", () => heard.join(), (each) => each === "yes");
    } finally {
      await made.connection.close();
      await nats.stop();
    }
  },
});

Deno.test({
  name: "connectNats() survives a server that closes on it, however often",
  ignore,
  async fn() {
    const nats = await startNats();
    const wrong: TestNats = { ...nats, password: "wrong" };
    try {
      for (let attempt = 0; attempt < 30; attempt++) {
        const error = await failsBy(CLI_CONNECT_TIMEOUT_MS, connectTo(wrong, "cli"));
        assert.equal(error.code, "permission_denied");
      }
    } finally {
      await nats.stop();
    }
  },
});

lab("a handler that throws is reported, and its subscription goes on", async (made) => {
  const { bus } = made.connection;
  const heard: string[] = [];
  bus.subscribe("lab.x", (each) => {
    heard.push(text(each.data));
    if (heard.length === 1) throw new Error("planted");
  });
  bus.publish("lab.x", bytes("1"));
  bus.publish("lab.x", bytes("2"));
  await eventually("both", () => heard.join(), (each) => each === "1,2");
  assert.match(made.problems[0]!.message, /lab\.x.*planted/);
});

lab(
  "drain() hands out what has come and closes; by its deadline on a stopped server",
  async (made) => {
    const { nats, connection } = made;
    const heard: string[] = [];
    connection.bus.subscribe("lab.x", (each) => heard.push(text(each.data)));
    connection.bus.publish("lab.x", bytes("last"));
    await connection.drain(5_000);
    assert.deepEqual(heard, ["last"]);
    assert.throws(
      () => connection.bus.publish("lab.x", bytes("")),
      (e) => isZesterError(e, "closed"),
    );
    const second = await connectTo(nats, "cli");
    await nats.pause();
    const started = performance.now();
    await second.connection.drain(300);
    assert.ok(performance.now() - started < 2_000);
    nats.resume();
  },
);

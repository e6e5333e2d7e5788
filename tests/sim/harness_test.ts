import assert from "node:assert/strict";
import { buckets, streams } from "../../core/buckets.ts";
import { isZesterError } from "../../core/errors.ts";
import { STORE_TIMEOUT_MS } from "../../core/limits.ts";
import type { WriteResult } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { type FaultRates, NO_FAULTS } from "./faults.ts";
import { nodeClock } from "./node_clock.ts";
import { promisesSettled, Scheduler } from "./scheduler.ts";
import { SeededRandom } from "./seeded_random.ts";
import { simulate } from "./simulate.ts";
import { type NodePorts, type Scenario, World } from "./world.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const goOn = () => "go on" as const;

/** A world with one node, and what its program was given at each start. */
async function worldOfOne(
  faults: Partial<FaultRates>,
  begin: (node: NodePorts) => void = () => {},
) {
  const world = new World({ seed: 1, faults: { ...NO_FAULTS, ...faults } });
  await world.admin.ensureBucket(buckets.leases);
  const starts: NodePorts[] = [];
  const node = world.addNode({
    name: "n1",
    role: "master",
    start(ports) {
      starts.push(ports);
      begin(ports);
      return {};
    },
  });
  world.begin();
  await world.scheduler.runUntil(1_000, goOn);
  return { world, starts, node, ports: starts[0]! };
}

Deno.test("Scheduler.runUntil() keeps the order of time, then of planning, and skips what was cancelled", async () => {
  const scheduler = new Scheduler();
  const ran: string[] = [];
  const note = (name: string) => () => void ran.push(`${name}@${scheduler.nowMs}`);
  scheduler.after(20, note("late"));
  scheduler.after(10, note("first"));
  scheduler.after(10, note("second"));
  scheduler.after(15, note("cancelled")).cancel();
  scheduler.after(31, note("beyond"));
  await scheduler.runUntil(30, goOn);
  assert.deepEqual(ran, ["first@10", "second@10", "late@20"]);
  assert.equal(scheduler.nowMs, 30);
});

Deno.test("Scheduler.runUntil() sorts thousands of events", async () => {
  const scheduler = new Scheduler();
  const random = new SeededRandom("order");
  const ran: number[] = [];
  for (let count = 0; count < 2_000; count++) {
    const atMs = Math.floor(random.between(0, 300));
    scheduler.after(atMs, () => void ran.push(atMs));
  }
  await scheduler.runUntil(300, goOn);
  assert.deepEqual(ran, ran.toSorted((a, b) => a - b));
  assert.equal(ran.length, 2_000);
});

Deno.test("Scheduler.runUntil() lets a long chain of promises end before time moves", async () => {
  const scheduler = new Scheduler();
  let endedAtMs = -1;
  const chain = async (depth: number): Promise<void> => {
    if (depth > 0) return await chain(depth - 1);
  };
  scheduler.after(5, () => void chain(500).then(() => endedAtMs = scheduler.nowMs));
  scheduler.after(6, () => {});
  await scheduler.runUntil(10, goOn);
  assert.equal(endedAtMs, 5);
});

Deno.test("nodeClock() is off by its skew and runs at its own speed", async () => {
  const scheduler = new Scheduler();
  const truth = nodeClock(scheduler, { skewMs: 0, drift: 0 }, (run) => run());
  const fast = nodeClock(scheduler, { skewMs: 5_000, drift: 0.01 }, (run) => run());
  let rangAtMs = 0;
  fast.after(1_010, () => rangAtMs = scheduler.nowMs);
  await scheduler.runUntil(2_000, goOn);
  assert.equal(Math.round(rangAtMs), 1_000);
  assert.equal(Math.round(fast.monotonic()), 2_020);
  assert.equal(fast.now() - truth.now(), 5_020);
});

Deno.test("nodeClock() sleep() rejects with `closed` when its signal aborts", async () => {
  const clock = nodeClock(new Scheduler(), { skewMs: 0, drift: 0 }, (run) => run());
  const stop = new AbortController();
  const sleeping = clock.sleep(10, stop.signal);
  stop.abort();
  await assert.rejects(sleeping, (thrown) => isZesterError(thrown, "closed"));
  await assert.rejects(clock.sleep(1, stop.signal), (thrown) => isZesterError(thrown, "closed"));
});

Deno.test("SeededRandom gives even chances, and forks that do not disturb it", () => {
  const random = new SeededRandom("even");
  const counts = [0, 0, 0, 0];
  for (let count = 0; count < 40_000; count++) counts[Math.floor(random.float() * 4)]!++;
  for (const count of counts) assert.ok(Math.abs(count - 10_000) < 500, `${counts}`);
  const [one, other] = [new SeededRandom("same"), new SeededRandom("same")];
  other.fork("child").float();
  assert.equal(one.float(), other.float());
  assert.notEqual(one.fork("a").float(), one.fork("b").float());
});

Deno.test("simulatedPorts() pass calls through when nothing goes wrong", async () => {
  const { world, ports } = await worldOfOne({});
  const bucket = ports.store.bucket(buckets.leases.name);
  const heard: string[] = [];
  ports.bus.subscribe(subjects.notice.filter(), (message) => void heard.push(message.subject));
  const results: unknown[] = [];
  bucket.create("k", bytes("v")).then(async (first) => {
    results.push(first.outcome, (await bucket.create("k", bytes("w"))).outcome);
    results.push(new TextDecoder().decode((await bucket.get("k"))?.value));
    ports.bus.publish(subjects.notice.of({ topic: "states" }), bytes("x"));
  });
  await world.scheduler.runUntil(3_000, goOn);
  assert.deepEqual(results, ["ok", "conflict", "v"]);
  assert.deepEqual(heard, [subjects.notice.of({ topic: "states" })]);
  world.close();
});

Deno.test("simulatedPorts() end a write without answer as unknown at its deadline, applied or not", async () => {
  const applied: boolean[] = [];
  for (let round = 0; round < 20; round++) {
    const { world, ports } = await worldOfOne({ loss: 0.6 });
    const bucket = ports.store.bucket(buckets.leases.name);
    const results: { key: string; result: WriteResult; atMs: number }[] = [];
    const beganMs = world.nowMs;
    for (let key = 0; key < 10; key++) {
      bucket.create(`k${key}`, bytes("v")).then((result) => {
        results.push({ key: `k${key}`, result, atMs: world.nowMs });
      });
    }
    await world.scheduler.runUntil(10_000, goOn);
    assert.equal(results.length, 10);
    for (const { key, result, atMs } of results) {
      if (result.outcome !== "unknown") continue;
      assert.ok(isZesterError(result.cause, "timeout"));
      assert.ok(Math.abs(atMs - beganMs - STORE_TIMEOUT_MS) < 100);
      applied.push(await world.truth.store.bucket(buckets.leases.name).get(key) !== null);
    }
    world.close();
  }
  assert.ok(applied.includes(true) && applied.includes(false));
});

Deno.test("Network.takeAway() has a bucket give no answer, and nothing happen in it, until it is back", async () => {
  const { world, ports } = await worldOfOne({});
  const bucket = ports.store.bucket(buckets.leases.name);
  const outcomes: string[] = [];
  const create = () => void bucket.create("k", bytes("v")).then((it) => outcomes.push(it.outcome));
  void bucket.keys();
  await world.scheduler.runUntil(2_000, goOn);
  const bringBack = world.network.takeAway();
  create();
  await world.scheduler.runUntil(10_000, goOn);
  bringBack();
  create();
  await world.scheduler.runUntil(11_000, goOn);
  assert.deepEqual(outcomes, ["unknown", "ok"]);
  world.close();
});

Deno.test("NodePorts.onConnected() calls back after the start, and after a cut that was noticed", async () => {
  const calledMs: number[] = [];
  const { world, node, ports } = await worldOfOne({});
  ports.onConnected(() => void calledMs.push(Math.round(world.nowMs)));
  for (const [cutMs, untilMs] of [[1_000, 2_000], [5_000, 10_000]] as const) {
    await world.scheduler.runUntil(cutMs, goOn);
    node.reach.cut();
    await world.scheduler.runUntil(untilMs, goOn);
    node.reach.restore();
  }
  await world.scheduler.runUntil(11_000, goOn);
  assert.deepEqual(calledMs, [1_000, 10_000]);
  world.close();
});

Deno.test("World.crash() ends a node: no answer, no timer, no message; and it starts again with its disk", async () => {
  const { world, starts, node, ports } = await worldOfOne({});
  const heard: string[] = [];
  const bucket = ports.store.bucket(buckets.leases.name);
  ports.disk.set("kept", bytes("v"));
  ports.clock.after(5_000, () => void heard.push("timer"));
  ports.bus.subscribe(subjects.notice.filter(), () => void heard.push("message"));
  bucket.create("k", bytes("v")).then(() => heard.push("answer"));
  world.crash(node);
  bucket.create("late", bytes("v")).then(() => heard.push("late answer"));
  world.truth.bus.publish(subjects.notice.of({ topic: "states" }), bytes("x"));
  await world.scheduler.runUntil(40_000, goOn);
  assert.deepEqual(heard, []);
  assert.equal(starts.length, 2);
  assert.ok(starts[1]!.disk.has("kept"));
  const truth = world.truth.store.bucket(buckets.leases.name);
  assert.equal((await truth.history("k")).length, 0, "expired by now");
  assert.equal(await truth.get("late"), null, "a dead node sends nothing");
  world.close();
});

Deno.test("World.crash() does not call back what was already sent", async () => {
  const { world, node, ports } = await worldOfOne({});
  ports.store.bucket(buckets.leases.name).create("k", bytes("v"));
  world.crash(node);
  await world.scheduler.runUntil(2_000, goOn);
  assert.notEqual(await world.truth.store.bucket(buckets.leases.name).get("k"), null);
  world.close();
});

Deno.test("NodePorts.failPoints stop a program for good where it crashes", async () => {
  const passed: string[] = [];
  const { world, node } = await worldOfOne({ crashAtCall: 1 }, async ({ failPoints }) => {
    await failPoints.hit("in the middle");
    passed.push("went on");
  });
  assert.deepEqual(passed, []);
  assert.ok(node.starts >= 1 && world.sometimes.counts.get("crashAtCall")! >= 1);
  world.close();
});

Deno.test("a node that is paused gets what it missed when it goes on, and its clock has moved", async () => {
  const rang: number[] = [];
  const { world, node, ports } = await worldOfOne({});
  const beganMs = ports.clock.monotonic();
  ports.clock.after(1_000, () => void rang.push(ports.clock.monotonic() - beganMs));
  node.life!.pause();
  await world.scheduler.runUntil(6_000, goOn);
  assert.deepEqual(rang, []);
  node.life!.resume();
  await world.scheduler.runUntil(6_001, goOn);
  assert.equal(rang.length, 1);
  assert.ok(rang[0]! > 4_900);
  world.close();
});

Deno.test("a node that is cut off learns of it late: first silence, then `disconnected`", async () => {
  const { world, node, ports } = await worldOfOne({});
  node.reach.cut();
  ports.bus.publish(subjects.notice.of({ topic: "states" }), bytes("lost"));
  await world.scheduler.runUntil(10_000, goOn);
  assert.equal(ports.bus.connected, false);
  assert.throws(
    () => ports.bus.publish(subjects.notice.of({ topic: "states" }), bytes("refused")),
    (thrown) => isZesterError(thrown, "disconnected"),
  );
  node.reach.restore();
  assert.equal(ports.bus.connected, true);
  world.close();
});

Deno.test("a watch ends with `disconnected` when the node was cut off, and its bucket can be watched again", async () => {
  const { world, node, ports } = await worldOfOne({});
  const bucket = ports.store.bucket(buckets.leases.name);
  const seen: string[] = [];
  const watching = () =>
    bucket.watch(">", (event) => void seen.push(event.kind)).then((watch) =>
      watch.ended.then((reason) => seen.push(reason?.code ?? "stopped"))
    );
  watching();
  await world.scheduler.runUntil(2_000, goOn);
  node.reach.cut();
  world.truth.store.bucket(buckets.leases.name).put("k", bytes("v"));
  await promisesSettled();
  await world.scheduler.runUntil(3_000, goOn);
  node.reach.restore();
  watching();
  await world.scheduler.runUntil(4_000, goOn);
  assert.deepEqual(seen, ["replayed", "disconnected", "put", "replayed"]);
  world.close();
});

Deno.test("simulatedPorts() deliver a stream at least once through loss, and again what was not acknowledged", async () => {
  const { world, ports } = await worldOfOne({ loss: 0.2, delay: 0.1 });
  await world.admin.ensureStream(streams.events);
  const subject = subjects.eventMaster.of({ tag: ["made"] });
  const deliveries = new Map<string, number>();
  const stream = ports.store.stream(streams.events.name);
  const wanted = Array.from({ length: 30 }, (_, number) => `event ${number}`);
  const [durable] = streams.events.durables;
  runQuietly(async () => {
    for (const text of wanted) {
      const append = () => stream.append(subject, bytes(text), { messageId: text });
      while ((await append()).outcome !== "ok");
    }
  });
  runQuietly(async () => {
    const consumer = await untilDone(() =>
      stream.consumer({
        durable: durable.name,
        filter: durable.filter,
        deliver: durable.deliver,
        ackWaitMs: durable.ackWaitMs,
        maxAckPending: durable.maxAckPending,
      })
    );
    for (;;) {
      for (const delivery of await consumer.fetch({ max: 5, waitMs: 2_000 })) {
        const text = new TextDecoder().decode(delivery.data);
        deliveries.set(text, Math.max(deliveries.get(text) ?? 0, delivery.deliveries));
        delivery.ack().catch(() => {});
      }
    }
  });
  await world.scheduler.runUntil(600_000, goOn);
  assert.deepEqual([...deliveries.keys()].sort(), wanted.sort());
  assert.ok(Math.max(...deliveries.values()) > 1, "nothing was delivered again");
  assert.equal((await world.truth.store.stream(streams.events.name).info()).messages, 30);
  world.close();
});

Deno.test("simulatedPorts() carry requests between nodes, or end them with `timeout`", async () => {
  const outcomes = new Set<string>();
  const world = new World({ seed: 3, faults: { ...NO_FAULTS, loss: 0.3 } });
  world.addNode({
    name: "m1",
    role: "master",
    start({ bus }) {
      bus.subscribe(
        subjects.fact.filter(),
        (message) => bus.publish(message.reply!, bytes("stored")),
      );
      return {};
    },
  });
  world.addNode({
    name: "peel-1",
    role: "peel",
    start({ bus, clock }) {
      const subject = subjects.fact.of({ peel: "peel-1" });
      clock.every(2_000, () => {
        bus.request(subject, bytes("facts"), { timeoutMs: 1_000 }).then(
          (reply) => outcomes.add(new TextDecoder().decode(reply.data)),
          (thrown) => outcomes.add(isZesterError(thrown) ? thrown.code : String(thrown)),
        );
      });
      return {};
    },
  });
  world.begin();
  await world.scheduler.runUntil(120_000, goOn);
  assert.deepEqual([...outcomes].sort(), ["stored", "timeout"]);
  world.close();
});

/** Runs a loop of a node that has no end of its own. */
function runQuietly(loop: () => Promise<void>): void {
  loop().catch((thrown) => assert.fail(String(thrown)));
}

async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (!isZesterError(thrown, "timeout")) throw thrown;
    }
  }
}

const endless: Scenario = {
  name: "endless",
  summary: "never settles",
  chaosMs: 100,
  settleMs: 1_000,
  steadyMs: 10,
  build: () => ({ settled: () => false }),
};

const broken: [name: string, scenario: Scenario, message: RegExp][] = [
  ["that does not settle", endless, /not settled 1000 ms after/],
  ["whose check throws", {
    ...endless,
    build: (world) => {
      world.addNode({ name: "n1", role: "master", start: () => ({}) });
      return { settled: () => true, afterEach: () => assert.fail("checked") };
    },
  }, /checked/],
  ["whose program throws", {
    ...endless,
    build: (world) => {
      world.addNode({ name: "n1", role: "master", start: () => assert.fail("program") });
      return { settled: () => true };
    },
  }, /program/],
  ["whose program leaves a rejection unhandled", {
    ...endless,
    build: (world) => {
      const start = () => {
        Promise.reject(new Error("left alone"));
        return {};
      };
      world.addNode({ name: "n1", role: "master", start });
      return { settled: () => true };
    },
  }, /left alone/],
  ["whose program runs in circles", {
    ...endless,
    chaosMs: 10_000,
    build: (world) => {
      const start = ({ clock }: NodePorts) => {
        clock.every(0.01, () => {});
        return {};
      };
      world.addNode({ name: "n1", role: "master", start });
      return { settled: () => true };
    },
  }, /runs in circles/],
];

for (const [name, scenario, message] of broken) {
  Deno.test(`simulate() reports a run ${name}`, async () => {
    const { failure } = await simulate({ seed: 1, scenario, faults: NO_FAULTS });
    assert.match(failure ?? "no failure", message);
  });
}

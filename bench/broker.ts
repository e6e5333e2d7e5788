/**
 * What the embedded broker costs beside nats-server: both as processes of their own, set up alike (every stored message on
 * disk before it is acknowledged), driven by the same client. The CPU time is the server's.
 */
import { Kvm } from "@nats-io/kv";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { findNatsServer } from "../tools/nats_server.ts";
import { type Child, type ChildSpec, startChild, stopChildren } from "../tools/up/children.ts";
import { embeddedSpec, LOGIN, natsServerSpec } from "./broker_process.ts";
import { cpuOf } from "./cpu.ts";
import { type Opened, sample, type Scenario, type Side } from "./harness.ts";

const PAYLOAD = new Uint8Array(128).fill(7);
const PUBLISHED = 100_000;
const REQUESTS = 2_000;
const PUTS = 2_000;
/** Puts that wait for their answer at the same time: as many as a busy master has. */
const PUTS_AT_ONCE = 64;

interface Broker {
  readonly name: string;
  readonly child: Child;
  /** The one that publishes, asks and puts. */
  readonly near: NatsConnection;
  /** The one that receives and answers. */
  readonly far: NatsConnection;
}

/** Throughput of publishing, of requests and of bucket writes. */
export async function open(): Promise<Opened> {
  const found = await findNatsServer();
  if ("missing" in found) return { skipped: `no nats-server to compare with: ${found.missing}` };
  const folder = await Deno.makeTempDir({ prefix: "zester-bench-broker-" });
  const children: Child[] = [];
  const connections: NatsConnection[] = [];
  async function close(): Promise<void> {
    await Promise.all(connections.map((connection) => connection.close()));
    await stopChildren([children]);
    await Deno.remove(folder, { recursive: true });
  }
  async function start(name: string, spec: ChildSpec): Promise<Broker> {
    const child = startChild(spec, folder);
    children.push(child);
    const servers = await child.address;
    const near = await connect({ servers, ...LOGIN, pass: LOGIN.password });
    const far = await connect({ servers, ...LOGIN, pass: LOGIN.password });
    connections.push(near, far);
    return { name, child, near, far };
  }
  try {
    const floor = await start(
      `nats-server ${found.version}`,
      await natsServerSpec(folder, found.path),
    );
    const subject = await start("embedded broker", await embeddedSpec(folder));
    return { scenarios: await scenarios(floor, subject), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function scenarios(floor: Broker, subject: Broker): Promise<Scenario[]> {
  const beside = (
    name: string,
    what: string,
    side: (broker: Broker) => Side,
  ): Scenario => ({
    name: `broker/${name}`,
    what,
    floor: side(floor),
    subject: side(subject),
  });
  const buckets = new Map<Broker, Awaited<ReturnType<typeof makeBucket>>>();
  for (const broker of [floor, subject]) {
    answer(broker);
    buckets.set(broker, await makeBucket(broker));
  }
  return [
    beside(
      "publish",
      `${PUBLISHED} messages of ${PAYLOAD.length} bytes to one subscriber`,
      (broker) => measured(broker, () => publishAll(broker)),
    ),
    beside(
      "request",
      `${REQUESTS} requests, one after the other`,
      (broker) => measured(broker, () => requestAll(broker)),
    ),
    beside(
      "kv_put",
      `${PUTS} bucket writes, ${PUTS_AT_ONCE} at once, each on disk before its answer`,
      (broker) => measured(broker, () => putAll(buckets.get(broker)!)),
    ),
  ];
}

function measured(broker: Broker, work: () => Promise<void>): Side {
  return { name: broker.name, run: () => sample(work, () => cpuOf(broker.child.pid)) };
}

async function publishAll({ near, far }: Broker): Promise<void> {
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let left = PUBLISHED;
  const subscription = far.subscribe("bench.published", {
    callback: () => --left === 0 ? resolve() : undefined,
  });
  await far.flush();
  for (let sent = 0; sent < PUBLISHED; sent++) {
    near.publish("bench.published", PAYLOAD);
    // Lets the socket write: a client that only fills its buffer measures its buffer.
    if (sent % 1_000 === 999) await near.flush();
  }
  await all;
  subscription.unsubscribe();
}

function answer({ far }: Broker): void {
  far.subscribe("bench.asked", { callback: (_error, message) => void message.respond(PAYLOAD) });
}

async function requestAll({ near }: Broker): Promise<void> {
  for (let asked = 0; asked < REQUESTS; asked++) {
    await near.request("bench.asked", PAYLOAD, { timeout: 5_000 });
  }
}

async function makeBucket({ near }: Broker) {
  return await new Kvm(near).create("bench", { history: 1 });
}

async function putAll(bucket: Awaited<ReturnType<typeof makeBucket>>): Promise<void> {
  for (let put = 0; put < PUTS; put += PUTS_AT_ONCE) {
    const batch = Array.from(
      { length: Math.min(PUTS_AT_ONCE, PUTS - put) },
      (_, index) => bucket.put(`key-${put + index}`, PAYLOAD),
    );
    await Promise.all(batch);
  }
}

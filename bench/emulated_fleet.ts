/**
 * A broker, real masters and emulated peels as processes of their own, with an operator in this one; and beside them, on the
 * same broker and the same connections of the peels, the bare master that is the floor.
 */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect, type NatsConnection as BareConnection } from "@nats-io/transport-node";
import { readTrust } from "../core/adapters/connect.ts";
import { PARENT_FLAG } from "../core/adapters/stop_signal.ts";
import { systemClock } from "../core/adapters/system_clock.ts";
import { systemRandom } from "../core/adapters/system_random.ts";
import { buckets } from "../core/buckets.ts";
import { type ClientPorts, dispatchAndFollow, type FollowEvent } from "../core/client.ts";
import { signerFromSeed } from "../core/crypto/ed25519.ts";
import { decodeSeedNkey } from "../core/crypto/nkey.ts";
import { newKsuid } from "../core/ids.ts";
import { FIRST_GENERATION, keyringOf } from "../core/keyring.ts";
import { JOB_TIMEOUT_MS } from "../core/limits.ts";
import { connectNats, type NatsConnection } from "../core/nats/mod.ts";
import { voiceOf } from "../core/outgoing.ts";
import { bucketStreamName, bucketSubject } from "../core/stream_config.ts";
import { subjects } from "../core/subjects.ts";
import { decodeJob, type Job, newJob } from "../core/wire/job.ts";
import { entrypointFlags } from "../tools/permissions.ts";
import { ROOT } from "../tools/repository.ts";
import { bootstrap } from "../tools/up/bootstrap.ts";
import { type BrokerPlan, planBroker } from "../tools/up/broker.ts";
import { type Child, type ChildSpec, startChild, stopChildren } from "../tools/up/children.ts";
import { type Fleet, loginOf, operatorSeedFile, prepareFleet } from "../tools/up/fleet.ts";
import { askBare } from "./bare_job.ts";
import { LOGIN } from "./broker_process.ts";
import { emulatedIds, emulatedRecord, emulatedUser } from "./emulated_identity.ts";

export interface EmulatedFleetOptions {
  readonly peels: number;
  /** Enrolled, never connected: a job on one of them runs until it is given up. */
  readonly silent?: number;
  readonly masters?: number;
}

export interface EmulatedFleet {
  readonly broker: Child;
  readonly masters: readonly Child[];
  readonly emulator: Child;
  readonly bare: Child;
  /** How long it took to connect all peels. */
  readonly connectSeconds: number;
  /** Runs a job on all peels and waits for its end; throws unless every peel succeeded. */
  ping(): Promise<void>;
  /** Starts a job and gives its id and who took it, without waiting for its end. */
  start(target: string): Promise<{ jid: string; master: string }>;
  /** The same messages and stored values as `ping` needs, and nothing else. */
  pingBare(): Promise<void>;
  /** Waits until the broker has stored all that was sent: streams store in order, so the last one tells of all before. */
  settle(): Promise<void>;
  /** The job's record as it is stored. */
  read(jid: string): Promise<Job>;
  stop(): Promise<void>;
}

/** Starts one. On a failure nothing is left behind. */
export async function startEmulatedFleet(options: EmulatedFleetOptions): Promise<EmulatedFleet> {
  const data = await Deno.makeTempDir({ prefix: "zester-bench-jobs-" });
  const ranks: { near: Child[]; masters: Child[]; brokers: Child[] } = {
    near: [],
    masters: [],
    brokers: [],
  };
  const closers: (() => Promise<void>)[] = [];
  async function stop(): Promise<void> {
    await Promise.all(closers.map((close) => close()));
    await stopChildren([ranks.masters, ranks.near, ranks.brokers]);
    await Deno.remove(data, { recursive: true });
  }
  try {
    return await start();
  } catch (error) {
    await stop();
    throw error;
  }

  async function start(): Promise<EmulatedFleet> {
    const enrolled = emulatedIds(options.peels + (options.silent ?? 0));
    const ids = enrolled.slice(0, options.peels);
    const masters = Array.from({ length: options.masters ?? 1 }, (_, at) => `master-${at + 1}`);
    const fleet = await emulatedFleetFiles(data, enrolled, masters);
    const plan: BrokerPlan = await planBroker(fleet, "nats-server", 0);
    const broker = startChild(plan.child, data);
    ranks.brokers.push(broker);
    const url = await broker.address;
    await bootstrap(fleet, url);
    for (const id of masters) {
      ranks.masters.push(startChild(await masterSpec(fleet, url, id), data));
    }
    await Promise.all(ranks.masters.map(untilReady));
    const emulator = startChild(
      program(new URL("./emulated_peels.ts", import.meta.url), [
        url,
        `${ids.length}`,
        join(data, "auth"),
      ]),
      data,
    );
    const bare = startChild(
      program(new URL("./bare_job.ts", import.meta.url), [
        url,
        LOGIN.user,
        LOGIN.password,
        `${ids.length}`,
      ]),
      data,
    );
    ranks.near.push(emulator, bare);
    const connectSeconds = Number(await emulator.address);
    await bare.address;
    const near = await connect({ servers: url, user: LOGIN.user, pass: LOGIN.password });
    const operator = await connectOperator(fleet, url);
    closers.push(() => near.close(), () => operator.nats.close());
    return {
      broker,
      masters: ranks.masters,
      emulator,
      bare,
      connectSeconds,
      ping: () => ping(operator.client, ids.length),
      start: (target) => begin(operator.client, target),
      read: (jid) => read(near, jid),
      pingBare: () => askBare(near, newKsuid(systemClock.now(), systemRandom)),
      settle: () => settle(near),
      stop,
    };
  }
}

async function read(near: BareConnection, jid: string): Promise<Job> {
  const subject = bucketSubject(buckets.jobs.name, jid);
  const stream = bucketStreamName(buckets.jobs.name);
  const { data } = await near.request(`$JS.API.DIRECT.GET.${stream}.${subject}`, "");
  return decodeJob(data);
}

async function settle(near: BareConnection): Promise<void> {
  const jid = newKsuid(systemClock.now(), systemRandom);
  const last = [
    subjects.jobDispatched.of({ jid }),
    bucketSubject(buckets.jobs.name, "settled"),
    bucketSubject(buckets.jobReturns.name, "settled"),
  ];
  await Promise.all(last.map((subject) => near.request(subject, "", { timeout: 20_000 })));
}

/** Keys and logins of a fleet without real peels, and the logins and records of the emulated ones. */
async function emulatedFleetFiles(
  data: string,
  ids: readonly string[],
  masters: readonly string[],
): Promise<Fleet> {
  const fleet = await prepareFleet({ data, masters, peels: [], operator: "admin" });
  return {
    ...fleet,
    peelRecords: ids.map(emulatedRecord),
    users: [...fleet.users, { role: "bootstrap", ...LOGIN }, ...ids.map(emulatedUser)],
  };
}

async function masterSpec(fleet: Fleet, url: string, id: string): Promise<ChildSpec> {
  const user = loginOf("master", id);
  const file = join(fleet.data, `${id}.yaml`);
  const config = {
    name: id,
    auth_dir: join(fleet.data, "auth"),
    nats_url: [url],
    nats_user: user,
    nats_password_file: fleet.passwordFile(user),
    health_addr: "127.0.0.1:0",
  };
  await Deno.writeTextFile(file, JSON.stringify(config)); // JSON is YAML
  const { flags, main } = entrypointFlags("master");
  return {
    role: "master",
    id,
    program: Deno.execPath(),
    args: ["run", "--quiet", ...flags, join(ROOT, main), "--config", file, PARENT_FLAG],
    listening: (line) =>
      line.includes("health listening") ? /"addr":"([^"]+)"/.exec(line)?.[1] ?? null : null,
  };
}

const READY_MS = 30_000;
const POLL_MS = 50;

async function untilReady(master: Child): Promise<void> {
  const address = await master.address;
  for (let waitedMs = 0; waitedMs < READY_MS && master.isRunning; waitedMs += POLL_MS) {
    const answer = await fetch(`http://${address}/readyz`).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw master.obituary();
}

/** A program of this folder that says on a line of its own that it is ready; a number in it is its address. */
function program(file: URL, args: readonly string[]): ChildSpec {
  return {
    role: "peel",
    id: basename(fileURLToPath(file), ".ts"),
    program: Deno.execPath(),
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--allow-all",
      fileURLToPath(file),
      ...args,
    ],
    listening: (line) => /^(?:connected in|bare master) (\S+)$/.exec(line)?.[1] ?? null,
  };
}

async function connectOperator(
  fleet: Fleet,
  url: string,
): Promise<{ nats: NatsConnection; client: ClientPorts }> {
  const user = loginOf("operator", fleet.operator);
  const nats = await connectNats({
    servers: [url],
    role: "operator",
    identity: fleet.operator,
    mode: "cli",
    name: "bench operator",
    user,
    password: fleet.password(user),
  });
  const seed = (await Deno.readTextFile(operatorSeedFile(fleet))).trim();
  const signer = signerFromSeed(decodeSeedNkey("user", seed));
  const trust = await readTrust(join(fleet.data, "auth"));
  const { bus } = nats;
  const client: ClientPorts = {
    operator: fleet.operator,
    bus,
    clock: systemClock,
    voice: voiceOf({ signer, generation: FIRST_GENERATION }, bus, systemClock),
    keyring: keyringOf(() => trust),
  };
  return { nats, client };
}

function pingOf(target: string): Job {
  const jid = newKsuid(systemClock.now(), systemRandom);
  const asked = {
    jid,
    function: "test.ping",
    args: {},
    targetExpr: target,
    timeoutMs: JOB_TIMEOUT_MS,
  };
  return newJob(asked, systemClock.now());
}

async function ping(client: ClientPorts, peels: number): Promise<void> {
  let last: FollowEvent | undefined;
  await dispatchAndFollow(pingOf("*"), (event) => last = event, client);
  if (last?.kind === "done" && last.successCount === peels) return;
  throw new Error(`ping of ${peels} peels ended with ${JSON.stringify(last)?.slice(0, 500)}`);
}

async function begin(
  client: ClientPorts,
  target: string,
): Promise<{ jid: string; master: string }> {
  const job = pingOf(target);
  let master = "";
  await dispatchAndFollow(
    job,
    (event) => {
      if (event.kind === "accepted") master = event.master;
      if (event.kind === "refused") throw new Error(`refused: ${event.message}`);
    },
    client,
    { until: "accepted" },
  );
  return { jid: job.jid, master };
}

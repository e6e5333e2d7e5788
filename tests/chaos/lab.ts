/**
 * A fleet of real processes on a real nats-server, whose members can be killed, stopped and started again one by one, with an
 * operator in this process. What it leaves behind is read by `evidence.ts`.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readTrust } from "../../core/adapters/connect.ts";
import { PARENT_FLAG } from "../../core/adapters/stop_signal.ts";
import { systemClock } from "../../core/adapters/system_clock.ts";
import type { ClientPorts } from "../../core/client.ts";
import { signerFromSeed } from "../../core/crypto/ed25519.ts";
import { decodeSeedNkey } from "../../core/crypto/nkey.ts";
import { isClient } from "../../core/grants.ts";
import { FIRST_GENERATION, keyringOf } from "../../core/keyring.ts";
import { connectNats, type NatsConnection } from "../../core/nats/mod.ts";
import { voiceOf } from "../../core/outgoing.ts";
import type { Store } from "../../core/ports.ts";
import type { Role } from "../../core/subjects.ts";
import { entrypointFlags } from "../../tools/permissions.ts";
import { bootstrap } from "../../tools/up/bootstrap.ts";
import { type Child, type ChildSpec, startChild, stopChildren } from "../../tools/up/children.ts";
import { type Fleet, loginOf, operatorSeedFile, prepareFleet } from "../../tools/up/fleet.ts";
import { pause } from "../contract/target.ts";
import { startNats, type TestNats } from "../fakes/nats_server.ts";
import { type Execution, readExecutions } from "./executions.ts";
import { killArgument, type KillOrder } from "./kill_switch.ts";

export interface LabOptions {
  readonly masters: readonly string[];
  readonly peels: readonly string[];
  /** A cluster instead of a single server. */
  readonly cluster?: 3;
}

export interface Lab {
  readonly nats: TestNats;
  readonly peels: readonly string[];
  readonly client: ClientPorts;
  /** What is stored, as a master sees it. */
  readonly store: Store;
  /** Starts a member and waits until it is ready; it kills itself where the order says. */
  start(id: string, order?: KillOrder): Promise<Child>;
  /** The latest process of a member. */
  member(id: string): Child;
  /** The id that the latest process of a master goes by. */
  masterId(name: string): Promise<string>;
  /** Kills a member and waits until it is gone. */
  kill(id: string): Promise<void>;
  /** Waits until a member has killed itself, as it was ordered to. */
  untilKilled(id: string, withinMs: number): Promise<void>;
  executions(): Promise<Execution[]>;
  /** Stops all members in peace, so that nothing runs any more, for good. */
  stopMembers(): Promise<void>;
}

/** Reads what is stored; no process uses this login. */
const AUDITOR = "auditor";
const READY_MS = 30_000;
const POLL_MS = 50;

/** Gives a test a fleet of which nothing runs yet but the server, and takes everything down afterwards. */
export async function withLab(
  options: LabOptions,
  use: (lab: Lab) => Promise<void>,
): Promise<void> {
  const data = await Deno.makeTempDir({ prefix: "zester-chaos-" });
  const closers: (() => Promise<unknown>)[] = [() => Deno.remove(data, { recursive: true })];
  try {
    const fleet = await prepareFleet({
      data,
      masters: [...options.masters, AUDITOR],
      peels: options.peels,
      operator: "admin",
    });
    const nats = await startServers(fleet, options.cluster);
    closers.push(() => nats.stop());
    await bootstrap(fleet, nats.url);
    const auditor = await connect(fleet, nats, "master", AUDITOR);
    closers.push(() => auditor.close());
    const operator = await connect(fleet, nats, "operator", fleet.operator);
    closers.push(() => operator.close());
    const members = crew(fleet, nats);
    closers.push(members.stopMembers);
    await use({
      nats,
      peels: options.peels,
      client: await clientOf(fleet, operator),
      store: auditor.store,
      ...members,
    });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function startServers(fleet: Fleet, cluster: 3 | undefined): Promise<TestNats> {
  const of = (wanted: boolean) => fleet.users.filter(({ role }) => isClient(role) === wanted);
  return await startNats({
    users: of(false),
    clients: of(true),
    ...(cluster === undefined ? {} : { cluster }),
  });
}

async function connect(
  fleet: Fleet,
  nats: TestNats,
  role: Role,
  identity: string,
): Promise<NatsConnection> {
  const user = loginOf(role, identity);
  const connected = Promise.withResolvers<void>();
  const connection = await connectNats({
    servers: nats.urls,
    role,
    identity,
    mode: "daemon", // it has to come back when the server does
    name: `chaos ${identity}`,
    user,
    password: fleet.password(user),
    onStatus: () => connected.resolve(),
  });
  await connected.promise;
  return connection;
}

async function clientOf(fleet: Fleet, { bus }: NatsConnection): Promise<ClientPorts> {
  const seed = (await Deno.readTextFile(operatorSeedFile(fleet))).trim();
  const signer = signerFromSeed(decodeSeedNkey("user", seed));
  const trust = await readTrust(join(fleet.data, "auth"));
  return {
    operator: fleet.operator,
    bus,
    clock: systemClock,
    voice: voiceOf({ signer, generation: FIRST_GENERATION }, bus, systemClock),
    keyring: keyringOf(() => trust),
  };
}

// ---- members -------------------------------------------------------------------------------------------------

type Crew = Omit<Lab, "nats" | "peels" | "client" | "store">;

function crew(fleet: Fleet, nats: TestNats): Crew {
  const latest = new Map<string, Child>();
  let isOver = false;
  function member(id: string): Child {
    const child = latest.get(id);
    if (child === undefined) throw new Error(`${id} was never started`);
    return child;
  }
  return {
    member,
    async start(id, order) {
      if (latest.get(id)?.isRunning) throw new Error(`${id} runs already`);
      const spec = await planMember(fleet, nats, id, order);
      if (isOver) throw new Error(`${id} comes too late`); // or it would be left behind by a test that failed
      const child = startChild(spec, fleet.data);
      latest.set(id, child);
      await untilReady(child);
      return child;
    },
    async masterId(name) {
      const said = (await Deno.readTextFile(member(name).log)).matchAll(/"masterId":"([^"]+)"/g);
      return [...said].at(-1)?.[1] ?? "";
    },
    async kill(id) {
      send(member(id), "SIGKILL");
      await member(id).ended;
    },
    async untilKilled(id, withinMs) {
      const late = new Error(`${id}: not killed within ${withinMs} ms`);
      const { promise, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(late), withinMs);
      const { signal } = await Promise.race([member(id).ended, promise]).finally(() =>
        clearTimeout(timer)
      );
      if (signal !== "SIGKILL") throw member(id).obituary();
    },
    async executions() {
      const all = await Promise.all(
        fleet.peels.map((peel) => readExecutions(executionLog(fleet, peel))),
      );
      return all.flat();
    },
    async stopMembers() {
      isOver = true;
      const all = [...latest.values()];
      for (const child of all) send(child, "SIGCONT");
      await stopChildren([
        all.filter(({ role, isRunning }) => role === "peel" && isRunning),
        all.filter(({ role, isRunning }) => role === "master" && isRunning),
      ]);
    },
  };
}

/** A signal to whoever may just have ended. */
function send(child: Child, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended by itself.
  }
}

function executionLog(fleet: Fleet, peel: string): string {
  return join(fleet.data, "peels", peel, "executions.log");
}

async function planMember(
  fleet: Fleet,
  nats: TestNats,
  id: string,
  order: KillOrder | undefined,
): Promise<ChildSpec> {
  const kill = killArgument(order);
  const role = fleet.peels.includes(id) ? "peel" : "master";
  const config = await writeConfig(fleet, nats, role, id);
  // Whoever may kill itself needs the right to; all else is as users run it.
  const flags = [...entrypointFlags(role).flags, ...(role === "master" ? ["--allow-run"] : [])];
  const [program, words] = role === "master"
    ? [new URL("./master.ts", import.meta.url), [kill]]
    : [new URL("./peel.ts", import.meta.url), [kill, id, executionLog(fleet, id)]];
  return {
    role,
    id,
    program: Deno.execPath(),
    args: [
      "run",
      "--quiet",
      ...flags,
      fileURLToPath(program),
      ...words,
      "--config",
      config,
      PARENT_FLAG,
    ],
    listening: (line) =>
      line.includes("health listening") ? /"addr":"([^"]+)"/.exec(line)?.[1] ?? null : null,
  };
}

async function writeConfig(
  fleet: Fleet,
  nats: TestNats,
  role: "master" | "peel",
  id: string,
): Promise<string> {
  const user = loginOf(role, id);
  const folder = join(fleet.data, "peels", id);
  const own = role === "master"
    ? { name: id, auth_dir: join(fleet.data, "auth") }
    : { id, auth_dir: join(folder, "auth"), data_dir: join(folder, "data") };
  const file = join(fleet.data, `${id}.yaml`);
  const config = {
    ...own,
    nats_url: nats.urls,
    nats_user: user,
    nats_password_file: fleet.passwordFile(user),
    health_addr: "127.0.0.1:0",
  };
  await Deno.writeTextFile(file, JSON.stringify(config)); // JSON is YAML
  return file;
}

/** One that is to be killed may be gone before it is ready. */
async function untilReady(child: Child): Promise<void> {
  const address = await child.address.catch(() => null);
  const deadlineMs = performance.now() + READY_MS;
  while (child.isRunning && address !== null) {
    const answer = await fetch(`http://${address}/readyz`).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.status === 200) return;
    if (performance.now() > deadlineMs) throw child.obituary();
    await pause(POLL_MS);
  }
}

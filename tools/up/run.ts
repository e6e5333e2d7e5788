/** Starts a whole local fleet in the right order, waits until all of it is ready, and takes it down again. */
import { join, resolve } from "node:path";
import { PARENT_FLAG } from "../../core/adapters/stop_signal.ts";
import { systemFiles } from "../../core/adapters/system_files.ts";
import { ZesterError } from "../../core/errors.ts";
import { type Entrypoint, entrypointFlags } from "../permissions.ts";
import { ROOT } from "../repository.ts";
import { bootstrap } from "./bootstrap.ts";
import { type BrokerPlan, planBroker } from "./broker.ts";
import { type Child, type ChildSpec, startChild, stopChildren } from "./children.ts";
import { directSeedFile, type Fleet, loginOf, operatorSeedFile, prepareFleet } from "./fleet.ts";
import type { UpOptions } from "./options.ts";
import { Interrupted, type StopRequest } from "./stop_request.ts";

const READY_MS = 30_000;
const POLL_MS = 40;

export interface RunningFleet {
  readonly broker: {
    readonly kind: BrokerPlan["kind"];
    readonly version: string;
    readonly url: string;
  };
  readonly children: readonly Child[];
  readonly contextFile: string;
  readonly binFolder: string;
  readonly stateFile: string;
  stop(): Promise<void>;
}

/** Starts everything below `data`. On any failure, and when a stop is asked for, what was started is stopped again. */
export async function startFleet(
  options: UpOptions,
  data: string,
  stop: StopRequest,
): Promise<RunningFleet> {
  await requireTree(options.states);
  const fleet = await prepareFleet({
    data,
    masters: names("master", options.masters),
    peels: names("peel", options.peels),
    operator: "admin",
  });
  const children: Child[] = [];
  const starting = start(fleet, options, children, stop);
  try {
    return await stop.unless(starting);
  } catch (thrown) {
    await stopAll(children);
    await starting.catch(() => {}); // without its children it fails soon; until then it may write below `data`
    throw stop.isMade ? new Interrupted(await stop.made) : thrown;
  }
}

async function start(
  fleet: Fleet,
  options: UpOptions,
  children: Child[],
  stop: StopRequest,
): Promise<RunningFleet> {
  const logs = join(fleet.data, "logs");
  await systemFiles.makeFolder(logs, 0o700);
  const plan = await stop.unless(planBroker(fleet, options.broker, options.port)); // it may have to fetch a server
  const broker = startChild(plan.child, logs);
  children.push(broker);
  const url = await broker.address;
  await bootstrap(fleet, url);
  const programs = programsIn(options.bin);
  const specs = await planDaemons(fleet, url, programs, options.states);
  if (stop.isMade) throw new Interrupted(await stop.made);
  for (const spec of specs) children.push(startChild(spec, logs));
  await Promise.all(children.slice(1).map(untilReady));
  const contextFile = await writeContext(fleet, url);
  const binFolder = await writeLauncher(fleet, programs);
  const described = { kind: plan.kind, version: plan.version, url };
  const stateFile = await writeState(fleet, described, children, contextFile);
  return {
    broker: described,
    children,
    contextFile,
    binFolder,
    stateFile,
    stop: () => stopAll(children),
  };
}

/** Peels first, then masters, then the broker: each can still say what it has to say. */
function stopAll(children: readonly Child[]): Promise<void> {
  const of = (role: Child["role"]) => children.filter((child) => child.role === role);
  return stopChildren([of("peel"), of("master"), of("broker")]);
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
}

async function planDaemons(
  fleet: Fleet,
  url: string,
  programs: Programs,
  states: string | undefined,
): Promise<ChildSpec[]> {
  const specs: ChildSpec[] = [];
  for (const id of fleet.masters) {
    const folder = join(fleet.data, "masters", id);
    specs.push(
      await planDaemon("master", programs, id, folder, {
        name: id,
        auth_dir: join(fleet.data, "auth"),
        ...login(fleet, url, loginOf("master", id)),
      }),
    );
  }
  for (const { id, folder } of fleet.peelRecords) {
    specs.push(
      await planDaemon("peel", programs, id, folder, {
        id,
        auth_dir: join(folder, "auth"),
        data_dir: join(folder, "data"),
        states_dir: states === undefined ? await emptyTree(folder) : resolve(states),
        // Never those of this machine: it may have a peel of its own.
        policy_file: join(folder, "policy.zy"),
        facts_file: join(folder, "facts"),
        ...login(fleet, url, loginOf("peel", id)),
      }),
    );
  }
  return specs;
}

/** A peel without a state tree gets an empty one, to which its owner may add. */
async function emptyTree(folder: string): Promise<string> {
  const path = join(folder, "states");
  await systemFiles.makeFolder(path, 0o700);
  return path;
}

/** A tree that is not there would be found out by the first job that needs it. */
async function requireTree(states: string | undefined): Promise<void> {
  if (states === undefined) return;
  const found = await Deno.stat(states).catch(() => null);
  if (found?.isDirectory) return;
  throw new ZesterError("config_invalid", `--states ${states}: there is no such folder`, {
    fix: "name a folder that exists; examples/ has one",
  });
}

function login(fleet: Fleet, url: string, user: string): Record<string, unknown> {
  return {
    nats_url: [url],
    nats_user: user,
    nats_password_file: fleet.passwordFile(user),
    health_addr: "127.0.0.1:0",
  };
}

async function planDaemon(
  role: "master" | "peel",
  programs: Programs,
  id: string,
  folder: string,
  config: Record<string, unknown>,
): Promise<ChildSpec> {
  await systemFiles.makeFolder(folder, 0o700);
  const file = join(folder, `${role}.yaml`);
  await write(file, JSON.stringify(config, null, 2), 0o600); // JSON is YAML
  const [program = "", ...args] = programs[role];
  return {
    role,
    id,
    program,
    args: [...args, "--config", file, PARENT_FLAG],
    listening: healthAddress,
  };
}

/** How each program is started: its file and first arguments. */
type Programs = Readonly<Record<"master" | "peel" | "cli", readonly string[]>>;

function programsIn(bin: string | undefined): Programs {
  if (bin === undefined) {
    return { master: fromSource("master"), peel: fromSource("peel"), cli: fromSource("cli") };
  }
  const compiled = (name: string) => [join(resolve(bin), name)];
  return {
    master: compiled("zester-master"),
    peel: compiled("zester-peel"),
    cli: compiled("zester"),
  };
}

/** `deno run` with the program's own permissions. Quiet: what it downloads at its first start is no answer of ours. */
function fromSource(entrypoint: Entrypoint): string[] {
  const { flags, main } = entrypointFlags(entrypoint);
  return [Deno.execPath(), "run", "--quiet", ...flags, join(ROOT, main)];
}

function healthAddress(line: string): string | null {
  if (!line.includes("health listening")) return null;
  return /"addr":"([^"]+)"/.exec(line)?.[1] ?? null;
}

async function untilReady(child: Child): Promise<void> {
  const address = await child.address;
  const deadline = Date.now() + READY_MS;
  while (child.isRunning && Date.now() < deadline) {
    const answer = await fetch(`http://${address}/readyz`).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  if (!child.isRunning) throw child.obituary();
  throw new ZesterError("timeout", `${child.role} ${child.id} was not ready in time`, {
    fix: `see ${child.log}`,
  });
}

async function writeContext(fleet: Fleet, url: string): Promise<string> {
  const user = loginOf("operator", fleet.operator);
  const directUser = loginOf("direct", fleet.operator);
  const file = join(fleet.data, "context.yaml");
  await write(
    file,
    JSON.stringify(
      {
        servers: [url],
        user,
        password_file: fleet.passwordFile(user),
        operator: fleet.operator,
        operator_seed_file: operatorSeedFile(fleet),
        trust_file: fleet.trustFile,
        trust_root: fleet.rootPublicKey,
        direct: {
          user: directUser,
          password_file: fleet.passwordFile(directUser),
          seed_file: directSeedFile(fleet),
        },
      },
      null,
      2,
    ),
    0o600,
  );
  return file;
}

/** A `zester` for the PATH of commands that are run on this fleet. */
async function writeLauncher(fleet: Fleet, { cli }: Programs): Promise<string> {
  const folder = join(fleet.data, "bin");
  await systemFiles.makeFolder(folder, 0o700);
  const words = cli.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  await write(join(folder, "zester"), `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, 0o700);
  return folder;
}

/** Lets scripts find and kill a child. */
async function writeState(
  fleet: Fleet,
  broker: { kind: string; version: string; url: string },
  children: readonly Child[],
  context: string,
): Promise<string> {
  const file = Deno.env.get("ZESTER_UP_STATE") ?? join(fleet.data, "up.json");
  const described = await Promise.all(
    children.map(async ({ role, id, pid, log, address }) => ({
      role,
      id,
      pid,
      log,
      address: await address,
    })),
  );
  await write(
    file,
    `${JSON.stringify({ broker, context, children: described }, null, 2)}\n`,
    0o600,
  );
  return file;
}

async function write(path: string, text: string, mode: number): Promise<void> {
  await systemFiles.replace(path, new TextEncoder().encode(text), mode);
}

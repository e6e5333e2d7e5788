/**
 * `zester '*' test.ping` on real peels, from the start of the CLI to its end, beside a bare program that asks bare
 * responders over a broker of the same kind. The CPU time is that of everyone who takes part.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { entrypointFlags } from "../tools/permissions.ts";
import { findNatsServer } from "../tools/nats_server.ts";
import { withFleet } from "../tools/up.ts";
import { type Child, type ChildSpec, startChild, stopChildren } from "../tools/up/children.ts";
import { parseUpOptions } from "../tools/up/options.ts";
import type { RunningFleet } from "../tools/up/run.ts";
import { embeddedSpec, natsServerSpec } from "./broker_process.ts";
import { cpuOf, cpuOfEndedChildren } from "./cpu.ts";
import { type Opened, sample, type Side } from "./harness.ts";
import { memoryOf, renderBytes } from "./memory.ts";
import { spreadOf } from "./summary.ts";

/** Ping of three peels. */
export function open(): Promise<Opened> {
  return openWith("ping", 3);
}

/** Ping of twenty. */
export function openTwenty(): Promise<Opened> {
  return openWith("ping_20", 20);
}

async function openWith(bench: string, peels: number): Promise<Opened> {
  const { fleet, stop } = await heldFleet(peels);
  const bare = await startBare(fleet.broker.kind, peels).catch(async (error) => {
    await stop();
    throw error;
  });
  return {
    scenarios: [{
      name: `${bench}/${peels}_peels`,
      what: `ping of ${peels} peels over ${fleet.broker.kind}, CLI to screen`,
      floor: runs("bare request and replies", {
        command: [Deno.execPath(), "run", ...barePeer("ask", bare.url), String(peels)],
        others: bare.children,
      }),
      subject: runs("zester '*' test.ping", {
        command: [join(fleet.binFolder, "zester"), "*", "test.ping"],
        environment: { ZESTER_CONTEXT: fleet.contextFile },
        others: fleet.children,
      }),
      notes: () => memories(fleet.children),
    }],
    async close() {
      await bare.stop();
      await stop();
    },
  };
}

/** What the programs of the fleet have in memory; what they share is split among them. */
function memories(children: readonly Child[]): string[] {
  const of = (role: Child["role"]) => {
    const bytes = children.filter((child) => child.role === role).map(({ pid }) => memoryOf(pid));
    return `${role} ${renderBytes(spreadOf(bytes).median)}`;
  };
  return [`memory after these pings: ${of("peel")}, ${of("master")}`];
}

/** A fleet that stays up until it is stopped. */
export async function heldFleet(
  peels: number,
): Promise<{ fleet: RunningFleet; stop(): Promise<void> }> {
  const started = Promise.withResolvers<RunningFleet>();
  const held = Promise.withResolvers<void>();
  const ended = withFleet(parseUpOptions(["--peels", String(peels)]), async (fleet) => {
    started.resolve(fleet);
    await held.promise;
  });
  ended.catch(started.reject);
  return {
    fleet: await started.promise,
    async stop() {
      held.resolve();
      await ended;
    },
  };
}

interface Bare {
  readonly url: string;
  readonly children: readonly Child[];
  stop(): Promise<void>;
}

/** Bare responders with a broker of their own. */
export async function startBare(
  kind: RunningFleet["broker"]["kind"],
  peels: number,
): Promise<Bare> {
  const folder = await Deno.makeTempDir({ prefix: "zester-bench-ping-" });
  const children: Child[] = [];
  async function stop(): Promise<void> {
    await stopChildren([children.slice(1), children.slice(0, 1)]);
    await Deno.remove(folder, { recursive: true });
  }
  async function start(spec: ChildSpec): Promise<string> {
    const child = startChild(spec, folder);
    children.push(child);
    return await child.address;
  }
  try {
    const url = await start(await brokerSpec(kind, folder));
    for (let peel = 1; peel <= peels; peel++) await start(responder(`bare-${peel}`, url));
    return { url, children, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function brokerSpec(kind: string, folder: string): Promise<ChildSpec> {
  const found = await findNatsServer();
  return kind === "embedded" || "missing" in found
    ? await embeddedSpec(folder)
    : await natsServerSpec(folder, found.path);
}

function responder(id: string, url: string): ChildSpec {
  return {
    role: "peel",
    id,
    program: Deno.execPath(),
    args: ["run", ...barePeer("answer", url)],
    listening: (line) => line === "answering" ? line : null,
  };
}

/** With the flags of the CLI, so that both sides pay the same for permissions. */
function barePeer(mode: "ask" | "answer", url: string): string[] {
  const program = fileURLToPath(new URL("./bare_peer.ts", import.meta.url));
  return [...entrypointFlags("cli").flags, program, mode, url];
}

/** A side that runs one command, with servers beside it whose CPU time counts as well. */
function runs(
  name: string,
  { command, environment = {}, others }: {
    command: readonly string[];
    environment?: Record<string, string>;
    others: readonly Child[];
  },
): Side {
  const cpu = () => others.reduce((sum, child) => sum + cpuOf(child.pid), 0) + cpuOfEndedChildren();
  return {
    name,
    run: () => sample(() => runOnce(name, command, environment), cpu),
  };
}

async function runOnce(
  name: string,
  command: readonly string[],
  env: Record<string, string>,
): Promise<void> {
  const [program = "", ...args] = command;
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (code === 0) return;
  const text = new TextDecoder();
  throw new Error(`${name}: exit ${code}: ${text.decode(stderr)}${text.decode(stdout)}`);
}

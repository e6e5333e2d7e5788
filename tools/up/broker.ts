/** The broker of a local fleet: a nats-server if there is one that is new enough, or the embedded one. */
import { join } from "node:path";
import { PARENT_FLAG } from "../../core/adapters/stop_signal.ts";
import { systemFiles } from "../../core/adapters/system_files.ts";
import { ZesterError } from "../../core/errors.ts";
import { crossings, isClient } from "../../core/grants.ts";
import { entrypointFlags } from "../permissions.ts";
import {
  findInstalled,
  findNatsServer,
  renderServerConfig,
  type ServerUser,
} from "../nats_server.ts";
import { ROOT } from "../repository.ts";
import type { ChildSpec } from "./children.ts";
import type { Fleet, FleetUser } from "./fleet.ts";
import type { BrokerChoice } from "./options.ts";

export interface BrokerPlan {
  readonly kind: "embedded" | "nats-server";
  readonly version: string;
  readonly child: ChildSpec;
}

const HOST = "127.0.0.1";

/** Decides which broker to run and writes its configuration. */
export async function planBroker(
  fleet: Fleet,
  choice: BrokerChoice,
  port: number,
): Promise<BrokerPlan> {
  await requireFree(port);
  if (choice === "embedded") return await planEmbedded(fleet, port);
  if (choice === "auto" && !Deno.env.get("NATS_SERVER_BIN")) {
    const installed = await findInstalled(); // downloads nothing: `up` must be quick
    return installed === null
      ? await planEmbedded(fleet, port)
      : await planNatsServer(fleet, port, installed);
  }
  const found = await findNatsServer();
  if (!("missing" in found)) return await planNatsServer(fleet, port, found);
  throw new ZesterError("config_invalid", `--broker ${choice}: ${found.missing}`, {
    fix: "use --broker embedded, or install nats-server",
  });
}

/** A port in use is said before anything is started. The broker itself still has the last word. */
function requireFree(port: number): Promise<void> {
  if (port === 0) return Promise.resolve();
  try {
    Deno.listen({ hostname: HOST, port }).close();
    return Promise.resolve();
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AddrInUse)) throw cause;
    throw new ZesterError("config_invalid", `port ${port} of ${HOST} is in use`, {
      cause,
      fix: "leave --port out to get a free one, or stop what listens there",
    });
  }
}

async function planEmbedded(fleet: Fleet, port: number): Promise<BrokerPlan> {
  const folder = await brokerFolder(fleet);
  const config = join(folder, "embedded.json");
  await write(
    config,
    JSON.stringify(
      {
        listen: `${HOST}:${port}`,
        store: join(folder, "embedded"),
        users: fleet.users.map(loginAlone),
      },
      null,
      2,
    ),
  );
  const { flags, main } = entrypointFlags("broker");
  return {
    kind: "embedded",
    version: "embedded",
    child: {
      role: "broker",
      id: "broker",
      program: Deno.execPath(),
      args: ["run", ...flags, join(ROOT, main), "--config", config, PARENT_FLAG],
      listening: (line) => /"listening":"([^"]+)"/.exec(line)?.[1] ?? null,
    },
  };
}

async function planNatsServer(
  fleet: Fleet,
  port: number,
  { path, version }: { path: string; version: string },
): Promise<BrokerPlan> {
  const folder = await brokerFolder(fleet);
  const config = join(folder, "nats-server.conf");
  await write(
    config,
    renderServerConfig({
      listen: { host: HOST, port: port === 0 ? -1 : port },
      store: join(folder, "nats"),
      users: fleet.users.filter(({ role }) => !isClient(role)).map(loginAlone),
      clients: {
        users: fleet.users.filter(({ role }) => isClient(role)).map(loginAlone),
        crossings: crossings(),
      },
      syncAlways: true,
    }),
  );
  const [program = path, ...before] = await diesWithUs(path);
  return {
    kind: "nats-server",
    version,
    child: {
      role: "broker",
      id: "broker",
      program,
      args: [...before, "--config", config],
      listening: (line) => {
        const address = /Listening for client connections on (\S+)/.exec(line)?.[1];
        return address === undefined ? null : `nats://${address}`;
      },
    },
  };
}

function loginAlone({ user, password, permissions }: FleetUser): ServerUser {
  return { user, password, ...(permissions === undefined ? {} : { permissions }) };
}

/** nats-server does not watch its parent; where `setpriv` is there, the kernel does it for us, under the same pid. */
async function diesWithUs(path: string): Promise<string[]> {
  const setpriv = await systemFiles.read("/usr/bin/setpriv", 1 << 20).catch(() => null);
  return setpriv === null ? [path] : ["/usr/bin/setpriv", "--pdeathsig", "TERM", path];
}

async function brokerFolder(fleet: Fleet): Promise<string> {
  const folder = join(fleet.data, "broker");
  await systemFiles.makeFolder(folder, 0o700);
  return folder;
}

async function write(path: string, text: string): Promise<void> {
  await systemFiles.replace(path, new TextEncoder().encode(text), 0o600);
}

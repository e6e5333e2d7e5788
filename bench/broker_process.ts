/** Brokers to measure on: alone, with one login that may do everything, every stored message flushed to disk. */
import { join } from "node:path";
import { renderServerConfig } from "../tools/nats_server.ts";
import { entrypointFlags } from "../tools/permissions.ts";
import { ROOT } from "../tools/repository.ts";
import type { ChildSpec } from "../tools/up/children.ts";

const HOST = "127.0.0.1";

/** The one login. */
export const LOGIN = { user: "bench", password: "bench" };

/** A nats-server that keeps its store below `folder`. */
export async function natsServerSpec(folder: string, program: string): Promise<ChildSpec> {
  const config = join(folder, "nats-server.conf");
  const store = join(folder, "nats-server");
  const listen = { host: HOST, port: -1 };
  await Deno.writeTextFile(
    config,
    renderServerConfig({ listen, store, users: [LOGIN], syncAlways: true }),
  );
  return {
    role: "broker",
    id: "nats-server",
    program,
    args: ["--config", config],
    listening: (line) => {
      const address = /Listening for client connections on (\S+)/.exec(line)?.[1];
      return address === undefined ? null : `nats://${address}`;
    },
  };
}

/** The embedded broker with its log below `folder`. */
export async function embeddedSpec(folder: string): Promise<ChildSpec> {
  const config = join(folder, "embedded.json");
  const store = join(folder, "embedded");
  await Deno.writeTextFile(config, JSON.stringify({ listen: `${HOST}:0`, store, users: [LOGIN] }));
  const { flags, main } = entrypointFlags("broker");
  return {
    role: "broker",
    id: "embedded",
    program: Deno.execPath(),
    args: ["run", ...flags, join(ROOT, main), "--config", config],
    listening: (line) => /"listening":"([^"]+)"/.exec(line)?.[1] ?? null,
  };
}

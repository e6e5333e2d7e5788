/** The broker's configuration file: its shape, its checks, and what it means. */
import { z } from "zod";
import { ZesterError } from "../core/errors.ts";
import type { Permissions } from "./engine.ts";
import { isPattern } from "./subject_match.ts";

/** What a broker needs to know to start. */
export interface BrokerConfig {
  listen: { hostname: string; port: number };
  /** Folder of the log; null keeps everything in memory. */
  store: string | null;
  users: readonly { user: string; password: string; permissions?: Permissions }[];
  serverName?: string;
}

const PORT_MAX = 65_535;

const pattern = z.string().refine(isPattern, "not a subject or pattern");
const rulesSchema = z.strictObject({
  allow: z.array(pattern).exactOptional(),
  deny: z.array(pattern).exactOptional(),
});

const configSchema = z.strictObject({
  listen: z.string(),
  store: z.string().min(1).nullable(),
  users: z.array(z.strictObject({
    user: z.string().min(1),
    password: z.string().min(1),
    permissions: z.strictObject({
      publish: rulesSchema.exactOptional(),
      subscribe: rulesSchema.exactOptional(),
    }).exactOptional(),
  })),
  server_name: z.string().regex(/^[a-zA-Z0-9._-]+$/, "letters, digits, '.', '_' and '-' only")
    .exactOptional(),
});

/** Reads the text of the configuration file `path`. Errors never quote the text: it holds passwords. */
export function parseConfig(text: string, path: string): BrokerConfig {
  const parsed = configSchema.safeParse(parseJson(text, path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(path, `${issue?.path.join(".") || "top level"}: ${issue?.message}`);
  }
  const { listen, store, users, server_name } = parsed.data;
  requireDistinct(users.map(({ user }) => user), path);
  return {
    listen: parseAddress(listen, path),
    store,
    users,
    ...(server_name === undefined ? {} : { serverName: server_name }),
  };
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = /\(line \d+ column \d+\)/.exec(error instanceof Error ? error.message : "")?.[0];
    throw invalid(path, place === undefined ? "not valid JSON" : `not valid JSON ${place}`);
  }
}

/** `host:port`; an IPv6 address stands in brackets. */
function parseAddress(address: string, path: string): BrokerConfig["listen"] {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):([0-9]{1,5})$/.exec(address);
  const hostname = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (hostname === undefined || port > PORT_MAX) {
    throw invalid(path, `listen: ${JSON.stringify(address)} is not of the form host:port`);
  }
  return { hostname, port };
}

function requireDistinct(users: readonly string[], path: string): void {
  const twice = users.find((user, index) => users.indexOf(user) !== index);
  if (twice !== undefined) throw invalid(path, `users: ${JSON.stringify(twice)} is there twice`);
}

function invalid(path: string, found: string): ZesterError {
  return new ZesterError("config_invalid", `broker, reading its configuration ${path}: ${found}`);
}

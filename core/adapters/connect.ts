/** How a daemon joins its fleet: its login, what it trusts, and its connection with the counts that go with it. */
import { fromBase64Url } from "../crypto/ed25519.ts";
import { ZesterError } from "../errors.ts";
import type { Check } from "../health.ts";
import { READY_CHECK_MS } from "../limits.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { connectNats, type NatsConnection } from "../nats/mod.ts";
import type { Bus } from "../ports.ts";
import type { Role } from "../subjects.ts";
import { openTrust, type Trust } from "../trust.ts";
import { readParsed, readTextFile } from "./secret_file.ts";

export interface Login {
  readonly nats_url: readonly string[];
  readonly nats_user: string | null;
  readonly nats_password_file: string | null;
}

export interface JoinOptions {
  readonly role: Role;
  readonly identity: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called on every connect, the first one included, and on every loss. */
  onChange?(connected: boolean): void;
}

/** Connects in the background, for ever. */
export async function join(login: Login, options: JoinOptions): Promise<NatsConnection> {
  const { role, identity, log, metrics, onChange } = options;
  if (login.nats_url.length === 0) {
    const fix = "name a server, such as nats://127.0.0.1:4222";
    throw new ZesterError("config_invalid", "nats_url names no server", { fix });
  }
  const password = login.nats_password_file === null
    ? undefined
    : await readTextFile(login.nats_password_file, "password file");
  return await connectNats({
    servers: login.nats_url,
    role,
    identity,
    mode: "daemon",
    name: `zester-${role} ${identity}`,
    ...(login.nats_user === null ? {} : { user: login.nats_user }),
    ...(password === undefined ? {} : { password }),
    onProblem: (error) => log.warn("nats problem", { error }),
    onStatus(event) {
      log.info("nats", { ...event });
      if (event.kind === "disconnected") metrics.natsDisconnects.inc();
      if (event.kind === "reconnected") metrics.natsReconnects.inc();
      onChange?.(event.kind === "connected" || event.kind === "reconnected");
    },
  });
}

/** The trust document in a folder, verified against the root key that is pinned beside it. */
export async function readTrust(authDir: string): Promise<Trust> {
  const root = fromBase64Url(await readTextFile(`${authDir}/root.pub`, "root key"));
  if (root === null) {
    throw new ZesterError("trust_invalid", `${authDir}/root.pub is not a public key`);
  }
  return await readParsed(
    `${authDir}/trust.json`,
    "trust document",
    (text) => openTrust(text, root),
  );
}

/** A readiness check by a round trip: a server that hangs still looks connected for a while. */
export function natsCheck(bus: Bus): Check {
  return async () => {
    if (!bus.connected) return { status: "down", message: "not connected" };
    await bus.flush(READY_CHECK_MS / 2);
    return { status: "ok" };
  };
}

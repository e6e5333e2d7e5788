/** Builds the ports over one NATS connection: in the background for daemons, at once or not at all for the CLI. */
import type { ZesterError } from "../errors.ts";
import type { Bus, Store, StoreAdmin } from "../ports.ts";
import { inboxPrefix, type Role } from "../subjects.ts";
import { natsAdmin } from "./admin.ts";
import { JetStreamApi } from "./api.ts";
import { natsBucket } from "./bucket.ts";
import { natsBus } from "./bus.ts";
import { type ConnectionStatus, Link } from "./link.ts";
import { natsStream } from "./stream.ts";

export type { ConnectionStatus } from "./link.ts";

export interface NatsOptions {
  servers: readonly string[];
  user?: string;
  password?: string;
  role: Role;
  /** Who we are: together with the role it gives the inbox prefix that the server lets us listen on. */
  identity: string;
  /** `daemon` returns at once and connects for ever; `cli` connects within seconds or throws `unreachable`. */
  mode: "daemon" | "cli";
  /** Shown in the server's list of connections. */
  name: string;
  /** Copies of each stream; without it three where the cluster has them. */
  replicas?: number;
  /** Told on the first connect, on every loss and on every reconnect. */
  onStatus?(event: ConnectionStatus): void;
  /** Told what no call can return: failed attempts, refused subscriptions, fewer replicas than wanted. */
  onProblem?(error: ZesterError): void;
}

export interface NatsConnection {
  readonly bus: Bus;
  readonly store: Store;
  readonly admin: StoreAdmin;
  readonly status: "connected" | "disconnected";
  /** Version of the server that we are connected to. */
  serverVersion(): string | undefined;
  /** Name of the server that we are connected to. */
  serverName(): string | undefined;
  /** Finishes what is under way, up to the deadline, and closes. */
  drain(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Connects to NATS. See `NatsOptions.mode` for when it returns. */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const link = new Link({ ...options, inboxPrefix: inboxPrefix(options.role, options.identity) });
  if (options.mode === "cli") await link.connectNow();
  else void link.connectInBackground();
  return portsOver(link, options);
}

function portsOver(link: Link, options: NatsOptions): NatsConnection {
  const api = new JetStreamApi(link);
  return {
    bus: natsBus(link),
    store: {
      bucket: (name) => natsBucket(api, name),
      stream: (name) => natsStream(api, name),
    },
    admin: natsAdmin(api, {
      ...(options.replicas === undefined ? {} : { replicas: options.replicas }),
      warn: (error) => link.report(error),
    }),
    get status() {
      return link.connected ? "connected" : "disconnected";
    },
    serverVersion: () => link.info?.version,
    serverName: () => link.info?.server_name,
    drain: (timeoutMs) => link.drain(timeoutMs),
    close: () => link.close(),
  };
}

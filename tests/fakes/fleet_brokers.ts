/** The two brokers that a fleet may run on, each with the logins and permissions of that fleet. */
import { startEmbedded } from "../../broker/server.ts";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { systemRandom as random } from "../../core/adapters/system_random.ts";
import { grantsFor, isClient } from "../../core/grants.ts";
import { connectNats, type NatsConnection } from "../../core/nats/mod.ts";
import type { Role } from "../../core/subjects.ts";
import { natsServerOrSkip, startNats } from "./nats_server.ts";
import { WireClient } from "./wire_client.ts";

const PASSWORD = "pw";

export interface FleetBroker {
  connect(role: Role, identity: string): Promise<NatsConnection>;
  /** The same login, by a client that obeys no rules. */
  attack(role: Role, identity: string): Promise<WireClient>;
  stop(): Promise<void>;
}

export interface FleetBrokerMaker {
  readonly name: string;
  readonly ignore: boolean;
  start(identities: readonly [Role, string][]): Promise<FleetBroker>;
}

function userOf(role: Role, identity: string): string {
  return `${role}-${identity}`;
}

function loginsOf(identities: readonly [Role, string][]) {
  return identities.map(([role, identity]) => ({
    user: userOf(role, identity),
    password: PASSWORD,
    permissions: grantsFor(role, identity),
  }));
}

function reach(url: string, stop: () => Promise<void>): FleetBroker {
  return {
    connect: (role, identity) =>
      connectNats({
        servers: [url],
        role,
        identity,
        mode: "cli",
        name: identity,
        user: userOf(role, identity),
        password: PASSWORD,
      }),
    attack: (role, identity) => WireClient.connect(url, userOf(role, identity), PASSWORD),
    stop,
  };
}

/** nats-server, and the embedded broker. */
export const FLEET_BROKERS: readonly FleetBrokerMaker[] = [
  {
    name: "nats-server",
    ignore: await natsServerOrSkip() === null,
    async start(identities) {
      const server = await startNats({
        users: loginsOf(identities.filter(([role]) => !isClient(role))),
        clients: loginsOf(identities.filter(([role]) => isClient(role))),
      });
      return reach(server.url, () => server.stop());
    },
  },
  {
    name: "the embedded broker",
    ignore: false,
    async start(identities) {
      const broker = await startEmbedded({ clock, random, users: loginsOf(identities) });
      return reach(broker.url, () => broker.close());
    },
  },
];

/** Real nats-servers as targets of the contract suites: one alone, and a cluster of three. */
import { connectNats } from "../../core/nats/mod.ts";
import type { Bus } from "../../core/ports.ts";
import { natsServerOrSkip, startNats } from "../fakes/nats_server.ts";
import { bytes, eventually, type Target, type TargetMaker, text } from "./target.ts";

const ignore = await natsServerOrSkip() === null;

async function makeNats(cluster?: 3): Promise<Target> {
  const nats = await startNats(cluster === undefined ? {} : { cluster });
  return {
    async connect(identity) {
      const connection = await connectNats({
        servers: [nats.url],
        user: nats.user,
        password: nats.password,
        role: "master",
        identity,
        mode: "cli",
        name: `contract ${identity}`,
      });
      if (cluster === undefined) return connection;
      return { ...connection, settle: (stream) => settle(connection.bus, stream) };
    },
    async restart() {
      await nats.terminate();
      await nats.restart();
    },
    close: () => nats.stop(),
  };
}

interface Replica {
  current: boolean;
  lag?: number;
}

async function settle(bus: Bus, stream: string): Promise<void> {
  await eventually(`replicas of ${stream}`, async () => {
    const answer = await bus.request(`$JS.API.STREAM.INFO.${stream}`, bytes(""), {
      timeoutMs: 5_000,
    });
    const info = JSON.parse(text(answer.data)) as { cluster: { replicas: Replica[] } };
    return info.cluster.replicas;
  }, (replicas) => replicas.length === 2 && replicas.every((each) => each.current && !each.lag));
}

export const natsSingle: TargetMaker = { name: "nats-server", ignore, make: () => makeNats() };
export const natsCluster: TargetMaker = {
  name: "a nats-server cluster of three",
  ignore,
  make: () => makeNats(3),
};

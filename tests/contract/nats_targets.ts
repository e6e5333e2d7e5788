/** Real nats-servers as targets of the contract suites: one alone, and a cluster of three. */
import { connectNats } from "../../core/nats/mod.ts";
import { natsServerOrSkip, startNats } from "../fakes/nats_server.ts";
import type { Target, TargetMaker } from "./target.ts";

const ignore = await natsServerOrSkip() === null;

async function makeNats(cluster?: 3): Promise<Target> {
  const nats = await startNats(cluster === undefined ? {} : { cluster });
  return {
    connect: (identity) =>
      connectNats({
        servers: [nats.url],
        user: nats.user,
        password: nats.password,
        role: "master",
        identity,
        mode: "cli",
        name: `contract ${identity}`,
      }),
    async restart() {
      await nats.terminate();
      await nats.restart();
    },
    close: () => nats.stop(),
  };
}

export const natsSingle: TargetMaker = { name: "nats-server", ignore, make: () => makeNats() };
export const natsCluster: TargetMaker = {
  name: "a nats-server cluster of three",
  ignore,
  make: () => makeNats(3),
};

/** The contract suites on the embedded server, through the real client, with its log on disk. */
import { startEmbedded } from "../../broker/server.ts";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { systemRandom as random } from "../../core/adapters/system_random.ts";
import { connectNats } from "../../core/nats/mod.ts";
import { bucketContract } from "./bucket_contract.ts";
import { busContract } from "./bus_contract.ts";
import { restartContract } from "./restart_contract.ts";
import { streamContract } from "./stream_contract.ts";
import type { Target, TargetMaker } from "./target.ts";

async function makeEmbedded(): Promise<Target> {
  const storePath = await Deno.makeTempDir({ prefix: "zester-embedded-" });
  const login = { user: "zester", password: crypto.randomUUID() };
  const start = () => startEmbedded({ clock, random, storePath, users: [login] });
  let broker = await start();
  return {
    connect: (identity) =>
      connectNats({
        servers: [broker.url],
        ...login,
        role: "master",
        identity,
        mode: "cli",
        name: `contract ${identity}`,
      }),
    async restart() {
      await broker.close();
      broker = await start();
    },
    async close() {
      await broker.close();
      await Deno.remove(storePath, { recursive: true });
    },
  };
}

const embedded: TargetMaker = { name: "the embedded server", make: makeEmbedded };

busContract(embedded);
bucketContract(embedded);
streamContract(embedded);
restartContract(embedded);

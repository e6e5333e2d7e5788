/** The contract suites on the engine in process. It is memory only, so there is nothing to restart. */
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { systemRandom as random } from "../../core/adapters/system_random.ts";
import { bucketContract } from "./bucket_contract.ts";
import { busContract } from "./bus_contract.ts";
import { streamContract } from "./stream_contract.ts";
import type { Target, TargetMaker } from "./target.ts";

function makeEngine(): Promise<Target> {
  const engine = createEngine({ clock, random });
  return Promise.resolve({
    connect(identity: string) {
      const { close, ...ports } = enginePorts(engine, { role: "master", identity, clock });
      return Promise.resolve({ ...ports, close: () => Promise.resolve(close()) });
    },
    close: () => Promise.resolve(engine.close()),
  });
}

const engine: TargetMaker = { name: "the engine in process", make: makeEngine };

busContract(engine);
bucketContract(engine);
streamContract(engine);

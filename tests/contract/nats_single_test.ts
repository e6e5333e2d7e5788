/** The contract suites on one nats-server. */
import { bucketContract } from "./bucket_contract.ts";
import { busContract } from "./bus_contract.ts";
import { natsSingle } from "./nats_targets.ts";
import { restartContract } from "./restart_contract.ts";
import { streamContract } from "./stream_contract.ts";

busContract(natsSingle);
bucketContract(natsSingle);
streamContract(natsSingle);
restartContract(natsSingle);

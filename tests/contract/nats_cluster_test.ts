/** The contract suites on a nats-server cluster of three. */
import { bucketContract } from "./bucket_contract.ts";
import { busContract } from "./bus_contract.ts";
import { natsCluster } from "./nats_targets.ts";
import { restartContract } from "./restart_contract.ts";
import { streamContract } from "./stream_contract.ts";

busContract(natsCluster);
bucketContract(natsCluster);
streamContract(natsCluster);
restartContract(natsCluster);

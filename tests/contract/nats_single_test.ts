/** The contract suites on one nats-server. */
import { bucketContract } from "./bucket_contract.ts";
import { busContract } from "./bus_contract.ts";
import { natsSingle } from "./nats_targets.ts";

busContract(natsSingle);
bucketContract(natsSingle);

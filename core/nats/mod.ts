/** The door to NATS: the ports of `core/ports.ts` over a real server. No other folder imports the NATS client. */
export { connectNats } from "./connect.ts";
export type { ConnectionStatus, NatsConnection, NatsOptions } from "./connect.ts";
export { enrolledPeels } from "./key_list.ts";

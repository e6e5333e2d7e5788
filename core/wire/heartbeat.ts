/** Heartbeats: that a master or a peel is alive, and what it is. */
import {
  jid,
  listOf,
  masterId,
  message,
  orEmpty,
  ownVersion,
  required,
  text,
  timeMs,
  type TypeOf,
  version,
} from "./codec.ts";

export const masterHeartbeatMessage = message("MasterHeartbeat", {
  v: version,
  masterId: required("master_id", masterId),
  activeJobs: orEmpty("active_jobs", listOf(jid), () => []),
  timestampMs: required("timestamp", timeMs),
});

export type MasterHeartbeat = TypeOf<typeof masterHeartbeatMessage>;

export const { encode: encodeMasterHeartbeat, decode: decodeMasterHeartbeat } =
  masterHeartbeatMessage;

/** Has no `v`: `protocol` is the version that the peel speaks. */
export const peelHeartbeatMessage = message("PeelHeartbeat", {
  timestampMs: required("ts", timeMs),
  version: orEmpty("version", text, () => ""),
  protocol: ownVersion("protocol"),
});

export type PeelHeartbeat = TypeOf<typeof peelHeartbeatMessage>;

export const { encode: encodePeelHeartbeat, decode: decodePeelHeartbeat } = peelHeartbeatMessage;

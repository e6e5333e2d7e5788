/** Ack: a peel has accepted a job, journaled it, and is about to run it. */
import { jid, message, peelId, required, timeMs, type TypeOf, version } from "./codec.ts";

export const ackMessage = message("Ack", {
  v: version,
  jid: required("jid", jid),
  peelId: required("peel_id", peelId),
  timestampMs: required("timestamp", timeMs),
});

export type Ack = TypeOf<typeof ackMessage>;

export const { encode: encodeAck, decode: decodeAck } = ackMessage;

/** Event: something that happened on a peel, an operator's doing or a master's. Who sent it is in the subject, not here. */
import {
  count,
  dataMap,
  eventId,
  message,
  optional,
  orEmpty,
  required,
  text,
  timeMs,
  type TypeOf,
  version,
} from "./codec.ts";

export const eventMessage = message("Event", {
  v: version,
  id: required("id", eventId),
  /** Must equal the tag in the subject; empty means "as in the subject". */
  tag: orEmpty("tag", text, () => ""),
  data: optional("data", dataMap),
  timestampMs: required("ts", timeMs),
  origin: optional("origin", text),
  depth: optional("depth", count),
});

export type Event = TypeOf<typeof eventMessage>;

export const { encode: encodeEvent, decode: decodeEvent } = eventMessage;

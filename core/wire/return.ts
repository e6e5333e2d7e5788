/** Return: what came back from one peel for one job. `unreachable` is set only on those that a master made up. */
import {
  durationMs,
  flag,
  jid,
  message,
  optional,
  orNull,
  peelId,
  required,
  text,
  timeMs,
  type TypeOf,
  version,
} from "./codec.ts";
import { execResponseMessage } from "./exec.ts";

export const returnMessage = message("Return", {
  v: version,
  jid: required("jid", jid),
  peelId: required("peel_id", peelId),
  success: required("success", flag),
  returnData: orNull("return_data", execResponseMessage.schema),
  error: optional("error", text),
  durationMs: required("duration", durationMs),
  timestampMs: required("timestamp", timeMs),
  unreachable: optional("unreachable", flag),
});

export type Return = TypeOf<typeof returnMessage>;

export const { encode: encodeReturn, decode: decodeReturn } = returnMessage;

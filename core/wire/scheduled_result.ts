/** ScheduledResult: what a run did that the peel's own schedule started. Who ran it is in the subject. */
import {
  dataMap,
  durationMs,
  flag,
  jid,
  message,
  optional,
  orEmpty,
  orNull,
  required,
  text,
  timeMs,
  type TypeOf,
  version,
} from "./codec.ts";
import { execResponseMessage } from "./exec.ts";

export const scheduledResultMessage = message("ScheduledResult", {
  v: version,
  jid: required("jid", jid),
  entry: required("entry", text),
  module: required("module", text.min(1)),
  args: orEmpty("args", dataMap, () => ({})),
  success: required("success", flag),
  error: optional("error", text),
  returnData: orNull("return_data", execResponseMessage.schema),
  durationMs: required("duration", durationMs),
  timestampMs: required("timestamp", timeMs),
});

export type ScheduledResult = TypeOf<typeof scheduledResultMessage>;

export const { encode: encodeScheduledResult, decode: decodeScheduledResult } =
  scheduledResultMessage;

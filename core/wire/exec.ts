/** ExecRequest and ExecResponse: one function for one peel, and what it did, state by state. */
import {
  count,
  dataMap,
  durationMs,
  flag,
  jid,
  listOf,
  message,
  omitEmpty,
  optional,
  orEmpty,
  peelId,
  required,
  text,
  textMap,
  type TypeOf,
  uint64,
  version,
} from "./codec.ts";

export const execRequestMessage = message("ExecRequest", {
  v: version,
  jid: required("jid", jid),
  module: required("module", text.min(1)),
  id: orEmpty("id", text, () => ""),
  args: orEmpty("args", dataMap, () => ({})),
  epoch: omitEmpty("epoch", uint64, () => 0n),
  reactorDepth: optional("rdepth", count),
  /** How long the peel may take; the default of the function when absent. */
  timeoutMs: optional("timeout", durationMs),
});

export type ExecRequest = TypeOf<typeof execRequestMessage>;

export const { encode: encodeExecRequest, decode: decodeExecRequest } = execRequestMessage;

/** Only ever part of an ExecResponse. */
export const stateResultMessage = message("StateResult", {
  name: required("name", text),
  changed: required("changed", flag),
  diff: orEmpty("diff", text, () => ""),
  durationMs: required("duration", durationMs),
  details: orEmpty("details", textMap, () => ({})),
  error: optional("error", text),
  skipped: optional("skipped", flag),
  skipReason: optional("skip_reason", text),
});

export type StateResult = TypeOf<typeof stateResultMessage>;

export const execResponseMessage = message("ExecResponse", {
  v: version,
  peelId: required("peel_id", peelId),
  jid: required("jid", jid),
  success: required("success", flag),
  test: optional("test", flag),
  results: orEmpty("results", listOf(stateResultMessage.schema), () => []),
  error: optional("error", text),
});

export type ExecResponse = TypeOf<typeof execResponseMessage>;

export const { encode: encodeExecResponse, decode: decodeExecResponse } = execResponseMessage;

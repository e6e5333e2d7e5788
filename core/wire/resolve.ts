/** Resolve: who matches a target. A long answer comes in pages: the next request says after whom to go on. */
import {
  count,
  dataMap,
  flag,
  listOf,
  message,
  omitEmpty,
  optional,
  orEmpty,
  peelId,
  required,
  text,
  type TypeOf,
  version,
} from "./codec.ts";

export const resolveRequestMessage = message("ResolveRequest", {
  v: version,
  expr: orEmpty("expr", text, () => ""),
  /** Facts of those that match. Operators only. */
  wantFacts: optional("want_facts", flag),
  /** Why each one matches. Operators only. */
  wantWhy: optional("want_why", flag),
  /** The last peel of the page before. */
  after: optional("after", peelId),
});

export type ResolveRequest = TypeOf<typeof resolveRequestMessage>;

export const { encode: encodeResolveRequest, decode: decodeResolveRequest } = resolveRequestMessage;

const reasonMessage = message("Reason", {
  term: required("term", text),
  found: optional("found", text),
});

const whyMessage = message("Why", {
  peelId: required("peel_id", peelId),
  reasons: orEmpty("reasons", listOf(reasonMessage.schema), () => []),
});

export const resolveResponseMessage = message("ResolveResponse", {
  v: version,
  /** Sorted. */
  peels: omitEmpty("peels", listOf(peelId), () => []),
  /** How many match in all. */
  total: orEmpty("total", count, () => 0),
  /** Whether there are some after the last of this page. */
  more: optional("more", flag),
  facts: optional("facts", dataMap),
  why: omitEmpty("why", listOf(whyMessage.schema), () => []),
  /** A code of `core/errors.ts`, or of a newer master's; the answer is an error then. */
  code: optional("code", text),
  err: optional("err", text),
  fix: optional("fix", text),
});

export type ResolveResponse = TypeOf<typeof resolveResponseMessage>;

export const { encode: encodeResolveResponse, decode: decodeResolveResponse } =
  resolveResponseMessage;

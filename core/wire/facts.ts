/** Facts: what a peel says of itself. (boot, sequence) tells a master which of two is newer, whatever order they come in. */
import {
  dataMap,
  masterId,
  message,
  optional,
  orEmpty,
  peelId,
  required,
  text,
  timeMs,
  type TypeOf,
  uint64,
  version,
} from "./codec.ts";

export const factsMessage = message("Facts", {
  v: version,
  /** Greater after each start of the peel. */
  boot: required("boot", uint64),
  /** Greater with each message since that start. */
  sequence: required("sequence", uint64),
  facts: orEmpty("facts", dataMap, () => ({})),
});

export type Facts = TypeOf<typeof factsMessage>;

export const { encode: encodeFacts, decode: decodeFacts } = factsMessage;

/** The record in the bucket, made by the master that took the facts. */
export const factsRecordMessage = message("FactsRecord", {
  v: version,
  peelId: required("peel_id", peelId),
  boot: required("boot", uint64),
  sequence: required("sequence", uint64),
  facts: orEmpty("facts", dataMap, () => ({})),
  /** Who stored it, and when by its clock. */
  master: required("master", masterId),
  storedMs: required("stored", timeMs),
});

export type FactsRecord = TypeOf<typeof factsRecordMessage>;

export const { encode: encodeFactsRecord, decode: decodeFactsRecord } = factsRecordMessage;

/** What a master answers: what is stored now. A peel that finds something newer than its own continues above that. */
export const factsAnswerMessage = message("FactsAnswer", {
  v: version,
  boot: required("boot", uint64),
  sequence: required("sequence", uint64),
  /** Why these facts will never be stored; resending them is useless. */
  refused: optional("refused", text),
});

export type FactsAnswer = TypeOf<typeof factsAnswerMessage>;

export const { encode: encodeFactsAnswer, decode: decodeFactsAnswer } = factsAnswerMessage;

/** Which of two is newer: positive when the first is. */
export function compareAge(
  a: { readonly boot: bigint; readonly sequence: bigint },
  b: { readonly boot: bigint; readonly sequence: bigint },
): number {
  const order = a.boot === b.boot ? a.sequence - b.sequence : a.boot - b.boot;
  return order > 0n ? 1 : order < 0n ? -1 : 0;
}

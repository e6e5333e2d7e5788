/** Facts: what a peel says of itself. (boot, sequence) tells a master which of two is newer, whatever order they come in. */
import { dataMap, message, orEmpty, required, type TypeOf, uint64, version } from "./codec.ts";

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

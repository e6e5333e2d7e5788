/** The chance port over the machine's generator. Everything it gives is fit for keys and nonces. */
import type { Random } from "../ports.ts";

/** What one call of the generator gives at most. */
const CHUNK_BYTES = 65_536;
const FLOAT_STEPS = 2 ** 53;
const LOW_WORD_STEPS = 2 ** 32;
const HIGH_WORD_BITS_DROPPED = 11;

/** The real generator: what every program but a simulation runs on. */
export const systemRandom: Random = {
  bytes,
  float,
};

// The runtime's own generator, not `node:crypto`: loading that would double the start of the CLI.
function bytes(length: number): Uint8Array<ArrayBuffer> {
  const filled = new Uint8Array(length);
  for (let at = 0; at < length; at += CHUNK_BYTES) {
    crypto.getRandomValues(filled.subarray(at, at + CHUNK_BYTES));
  }
  return filled;
}

/** 53 bits of chance over 2^53: every value a double can hold evenly, never 1. */
function float(): number {
  const words = new DataView(bytes(8).buffer);
  const high = words.getUint32(0) >>> HIGH_WORD_BITS_DROPPED;
  return (high * LOW_WORD_STEPS + words.getUint32(4)) / FLOAT_STEPS;
}

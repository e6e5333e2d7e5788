/**
 * Reads a return as a peel sent it into one that masters can store and pass on. A peel chooses how it encodes: what is small on
 * the wire may be too large, or have too many parts, once we encode it again, and must then neither stop a master nor
 * reach an operator as a message that cannot be read.
 */
import { isZesterError } from "../../core/errors.ts";
import {
  DECODE_ITEMS_MAX,
  QUERY_PAGE_BYTES_MAX,
  RETURN_ERROR_LENGTH_MAX,
} from "../../core/limits.ts";
import { decodeReturn, encodeReturn, type Return } from "../../core/wire/return.ts";

/** Our encoding writes keys and wide numbers that a peel may leave out or write short: at most this many times its bytes. */
const SWELLING = 2;
/** A state result and a return, each with all its keys and values. */
const RESULT_ITEMS = 20;
const RETURN_ITEMS = 40;

/** Decodes what a peel returned; what is too much to be kept gives way to a word about its size. Throws as decoders do. */
export function decodePeelReturn(bytes: Uint8Array): Return {
  const { unreachable: _, ...given } = decodeReturn(bytes); // that one is for masters to say
  return canBeKept(given, bytes.length) ? given : shortened(given, bytes.length);
}

function canBeKept(given: Return, bytes: number): boolean {
  // Half of what a reader takes: other returns may share a message with it.
  if (itemsOf(given) > DECODE_ITEMS_MAX / 2) return false;
  return bytes * SWELLING <= QUERY_PAGE_BYTES_MAX || encodedBytes(given) <= QUERY_PAGE_BYTES_MAX;
}

function itemsOf({ returnData }: Return): number {
  const results = returnData?.results ?? [];
  return results.reduce(
    (sum, { details }) => sum + RESULT_ITEMS + 2 * Object.keys(details).length,
    RETURN_ITEMS,
  );
}

function encodedBytes(given: Return): number {
  try {
    return encodeReturn(given).length;
  } catch (thrown) {
    if (isZesterError(thrown, "payload_too_large")) return Infinity;
    throw thrown;
  }
}

function shortened(given: Return, bytes: number): Return {
  const { returnData, error } = given;
  const cut = error === undefined ? {} : { error: beginningOf(error) };
  if (returnData === null) return { ...given, ...cut };
  const result = {
    name: "result",
    changed: returnData.results.some(({ changed }) => changed),
    diff: "",
    durationMs: given.durationMs,
    details: {
      result: `too large to keep: ${bytes} bytes in ${returnData.results.length} results`,
    },
  };
  const { error: inner, ...data } = returnData;
  const cutInner = inner === undefined ? {} : { error: beginningOf(inner) };
  return { ...given, ...cut, returnData: { ...data, ...cutInner, results: [result] } };
}

function beginningOf(text: string): string {
  return text.slice(0, RETURN_ERROR_LENGTH_MAX).toWellFormed();
}

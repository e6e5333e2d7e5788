/**
 * MessagePack, both ways, for every payload and stored value. The encoder writes one form for each value; the decoder takes
 * whatever a hostile sender may put on the bus and answers with a value or with one error, fast and without a crash.
 */
import { Decoder } from "@msgpack/msgpack";
import { type MarkedText, scan } from "./_msgpack_scan.ts";
import { write } from "./_msgpack_write.ts";
import { ZesterError } from "./errors.ts";
import { PAYLOAD_BYTES_MAX } from "./limits.ts";

// No cache of keys: it gains nothing on our messages, and a hundred thousand strange keys make it search for 0.1 s.
const decoder = new Decoder({ useBigInt64: true, keyDecoder: null });

/**
 * Bytes of a value made of null, booleans, numbers, bigints, text, bytes, dates, lists and plain maps. Keys are sorted and
 * undefined ones left out, so equal values have equal bytes. An integer has one form, be it a number or a bigint.
 * Throws `encode_failed`, or `payload_too_large` for what no decoder of ours would take.
 */
export function encode(value: unknown, what = "value"): Uint8Array {
  return write(value, what);
}

/**
 * The value that the bytes hold. Integers are numbers where a number holds them exactly, else bigints; timestamps are dates.
 * Throws `decode_failed` or `payload_too_large`; `what` names the message in the error.
 */
export function decode(bytes: Uint8Array, what: string): unknown {
  if (bytes.length > PAYLOAD_BYTES_MAX) {
    throw new ZesterError(
      "payload_too_large",
      `${what}: ${bytes.length} bytes, at most ${PAYLOAD_BYTES_MAX} are allowed`,
    );
  }
  const { hasWideIntegers, markedTexts } = scan(bytes, what);
  const value = decoder.decode(doubleMarks(bytes, markedTexts));
  return hasWideIntegers ? narrow(value) : value;
}

/**
 * Writes each leading byte order mark twice, because the library drops one from a long text: content would change on the way,
 * and two keys that differ by the mark would become one after the check for duplicates.
 */
function doubleMarks(bytes: Uint8Array, texts: readonly MarkedText[]): Uint8Array {
  if (texts.length === 0) return bytes;
  const parts: Uint8Array[] = [];
  let copiedTo = 0;
  for (const { headerAt, bodyAt, length } of texts) {
    // A header with a length of 32 bits, then the second mark.
    const header = new Uint8Array([0xdb, 0, 0, 0, 0, 0xef, 0xbb, 0xbf]);
    new DataView(header.buffer).setUint32(1, length + 3);
    parts.push(bytes.subarray(copiedTo, headerAt), header);
    copiedTo = bodyAt;
  }
  parts.push(bytes.subarray(copiedTo));
  return concatenate(parts);
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Turns bigints into numbers, in place, where nothing is lost by it. The depth is bounded by the scan. */
function narrow(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = narrow(item);
  } else if (isMap(value)) {
    for (const key of Object.keys(value)) value[key] = narrow(value[key]);
  }
  return value;
}

/** Whether a decoded value is a map. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Date) && !(value instanceof Uint8Array);
}

/**
 * MessagePack, both ways, for every payload and stored value. The encoder writes one form for each value; the decoder takes
 * whatever a hostile sender may put on the bus and answers with a value or with one error, fast and without a crash.
 */
import { Decoder, Encoder } from "@msgpack/msgpack";
import { type MarkedText, scan } from "./_msgpack_scan.ts";
import { ZesterError } from "./errors.ts";
import { DECODE_DEPTH_MAX, PAYLOAD_BYTES_MAX } from "./limits.ts";

/** What lies outside is written with 64 bits, for which the library wants a bigint. */
const NARROW_MIN = -(2 ** 31);
const NARROW_MAX = 2 ** 32 - 1;
const WIDE_MIN = -(2n ** 63n);
const WIDE_MAX = 2n ** 64n - 1n;

const encoder = new Encoder({
  useBigInt64: true,
  sortKeys: true,
  // One more than what we allow ourselves: values inside the deepest map count as a level in the library.
  maxDepth: DECODE_DEPTH_MAX + 1,
});
// No cache of keys: it gains nothing on our messages, and a hundred thousand strange keys make it search for 0.1 s.
const decoder = new Decoder({ useBigInt64: true, keyDecoder: null });

/**
 * Bytes of a value made of null, booleans, numbers, bigints, text, bytes, dates, lists and plain maps. Keys are sorted and
 * undefined ones left out, so equal values have equal bytes. An integer has one form, be it a number or a bigint.
 * Throws `encode_failed`, or `payload_too_large` for what no decoder of ours would take.
 */
export function encode(value: unknown, what = "value"): Uint8Array {
  const bytes = encoder.encode(new Preparation(what).of(value, 0));
  if (bytes.length > PAYLOAD_BYTES_MAX) tooLarge(what, `${bytes.length} bytes`);
  return bytes;
}

/**
 * The value that the bytes hold. Integers are numbers where a number holds them exactly, else bigints; timestamps are dates.
 * Throws `decode_failed` or `payload_too_large`; `what` names the message in the error.
 */
export function decode(bytes: Uint8Array, what: string): unknown {
  if (bytes.length > PAYLOAD_BYTES_MAX) tooLarge(what, `${bytes.length} bytes`);
  const { hasWideIntegers, markedTexts } = scan(bytes, what);
  const value = decoder.decode(doubleMarks(bytes, markedTexts));
  return hasWideIntegers ? narrow(value) : value;
}

function tooLarge(what: string, found: string): never {
  throw new ZesterError(
    "payload_too_large",
    `${what}: ${found}, at most ${PAYLOAD_BYTES_MAX} are allowed`,
  );
}

/** Copies a value into what the library encodes as we want it, and refuses what it would encode as something else. */
class Preparation {
  readonly #what: string;
  #bytes = 0;

  constructor(what: string) {
    this.#what = what;
  }

  of(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "undefined":
        return null;
      case "boolean":
        return value;
      case "number":
        return isWideInteger(value) ? BigInt(value) : value;
      case "bigint":
        return this.#integer(value);
      case "string":
        return this.#text(value);
      case "object":
        return value === null ? null : this.#object(value, depth);
      default:
        return this.#refuse(`a ${typeof value} cannot be encoded`);
    }
  }

  #integer(value: bigint): number | bigint {
    if (value < WIDE_MIN || value > WIDE_MAX) this.#refuse(`${value} does not fit 64 bits`);
    return value >= NARROW_MIN && value <= NARROW_MAX ? Number(value) : value;
  }

  #text(value: string): string {
    this.#count(value.length);
    if (!value.isWellFormed()) this.#refuse("text holds half of a surrogate pair");
    return value;
  }

  #object(value: object, depth: number): unknown {
    if (value instanceof Uint8Array) {
      this.#count(value.length);
      return value;
    }
    if (value instanceof Date) {
      return Number.isNaN(value.getTime()) ? this.#refuse("a date is not valid") : value;
    }
    if (depth >= DECODE_DEPTH_MAX) this.#refuse(`nested more than ${DECODE_DEPTH_MAX} deep`);
    if (Array.isArray(value)) {
      this.#count(value.length);
      return Array.from(value, (item) => this.of(item, depth + 1));
    }
    return this.#map(value, depth);
  }

  #map(value: object, depth: number): Record<string, unknown> {
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      this.#refuse(`a ${value.constructor?.name ?? "special object"} cannot be encoded`);
    }
    const copy: Record<string, unknown> = Object.create(null);
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      if (key === "__proto__") this.#refuse('the key "__proto__" is not allowed');
      copy[this.#text(key)] = this.of(item, depth + 1);
    }
    return copy;
  }

  /** Gives up on what is surely too large before it is encoded. */
  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > PAYLOAD_BYTES_MAX) tooLarge(this.#what, `${this.#bytes} bytes or more`);
  }

  #refuse(found: string): never {
    throw new ZesterError("encode_failed", `${this.#what}: ${found}`);
  }
}

function isWideInteger(value: number): boolean {
  return Number.isSafeInteger(value) && (value < NARROW_MIN || value > NARROW_MAX);
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

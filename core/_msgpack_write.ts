/**
 * Writes values as MessagePack in one pass, in the one form that each has, and refuses what has none. The library needs a copy of
 * every value first, in which all is as it wants it; a test holds what is written here against what it writes.
 */
import { ZesterError } from "./errors.ts";
import { DECODE_DEPTH_MAX, PAYLOAD_BYTES_MAX } from "./limits.ts";

const WIDE_MIN = -(2n ** 63n);
const WIDE_MAX = 2n ** 64n - 1n;
const NARROW_MIN = -(2n ** 31n);
const NARROW_MAX = 2n ** 32n - 1n;
/** Room at first; doubled as needed. */
const ROOM = 1_024;
/** A writer whose room grew beyond this is not kept. */
const KEPT_ROOM_MAX = 65_536;
/** From here on one call out of the engine is cheaper than a loop. */
const LOOP_LENGTH_MAX = 64;
const MS_PER_SECOND = 1_000;
const NANOSECONDS_PER_MS = 1_000_000;
const UINT32 = 2 ** 32;
const TIMESTAMP64_SECONDS_MAX = 2 ** 34 - 1;
const TEXT = new TextEncoder();

let spare: Writer | undefined;

/** The bytes of a value; `what` names the message in the error. */
export function write(value: unknown, what: string): Uint8Array {
  // Taken away while it is used: a getter in the value may encode something itself.
  const writer = spare ?? new Writer();
  spare = undefined;
  const bytes = writer.whole(value, what);
  if (bytes.length <= KEPT_ROOM_MAX) spare = writer;
  return bytes;
}

class Writer {
  #bytes = new Uint8Array(ROOM);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  #what = "";

  whole(value: unknown, what: string): Uint8Array {
    this.#at = 0;
    this.#what = what;
    this.#value(value, 0);
    return this.#bytes.slice(0, this.#at);
  }

  #value(value: unknown, depth: number): void {
    switch (typeof value) {
      case "undefined":
        return this.#byte(0xc0);
      case "boolean":
        return this.#byte(value ? 0xc3 : 0xc2);
      case "number":
        return this.#number(value);
      case "bigint":
        return this.#bigint(value);
      case "string":
        return this.#text(value);
      case "object":
        return value === null ? this.#byte(0xc0) : this.#object(value, depth);
      default:
        return this.#refuse(`a ${typeof value} cannot be encoded`);
    }
  }

  #number(value: number): void {
    if (!Number.isSafeInteger(value)) return this.#float(value);
    if (value >= 0) {
      if (value < 0x80) return this.#byte(value);
      if (value < 0x100) return this.#head(0xcc, 1, value);
      if (value < 0x10000) return this.#head(0xcd, 2, value);
      if (value < UINT32) return this.#head(0xce, 4, value);
    } else {
      if (value >= -0x20) return this.#byte(value & 0xff);
      if (value >= -0x80) return this.#head(0xd0, 1, value);
      if (value >= -0x8000) return this.#head(0xd1, 2, value);
      if (value >= -0x80000000) return this.#head(0xd2, 4, value);
    }
    return this.#wide(BigInt(value));
  }

  #bigint(value: bigint): void {
    if (value >= NARROW_MIN && value <= NARROW_MAX) return this.#number(Number(value));
    if (value < WIDE_MIN || value > WIDE_MAX) this.#refuse(`${value} does not fit 64 bits`);
    this.#wide(value);
  }

  #wide(value: bigint): void {
    const at = this.#take(9);
    this.#bytes[at] = value < 0n ? 0xd3 : 0xcf;
    this.#view.setBigInt64(at + 1, value);
  }

  #float(value: number): void {
    const at = this.#take(9);
    this.#bytes[at] = 0xcb;
    this.#view.setFloat64(at + 1, value);
  }

  /** Nearly all text is short and ASCII. */
  #text(value: string): void {
    const { length } = value;
    if (length > LOOP_LENGTH_MAX) return this.#longText(value);
    const headAt = this.#at;
    this.#textHead(length);
    const at = this.#take(length);
    const bytes = this.#bytes;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        this.#at = headAt;
        return this.#longText(value);
      }
      bytes[at + index] = code;
    }
  }

  #longText(value: string): void {
    if (value.length > PAYLOAD_BYTES_MAX) this.#tooLarge(value.length);
    if (!value.isWellFormed()) this.#refuse("text holds half of a surrogate pair");
    const encoded = TEXT.encode(value);
    this.#textHead(encoded.length);
    this.#body(encoded);
  }

  #textHead(length: number): void {
    if (length < 32) this.#byte(0xa0 + length);
    else if (length < 0x100) this.#head(0xd9, 1, length);
    else if (length < 0x10000) this.#head(0xda, 2, length);
    else this.#head(0xdb, 4, length);
  }

  #object(value: object, depth: number): void {
    if (value instanceof Uint8Array) return this.#binary(value);
    if (value instanceof Date) return this.#time(value.getTime());
    if (depth >= DECODE_DEPTH_MAX) this.#refuse(`nested more than ${DECODE_DEPTH_MAX} deep`);
    if (!Array.isArray(value)) return this.#map(value, depth);
    this.#count(value.length, 0x90, 0xdc);
    // By index: a hole is written as nothing, like undefined.
    for (let index = 0; index < value.length; index++) this.#value(value[index], depth + 1);
  }

  #map(value: object, depth: number): void {
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      this.#refuse(`a ${value.constructor?.name ?? "special object"} cannot be encoded`);
    }
    const items = value as Record<string, unknown>;
    const keys = Object.keys(items).filter((key) => items[key] !== undefined).sort();
    this.#count(keys.length, 0x80, 0xde);
    for (const key of keys) {
      if (key === "__proto__") this.#refuse('the key "__proto__" is not allowed');
      this.#text(key);
      this.#value(items[key], depth + 1);
    }
  }

  #count(count: number, small: number, large: number): void {
    if (count < 16) this.#byte(small + count);
    else if (count < 0x10000) this.#head(large, 2, count);
    else this.#head(large + 1, 4, count);
  }

  #binary(value: Uint8Array): void {
    if (value.length < 0x100) this.#head(0xc4, 1, value.length);
    else if (value.length < 0x10000) this.#head(0xc5, 2, value.length);
    else this.#head(0xc6, 4, value.length);
    this.#body(value);
  }

  /** The shortest of the three forms of a timestamp that holds it. */
  #time(ms: number): void {
    if (Number.isNaN(ms)) this.#refuse("a date is not valid");
    const seconds = Math.floor(ms / MS_PER_SECOND);
    const nanoseconds = (ms - seconds * MS_PER_SECOND) * NANOSECONDS_PER_MS;
    if (seconds < 0 || seconds > TIMESTAMP64_SECONDS_MAX) {
      const at = this.#take(15);
      this.#bytes.set([0xc7, 12, 0xff], at);
      this.#view.setUint32(at + 3, nanoseconds);
      this.#view.setBigInt64(at + 7, BigInt(seconds));
    } else if (nanoseconds === 0 && seconds < UINT32) {
      const at = this.#take(6);
      this.#view.setUint16(at, 0xd6ff);
      this.#view.setUint32(at + 2, seconds);
    } else {
      const at = this.#take(10);
      this.#view.setUint16(at, 0xd7ff);
      this.#view.setUint32(at + 2, nanoseconds * 4 + Math.floor(seconds / UINT32));
      this.#view.setUint32(at + 6, seconds % UINT32);
    }
  }

  #body(bytes: Uint8Array): void {
    const at = this.#take(bytes.length);
    this.#bytes.set(bytes, at);
  }

  #byte(value: number): void {
    const at = this.#take(1);
    this.#bytes[at] = value;
  }

  /** A first byte, then a number of this width; the setters take the low bits of a negative one, as the format does. */
  #head(first: number, width: 1 | 2 | 4, value: number): void {
    const at = this.#take(1 + width);
    this.#bytes[at] = first;
    if (width === 1) this.#view.setUint8(at + 1, value);
    else if (width === 2) this.#view.setUint16(at + 1, value);
    else this.#view.setUint32(at + 1, value);
  }

  /** Room for so many bytes more: where they begin. What is surely too large is given up before it is written. */
  #take(count: number): number {
    const at = this.#at;
    const end = at + count;
    if (end > PAYLOAD_BYTES_MAX) this.#tooLarge(end);
    if (end > this.#bytes.length) this.#grow(end);
    this.#at = end;
    return at;
  }

  #grow(needed: number): void {
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }

  #tooLarge(bytes: number): never {
    throw new ZesterError(
      "payload_too_large",
      `${this.#what}: ${bytes} bytes or more, at most ${PAYLOAD_BYTES_MAX} are allowed`,
    );
  }

  #refuse(found: string): never {
    throw new ZesterError("encode_failed", `${this.#what}: ${found}`);
  }
}

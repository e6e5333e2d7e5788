/**
 * Decides whether bytes are one MessagePack value that is safe to decode. One linear pass, no recursion, nothing
 * allocated in proportion to a length that the sender merely claims: every length is held against the bytes that are there.
 */
import { ZesterError } from "./errors.ts";
import { DECODE_DEPTH_MAX, DECODE_ITEMS_MAX } from "./limits.ts";

/** Where a text is that begins with a byte order mark and is long enough for the decoder to drop it. */
export interface MarkedText {
  readonly headerAt: number;
  readonly bodyAt: number;
  readonly length: number;
}

/** What the pass found out for the decoder. */
export interface Scanned {
  /** Whether there are 64-bit integers, which come out of the decoder as bigint. */
  readonly hasWideIntegers: boolean;
  /** In the order of the bytes. */
  readonly markedTexts: readonly MarkedText[];
}

type Format = "plain" | "wide" | "text" | "binary" | "time" | "fixedTime" | "list" | "map";

/** The formats from 0xc0 to 0xdf. The number is the width of the value, or of the length before it. */
const FORMATS: readonly (readonly [Format, number] | null)[] = [
  ["plain", 0], // nil
  null, // never used
  ["plain", 0], // false
  ["plain", 0], // true
  ["binary", 1],
  ["binary", 2],
  ["binary", 4],
  ["time", 1],
  ["time", 2],
  ["time", 4],
  ["plain", 4], // float 32
  ["plain", 8], // float 64
  ["plain", 1], // uint 8
  ["plain", 2],
  ["plain", 4],
  ["wide", 8],
  ["plain", 1], // int 8
  ["plain", 2],
  ["plain", 4],
  ["wide", 8],
  ["fixedTime", 1],
  ["fixedTime", 2],
  ["fixedTime", 4],
  ["fixedTime", 8],
  ["fixedTime", 16],
  ["text", 1],
  ["text", 2],
  ["text", 4],
  ["list", 2],
  ["list", 4],
  ["map", 2],
  ["map", 4],
];

const EXTENSION_TIMESTAMP = -1;
const NANOSECONDS_MAX = 999_999_999;
/** The range of a Date, which is what a timestamp becomes. */
const SECONDS_MAX = 8_640_000_000_000n;
/** The library hands longer texts to a TextDecoder that drops a leading mark; a test notices if that changes. */
const TEXT_DECODER_LENGTH_MIN = 201;

/** A list or a map whose items are still to come. */
interface Frame {
  left: number;
  /** Keys seen, as byte strings; undefined for a list. */
  readonly keys: Set<string> | undefined;
}

/** Refuses bytes that are not exactly one acceptable value, with the offset of what is wrong. */
export function scan(bytes: Uint8Array, what: string): Scanned {
  const scanner = new Scanner(bytes, what);
  scanner.run();
  return scanner;
}

class Scanner implements Scanned {
  hasWideIntegers = false;
  readonly markedTexts: MarkedText[] = [];
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #what: string;
  readonly #open: Frame[] = [];
  #at = 0;
  #items = 0;

  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#what = what;
  }

  run(): void {
    this.#value();
    for (let frame = this.#open.at(-1); frame !== undefined; frame = this.#open.at(-1)) {
      if (frame.left === 0) {
        this.#open.pop();
        continue;
      }
      frame.left--;
      if (frame.keys !== undefined) this.#key(frame.keys);
      this.#value();
    }
    if (this.#at < this.#bytes.length) {
      this.#refuse(this.#at, `${this.#bytes.length - this.#at} bytes follow the value`);
    }
  }

  #value(): void {
    const headAt = this.#at;
    const head = this.#head();
    if (head < 0x80 || head >= 0xe0) return; // small integers
    if (head < 0x90) return this.#enter(headAt, "map", head - 0x80);
    if (head < 0xa0) return this.#enter(headAt, "list", head - 0x90);
    if (head < 0xc0) return this.#text(headAt, head - 0xa0);
    const format = FORMATS[head - 0xc0];
    if (!format) this.#refuse(headAt, `0x${head.toString(16)} begins no value`);
    const [kind, width] = format;
    switch (kind) {
      case "plain":
        return this.#skip(headAt, width);
      case "wide":
        this.hasWideIntegers = true;
        return this.#skip(headAt, width);
      case "text":
        return this.#text(headAt, this.#length(headAt, width));
      case "binary":
        return this.#skip(headAt, this.#length(headAt, width));
      case "time":
        return this.#time(headAt, this.#length(headAt, width));
      case "fixedTime":
        return this.#time(headAt, width);
      case "list":
      case "map":
        return this.#enter(headAt, kind, this.#length(headAt, width));
    }
  }

  #enter(headAt: number, kind: "list" | "map", count: number): void {
    const items = kind === "map" ? count * 2 : count;
    // Each item takes a byte at least, so a larger count is a lie, told to make somebody allocate.
    this.#need(headAt, items);
    this.#items += items;
    if (this.#items > DECODE_ITEMS_MAX) {
      this.#refuse(headAt, `more than ${DECODE_ITEMS_MAX} values`);
    }
    if (this.#open.length >= DECODE_DEPTH_MAX) {
      this.#refuse(headAt, `lists and maps are nested more than ${DECODE_DEPTH_MAX} deep`);
    }
    this.#open.push({ left: count, keys: kind === "map" ? new Set() : undefined });
  }

  #key(seen: Set<string>): void {
    const headAt = this.#at;
    const head = this.#head();
    let length: number;
    if (head >= 0xa0 && head < 0xc0) length = head - 0xa0;
    else if (head >= 0xd9 && head <= 0xdb) length = this.#length(headAt, 1 << (head - 0xd9));
    else this.#refuse(headAt, "a map key is not text");
    const bodyAt = this.#at;
    this.#text(headAt, length);
    const key = byteString(this.#bytes, bodyAt, this.#at);
    if (key === "__proto__") this.#refuse(headAt, 'the map key "__proto__" is not allowed');
    if (seen.size === seen.add(key).size) {
      this.#refuse(headAt, `the map key ${quoted(this.#bytes, bodyAt, this.#at)} comes twice`);
    }
  }

  #text(headAt: number, length: number): void {
    const bodyAt = this.#at;
    this.#skip(headAt, length);
    const wrongAt = invalidUtf8At(this.#bytes, bodyAt, this.#at);
    if (wrongAt >= 0) this.#refuse(wrongAt, "text is not UTF-8");
    if (length >= TEXT_DECODER_LENGTH_MIN && beginsWithMark(this.#bytes, bodyAt)) {
      this.markedTexts.push({ headerAt: headAt, bodyAt, length });
    }
  }

  #time(headAt: number, length: number): void {
    this.#need(headAt, length + 1);
    const type = this.#view.getInt8(this.#at);
    if (type !== EXTENSION_TIMESTAMP) this.#refuse(headAt, `extension type ${type} is not known`);
    if (!isTimestamp(this.#view, this.#at + 1, length)) {
      this.#refuse(headAt, `${length} bytes are not a timestamp`);
    }
    this.#at += 1 + length;
  }

  #head(): number {
    const head = this.#bytes[this.#at];
    if (head === undefined) this.#refuse(this.#at, "the bytes end in the middle of a value");
    this.#at++;
    return head;
  }

  #length(headAt: number, width: number): number {
    this.#need(headAt, width);
    const at = this.#at;
    this.#at += width;
    if (width === 1) return this.#view.getUint8(at);
    return width === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  #skip(headAt: number, length: number): void {
    this.#need(headAt, length);
    this.#at += length;
  }

  #need(headAt: number, length: number): void {
    const left = this.#bytes.length - this.#at;
    if (length > left) {
      this.#refuse(headAt, `the value needs ${length} more bytes, ${left} are left`);
    }
  }

  #refuse(at: number, found: string): never {
    throw new ZesterError("decode_failed", `${this.#what}: at byte ${at}: ${found}`);
  }
}

function beginsWithMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

const LATIN1 = new TextDecoder("latin1");
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
/** From here on one call of a TextDecoder is cheaper than a loop. */
const LOOP_LENGTH_MAX = 64;

/** One character per byte: equal for equal texts only, and cheaper than decoding them. */
function byteString(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > LOOP_LENGTH_MAX) return LATIN1.decode(bytes.subarray(from, to));
  let text = "";
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at]!);
  return text;
}

/** The beginning of a text for an error message. */
function quoted(bytes: Uint8Array, from: number, to: number): string {
  return JSON.stringify(UTF8.decode(bytes.subarray(from, Math.min(to, from + LOOP_LENGTH_MAX))));
}

function isTimestamp(view: DataView, at: number, length: number): boolean {
  if (length === 4) return true;
  if (length === 8) return view.getUint32(at) >>> 2 <= NANOSECONDS_MAX;
  if (length !== 12) return false;
  const seconds = view.getBigInt64(at + 4);
  return view.getUint32(at) <= NANOSECONDS_MAX && seconds < SECONDS_MAX && seconds > -SECONDS_MAX;
}

/** Where the first byte is that cannot be UTF-8 (overlong forms and surrogates included), or -1. */
function invalidUtf8At(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const lead = bytes[at]!;
    if (lead < 0x80) {
      at++;
      continue;
    }
    const length = sequenceLength(lead);
    if (length === 0 || at + length > to || !isSecondByte(lead, bytes[at + 1]!)) return at;
    for (let next = at + 2; next < at + length; next++) {
      if ((bytes[next]! & 0xc0) !== 0x80) return at;
    }
    at += length;
  }
  return -1;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/** The second byte is where overlong forms, surrogates and what lies beyond U+10FFFF show. */
function isSecondByte(lead: number, second: number): boolean {
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}

/**
 * The log as bytes: how records are framed, checked and read back. No I/O.
 *
 *     head    magic (8) | version u32 | marker (8) | crc32 u32 of all before
 *     frame   marker (8) | length u32 | crc32 u32 of the body | body: MessagePack records, one after the other
 *
 * A frame is one commit: it is on disk before the next is written. So only the last frame can be torn, and nothing in
 * a torn frame was ever acknowledged; a bad frame with an intact one behind it is damage, not a crash. The marker is
 * random per file: whoever publishes messages cannot put bytes into the log that look like a frame.
 */
import { crc32 } from "node:zlib";
import { decodeMulti, Encoder } from "@msgpack/msgpack";
import { ZesterError } from "../core/errors.ts";
import { BROKER_LOG_BUFFER_BYTES } from "../core/limits.ts";
import type { LogRecord } from "./jetstream/types.ts";

const MAGIC = new TextEncoder().encode("ZESTRLOG");
const VERSION = 1;
const VERSION_AT = MAGIC.length;
const HEAD_MARKER_AT = VERSION_AT + 4;

/** Length of the random marker that every frame of one file starts with. */
export const MARKER_BYTES = 8;
const HEAD_CRC_AT = HEAD_MARKER_AT + MARKER_BYTES;
/** Length of the head of a log file. */
export const LOG_HEAD_BYTES = HEAD_CRC_AT + 4;

const LENGTH_AT = MARKER_BYTES;
const CRC_AT = LENGTH_AT + 4;
/** Length of what comes before the body of a frame. */
export const FRAME_HEAD_BYTES = CRC_AT + 4;

/** Every kind of record: what is not in here was written by a newer version. */
const RECORD_TYPES: Record<LogRecord["type"], true> = {
  stream_put: true,
  stream_delete: true,
  stored: true,
  removed: true,
  consumer_put: true,
  consumer_delete: true,
  consumer_delivered: true,
  consumer_settled: true,
};

/** The head of a new log file. */
export function encodeLogHead(marker: Uint8Array): Uint8Array {
  const head = new Uint8Array(LOG_HEAD_BYTES);
  const view = new DataView(head.buffer);
  head.set(MAGIC);
  view.setUint32(VERSION_AT, VERSION);
  head.set(marker, HEAD_MARKER_AT);
  view.setUint32(HEAD_CRC_AT, crc32(head.subarray(0, HEAD_CRC_AT)));
  return head;
}

/** The marker of the file with this head. */
export function decodeLogHead(head: Uint8Array): Uint8Array {
  const view = viewOf(head);
  if (!startsWith(head, 0, MAGIC)) throw damaged("the file does not start as a log does");
  if (view.getUint32(HEAD_CRC_AT) !== crc32(head.subarray(0, HEAD_CRC_AT))) {
    throw damaged("the head of the file does not fit its checksum");
  }
  const version = view.getUint32(VERSION_AT);
  if (version !== VERSION) throw damaged(`version ${version} of the format is not known`);
  return head.slice(HEAD_MARKER_AT, HEAD_CRC_AT);
}

/** Whether these bytes are what is left of a head that a crash cut off before anything else was written. */
export function isTornLogHead(bytes: Uint8Array): boolean {
  if (bytes.length >= LOG_HEAD_BYTES) return false;
  return bytes.subarray(0, MAGIC.length).every((byte, index) => byte === MAGIC[index]);
}

/** Where the body of a frame lies and what it must sum up to; null when no frame starts here. */
export interface FrameHead {
  length: number;
  crc: number;
}

/** Reads the head of a frame from its first `FRAME_HEAD_BYTES` bytes. */
export function decodeFrameHead(head: Uint8Array, marker: Uint8Array): FrameHead | null {
  if (head.length < FRAME_HEAD_BYTES || !startsWith(head, 0, marker)) return null;
  const view = viewOf(head);
  const length = view.getUint32(LENGTH_AT);
  return length === 0 ? null : { length, crc: view.getUint32(CRC_AT) };
}

/** Whether the body is the one that was written. */
export function isIntact(head: FrameHead, body: Uint8Array): boolean {
  return body.length === head.length && crc32(body) === head.crc;
}

/** The records of an intact body. */
export function decodeBody(body: Uint8Array): LogRecord[] {
  const records: LogRecord[] = [];
  for (const value of decodeMulti(body)) {
    if (!isRecord(value)) throw damaged("an intact frame holds a record of an unknown kind");
    // A copy, because the decoder gives views: one small message must not keep its whole frame in memory.
    records.push(value.type === "stored" ? { ...value, data: value.data.slice() } : value);
  }
  return records;
}

function isRecord(value: unknown): value is LogRecord {
  return typeof value === "object" && value !== null && "type" in value &&
    typeof value.type === "string" && Object.hasOwn(RECORD_TYPES, value.type);
}

/** First place at or after `from` where the marker stands, or -1. */
export function findMarker(bytes: Uint8Array, from: number, marker: Uint8Array): number {
  const first = marker[0] ?? 0;
  let at = bytes.indexOf(first, from);
  while (at !== -1 && !startsWith(bytes, at, marker)) at = bytes.indexOf(first, at + 1);
  return at;
}

/** Gathers the records of one commit into one frame. */
export class FrameBuilder {
  readonly #marker: Uint8Array;
  readonly #encoder = new Encoder({ ignoreUndefined: true });
  #bytes = new Uint8Array(BROKER_LOG_BUFFER_BYTES);
  #length = FRAME_HEAD_BYTES;

  constructor(marker: Uint8Array) {
    this.#marker = marker;
  }

  get isEmpty(): boolean {
    return this.#length === FRAME_HEAD_BYTES;
  }

  /** Bytes of the frame so far. */
  get length(): number {
    return this.#length;
  }

  add(record: LogRecord): void {
    const encoded = this.#encoder.encodeSharedRef(record);
    const wanted = this.#length + encoded.length;
    if (wanted > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(wanted, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(encoded, this.#length);
    this.#length = wanted;
  }

  /** The finished frame; the builder starts the next one. */
  finish(): Uint8Array {
    const frame = this.#bytes.subarray(0, this.#length);
    const view = viewOf(frame);
    frame.set(this.#marker);
    view.setUint32(LENGTH_AT, this.#length - FRAME_HEAD_BYTES);
    view.setUint32(CRC_AT, crc32(frame.subarray(FRAME_HEAD_BYTES)));
    this.#bytes = new Uint8Array(BROKER_LOG_BUFFER_BYTES);
    this.#length = FRAME_HEAD_BYTES;
    return frame;
  }
}

/** The error for a log that must not be used as it is. */
export function damaged(found: string): ZesterError {
  return new ZesterError("store_damaged", `broker, reading its log: ${found}`, {
    fix: "restore the folder from a backup, or move it away to start with an empty one",
  });
}

function startsWith(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (at + wanted.length > bytes.length) return false;
  for (let index = 0; index < wanted.length; index++) {
    if (bytes[at + index] !== wanted[index]) return false;
  }
  return true;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

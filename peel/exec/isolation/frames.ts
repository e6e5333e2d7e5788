/**
 * Messages over a pipe: four bytes that say how long one is, then MessagePack. The codec of the wire is not used, since it
 * takes no more than a message of the bus may have, and a module reads whole files.
 */
import { Decoder, Encoder } from "@msgpack/msgpack";
import { ZesterError } from "../../../core/errors.ts";
import { MODULE_FRAME_BYTES_MAX } from "../../../core/limits.ts";

const encoder = new Encoder({ ignoreUndefined: true });
const decoder = new Decoder({ keyDecoder: null });
const LENGTH_BYTES = 4;

/** The message with its length before it. Throws on what cannot be passed on. */
export function encodeFrame(message: unknown): Uint8Array {
  const body = encoder.encode(message);
  const frame = new Uint8Array(LENGTH_BYTES + body.length);
  new DataView(frame.buffer).setUint32(0, body.length);
  frame.set(body, LENGTH_BYTES);
  return frame;
}

/** Puts messages together from the pieces in which they come. */
export class FrameReader {
  #pieces: Uint8Array[] = [];
  #held = 0;

  /** The messages that are complete now. Throws `decode_failed` on what is none; nothing more can be read then. */
  add(piece: Uint8Array): unknown[] {
    this.#pieces.push(piece);
    this.#held += piece.length;
    const messages: unknown[] = [];
    for (let body = this.#next(); body !== null; body = this.#next()) messages.push(decoded(body));
    return messages;
  }

  #next(): Uint8Array | null {
    if (this.#held < LENGTH_BYTES) return null;
    const length = new DataView(this.#front(LENGTH_BYTES).buffer).getUint32(0);
    if (length > MODULE_FRAME_BYTES_MAX) {
      throw new ZesterError("decode_failed", `a message of ${length} bytes is too large`);
    }
    if (this.#held < LENGTH_BYTES + length) return null;
    const whole = this.#front(LENGTH_BYTES + length);
    this.#drop(whole.length);
    return whole.subarray(LENGTH_BYTES);
  }

  /** A copy of the first bytes that are held. */
  #front(length: number): Uint8Array<ArrayBuffer> {
    const front = new Uint8Array(length);
    let at = 0;
    for (const piece of this.#pieces) {
      if (at === length) break;
      const part = piece.subarray(0, length - at);
      front.set(part, at);
      at += part.length;
    }
    return front;
  }

  #drop(length: number): void {
    this.#held -= length;
    let left = length;
    while (left > 0) {
      const piece = this.#pieces[0]!;
      if (piece.length > left) this.#pieces[0] = piece.subarray(left);
      else this.#pieces.shift();
      left -= Math.min(left, piece.length);
    }
  }
}

function decoded(body: Uint8Array): unknown {
  try {
    return decoder.decode(body);
  } catch (cause) {
    throw new ZesterError("decode_failed", "a message that cannot be read", { cause });
  }
}

/**
 * The text form of Ed25519 keys that NATS uses (nkeys): base32 of a prefix, the 32 bytes, and a checksum. Written out here
 * because the CLI must not load the NATS packages to read its own key; the test compares it with `@nats-io/nkeys`.
 */
import { ZesterError } from "../errors.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const SEED_PREFIX = 18 << 3; // "S"

/** Kinds of key, by the byte that makes their first letter. */
const KIND_PREFIX = { account: 0, operator: 14 << 3, user: 20 << 3 } as const;

export type NkeyKind = keyof typeof KIND_PREFIX;

/** `A…`, `O…` or `U…`: a public key as text. */
export function encodePublicNkey(kind: NkeyKind, publicKey: Uint8Array): string {
  return base32Encode(withChecksum(Uint8Array.of(KIND_PREFIX[kind], ...publicKey)));
}

/** `SA…`, `SO…` or `SU…`: a private seed as text. Never log it. */
export function encodeSeedNkey(kind: NkeyKind, seed: Uint8Array): string {
  const prefix = KIND_PREFIX[kind];
  const head = [SEED_PREFIX | (prefix >> 5), (prefix & 31) << 3];
  return base32Encode(withChecksum(Uint8Array.of(...head, ...seed)));
}

/** The 32 bytes of a public key of this kind. */
export function decodePublicNkey(kind: NkeyKind, text: string): Uint8Array {
  const bytes = withoutChecksum(base32Decode(text.trim()), `${kind} public key`);
  if (bytes.length !== 33 || bytes[0] !== KIND_PREFIX[kind]) throw badKey(`${kind} public key`);
  return bytes.slice(1);
}

/** The 32 bytes of a seed of this kind. */
export function decodeSeedNkey(kind: NkeyKind, text: string): Uint8Array {
  const bytes = withoutChecksum(base32Decode(text.trim()), `${kind} seed`);
  const [first = 0, second = 0] = bytes;
  const prefix = ((first & 7) << 5) | (second >> 3);
  if (bytes.length !== 34 || (first & 0xf8) !== SEED_PREFIX || prefix !== KIND_PREFIX[kind]) {
    throw badKey(`${kind} seed`);
  }
  return bytes.slice(2);
}

/** Says what was expected, and never shows the text: it may be a secret. */
function badKey(what: string): ZesterError {
  return new ZesterError("trust_invalid", `not a valid ${what}`, {
    fix: "check that the file is the right one and was copied whole",
  });
}

function withChecksum(bytes: Uint8Array): Uint8Array {
  const sum = crc16(bytes);
  return Uint8Array.of(...bytes, sum & 0xff, sum >> 8);
}

function withoutChecksum(bytes: Uint8Array | null, what: string): Uint8Array {
  if (bytes === null || bytes.length < 3) throw badKey(what);
  const body = bytes.subarray(0, -2);
  const sum = crc16(body);
  if (bytes.at(-2) !== (sum & 0xff) || bytes.at(-1) !== sum >> 8) throw badKey(what);
  return body;
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
    }
  }
  return crc;
}

function base32Encode(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(value >> (bits - 5)) & 31];
    value &= 31;
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text;
}

function base32Decode(text: string): Uint8Array | null {
  if (text.length > 128) return null;
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    const index = ALPHABET.indexOf(letter);
    if (index < 0) return null;
    value = (value << 5) | index;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
      value &= (1 << bits) - 1;
    }
  }
  return Uint8Array.from(bytes);
}

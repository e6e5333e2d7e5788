/**
 * Ed25519 and SHA-256 through `node:crypto`, synchronously: what a simulated service awaits must not finish on another
 * thread, or a seed would not repeat. It is also the fastest there is here.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import type { Hash, Signer } from "../ports.ts";

const PKCS8_HEAD = Uint8Array.from([
  ...[0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06],
  ...[0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
]);
const SPKI_HEAD = Uint8Array.from([
  ...[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03],
  ...[0x2b, 0x65, 0x70, 0x03, 0x21, 0x00],
]);
export const SIGNATURE_LENGTH = 64;
export const KEY_LENGTH = 32;

/** SHA-256 of the bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(bytes).digest());
}

export const nodeHash: Hash = { sha256 };

/** A short name for a public key: enough to find it in a list, not to trust it. */
export function keyIdOf(publicKey: Uint8Array): string {
  return toBase64Url(sha256(publicKey).subarray(0, 12));
}

/** A signer from the 32 bytes of a private seed. */
export function signerFromSeed(seed: Uint8Array): Signer {
  const key = createPrivateKey({
    key: concat(PKCS8_HEAD, seed) as never,
    format: "der",
    type: "pkcs8",
  });
  const spki = new Uint8Array(createPublicKey(key).export({ format: "der", type: "spki" }));
  const publicKey = spki.slice(-KEY_LENGTH);
  return {
    keyId: keyIdOf(publicKey),
    publicKey,
    sign: (bytes) => new Uint8Array(sign(null, bytes, key)),
  };
}

/** Checks signatures of one public key. Making it costs more than using it, so keep it. */
export interface Verifier {
  readonly publicKey: Uint8Array;
  verify(bytes: Uint8Array, signature: Uint8Array): boolean;
}

/** A verifier for the 32 bytes of a public key. */
export function verifierOf(publicKey: Uint8Array): Verifier {
  let key: KeyObject | undefined;
  return {
    publicKey,
    verify(bytes, signature) {
      if (publicKey.length !== KEY_LENGTH || signature.length !== SIGNATURE_LENGTH) return false;
      try {
        key ??= createPublicKey({
          key: concat(SPKI_HEAD, publicKey) as never,
          format: "der",
          type: "spki",
        });
        return verify(null, bytes, key, signature);
      } catch {
        return false; // a key that is not on the curve verifies nothing
      }
    },
  };
}

/** Derives independent 32 bytes from one secret, by label. */
export function deriveKey(secret: Uint8Array, label: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(0), label, KEY_LENGTH));
}

/** Joins byte arrays. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Base64 for URLs and headers, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The bytes, or null if the text is not exactly what `toBase64Url` would have written. */
export function fromBase64Url(text: string): Uint8Array | null {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    return toBase64Url(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}

/**
 * Keys that sign with a keyed checksum instead of a signature. A simulated run signs and verifies thousands of messages, and nobody in
 * it forges any: what real keys do is tested elsewhere.
 */
import { SIGNATURE_LENGTH } from "../../core/crypto/ed25519.ts";
import type { Signer } from "../../core/ports.ts";
import type { Trust } from "../../core/trust.ts";

/** The same key, made cheap. */
export function cheapSigner({ keyId, publicKey }: Signer): Signer {
  return { keyId, publicKey, sign: (bytes) => checksum(publicKey, bytes) };
}

/** The same document, for keys that were made cheap. */
export function cheapTrust(trust: Trust): Trust {
  const keys = trust.keys.map((key) => {
    const { publicKey } = key.verifier;
    const verify = (bytes: Uint8Array, signature: Uint8Array) =>
      isSame(checksum(publicKey, bytes), signature);
    return { ...key, verifier: { publicKey, verify } };
  });
  return { ...trust, keys };
}

/** FNV-1a over the key and then the message, at the start of what else is zero. */
function checksum(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const sum = new Uint8Array(SIGNATURE_LENGTH);
  new DataView(sum.buffer).setUint32(0, fnv(bytes, fnv(key, 0x811c9dc5)));
  return sum;
}

function fnv(bytes: Uint8Array, start: number): number {
  let hash = start;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** Digests as states declare them: `sha256=…`, `sha256:…`, or bare hexadecimal whose length says which. */

const BY_LENGTH: Readonly<Record<number, string>> = {
  32: "md5",
  40: "sha1",
  64: "sha256",
  128: "sha512",
};

export interface Digest {
  readonly algorithm: string;
  readonly hex: string;
}

/** Reads a digest; throws on what is none. */
export function parseDigest(text: string): Digest {
  const [, named, hex = ""] = /^(?:(\w+)[=:])?([0-9a-fA-F]+)$/.exec(text.trim()) ?? [];
  const algorithm = BY_LENGTH[hex.length];
  if (algorithm === undefined || (named !== undefined && named.toLowerCase() !== algorithm)) {
    throw new Error(`${JSON.stringify(text)} is no digest: sha256=<64 hexadecimal digits> is one`);
  }
  return { algorithm, hex: hex.toLowerCase() };
}

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;
const SHORT_BITS = 64;

/**
 * A short name for a text, 16 hexadecimal digits (FNV-1a): tells texts apart and guards nothing. Grants are worked out at
 * once, so it cannot be asked of the host, and `node:crypto` costs a worker more than all the rest of it.
 */
export function shortHash(text: string): string {
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(SHORT_BITS, (hash ^ BigInt(byte)) * FNV_PRIME);
  }
  return hash.toString(16).padStart(SHORT_BITS / 4, "0");
}

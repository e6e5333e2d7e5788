/**
 * The `Zester-Sig` header: who signed a message, when, until when, for whom. The signature covers domain, subject, key,
 * generations, times and payload, each with its length, so that no two messages share signed bytes.
 */
import { fromBase64Url, SIGNATURE_LENGTH, toBase64Url } from "./crypto/ed25519.ts";
import { SIGNATURE_HEADER_LENGTH_MAX } from "./limits.ts";
import type { HeaderField, Signer } from "./ports.ts";

export const SIGNATURE_HEADER = "Zester-Sig";
const VERSION = "v1";

/** What the header claims. Nothing of it holds before the signature was verified. */
export interface SignatureClaims {
  readonly keyId: string;
  /** Enrollment generation of the sender: a re-enrolled id does not inherit what its predecessor signed. */
  readonly generation: number;
  /** Enrollment generation of the receiver, where the message is for one peel; 0 otherwise. */
  readonly audience: number;
  readonly issuedMs: number;
  /** When the same request was first issued; no resend changes it. */
  readonly firstIssuedMs: number;
  readonly expiresMs: number;
}

export interface ParsedSignature extends SignatureClaims {
  readonly signature: Uint8Array;
}

/** What a message is signed for. */
export interface SignedContext {
  readonly domain: string;
  readonly subject: string;
}

/** Signs one message and gives the header to send with it. */
export function signatureHeader(
  signer: Signer,
  context: SignedContext,
  claims: Omit<SignatureClaims, "keyId">,
  payload: Uint8Array,
): HeaderField {
  const full = { ...claims, keyId: signer.keyId };
  const signature = signer.sign(signedBytes(context, full, payload));
  const fields = [
    VERSION,
    `key=${full.keyId}`,
    ...NUMBERS.map(([name, of]) => `${name}=${full[of]}`),
    `sig=${toBase64Url(signature)}`,
  ];
  return [SIGNATURE_HEADER, fields.join(" ")];
}

const NUMBERS = [
  ["gen", "generation"],
  ["aud", "audience"],
  ["iat", "issuedMs"],
  ["fst", "firstIssuedMs"],
  ["exp", "expiresMs"],
] as const;

const HEADER = new RegExp(
  `^${VERSION} key=([A-Za-z0-9_-]{1,64}) ` +
    NUMBERS.map(([name]) => `${name}=(0|[1-9][0-9]{0,15})`).join(" ") +
    " sig=([A-Za-z0-9_-]{86})$",
);

/** Reads the header's one exact form; null for anything else, an older or unknown version included. */
export function parseSignature(header: string): ParsedSignature | null {
  if (header.length > SIGNATURE_HEADER_LENGTH_MAX) return null;
  const match = HEADER.exec(header);
  if (!match) return null;
  const [, keyId = "", generation, audience, issued, first, expires, text = ""] = match;
  const signature = fromBase64Url(text);
  if (signature === null || signature.length !== SIGNATURE_LENGTH) return null;
  return {
    keyId,
    generation: Number(generation),
    audience: Number(audience),
    issuedMs: Number(issued),
    firstIssuedMs: Number(first),
    expiresMs: Number(expires),
    signature,
  };
}

const LENGTH_BYTES = 4;
/** No character takes more in UTF-8, counted as JavaScript counts them. */
const CHARACTER_BYTES = 3;
const TEXT = new TextEncoder();

/** The bytes that are signed. Made for every message, in one piece: it would cost as much as the signature otherwise. */
export function signedBytes(
  { domain, subject }: SignedContext,
  claims: SignatureClaims,
  payload: Uint8Array,
): Uint8Array {
  const fields = [VERSION, domain, subject, claims.keyId];
  for (const [, of] of NUMBERS) fields.push(`${claims[of]}`);
  let room = LENGTH_BYTES + payload.length;
  for (const field of fields) room += LENGTH_BYTES + field.length * CHARACTER_BYTES;
  const bytes = new Uint8Array(room);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const field of fields) {
    const length = writeText(field, bytes, at + LENGTH_BYTES);
    view.setUint32(at, length);
    at += LENGTH_BYTES + length;
  }
  view.setUint32(at, payload.length);
  bytes.set(payload, at + LENGTH_BYTES);
  return bytes.subarray(0, at + LENGTH_BYTES + payload.length);
}

/** Writes text as UTF-8 and gives its length. Nearly all is ASCII, where a loop is cheaper than a call out of the engine. */
function writeText(text: string, bytes: Uint8Array, at: number): number {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return TEXT.encodeInto(text, bytes.subarray(at)).written;
    bytes[at + index] = code;
  }
  return text.length;
}

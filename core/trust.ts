/**
 * The trust document: which public keys are in force in a fleet, for what, and how long. It is signed by an offline root
 * key that peels and operators pin; a reader keeps the highest serial it has seen.
 */
import { z } from "zod";
import {
  fromBase64Url,
  KEY_LENGTH,
  keyIdOf,
  toBase64Url,
  type Verifier,
  verifierOf,
} from "./crypto/ed25519.ts";
import { ZesterError } from "./errors.ts";
import { TRUST_BYTES_MAX } from "./limits.ts";
import type { Signer } from "./ports.ts";

/** What a key in the document may be used for. */
export const KEY_PURPOSES = {
  command: "masters sign commands, notices and answers with it",
  operator: "one operator signs requests with it",
  direct: "one operator commands peels with it, without a master",
  seal: "secrets are sealed with it",
} as const;

export type KeyPurpose = keyof typeof KEY_PURPOSES;

const keySchema = z.object({
  purpose: z.enum(Object.keys(KEY_PURPOSES) as [KeyPurpose, ...KeyPurpose[]]),
  public_key: z.string().max(64),
  /** Operators: their name. */
  name: z.string().max(128).optional(),
  /** Operators: their role. */
  role: z.string().max(64).optional(),
  not_before: z.number().int().nonnegative(),
  not_after: z.number().int().positive(),
});

const documentSchema = z.object({
  v: z.literal(1),
  fleet: z.string().min(1).max(128),
  serial: z.number().int().positive(),
  issued: z.number().int().nonnegative(),
  keys: z.array(keySchema).max(10_000),
});

const envelopeSchema = z.object({ payload: z.string(), signature: z.string().max(128) });

export interface TrustKey {
  readonly keyId: string;
  readonly purpose: KeyPurpose;
  readonly name: string | undefined;
  readonly role: string | undefined;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly verifier: Verifier;
}

export interface Trust {
  readonly fleet: string;
  readonly serial: number;
  readonly keys: readonly TrustKey[];
}

export interface TrustKeySpec {
  purpose: KeyPurpose;
  publicKey: Uint8Array;
  name?: string;
  role?: string;
  notBeforeMs: number;
  notAfterMs: number;
}

/** Signs a trust document with the root key. The result is what is stored and handed out. */
export function signTrust(
  root: Signer,
  document: { fleet: string; serial: number; issuedMs: number; keys: readonly TrustKeySpec[] },
): string {
  const payload = new TextEncoder().encode(JSON.stringify({
    v: 1,
    fleet: document.fleet,
    serial: document.serial,
    issued: document.issuedMs,
    keys: document.keys.map((key) => ({
      purpose: key.purpose,
      public_key: toBase64Url(key.publicKey),
      ...(key.name === undefined ? {} : { name: key.name }),
      ...(key.role === undefined ? {} : { role: key.role }),
      not_before: key.notBeforeMs,
      not_after: key.notAfterMs,
    })),
  }));
  const signature = root.sign(domainBytes(payload));
  return `${
    JSON.stringify({ payload: toBase64Url(payload), signature: toBase64Url(signature) }, null, 2)
  }\n`;
}

/**
 * Verifies a trust document against the pinned root and reads it. `lastSerial`: the highest serial seen; an older document
 * is refused, since it may name keys that were withdrawn.
 */
export function openTrust(text: string, root: Uint8Array, lastSerial = 0): Trust {
  if (text.length > TRUST_BYTES_MAX) throw invalid(`is larger than ${TRUST_BYTES_MAX} bytes`);
  const envelope = envelopeSchema.safeParse(parseJson(text));
  if (!envelope.success) throw invalid("is not a signed document");
  const payload = fromBase64Url(envelope.data.payload);
  const signature = fromBase64Url(envelope.data.signature);
  if (payload === null || signature === null) throw invalid("is not a signed document");
  if (!verifierOf(root).verify(domainBytes(payload), signature)) {
    throw invalid("is not signed by the pinned root key");
  }
  const document = documentSchema.safeParse(parseJson(new TextDecoder().decode(payload)));
  if (!document.success) throw invalid(`is malformed: ${document.error.issues[0]?.message}`);
  const { fleet, serial, keys } = document.data;
  if (serial < lastSerial) throw invalid(`has serial ${serial}, but ${lastSerial} was seen before`);
  return { fleet, serial, keys: keys.map(trustKey) };
}

/** Key of this id and purpose that is in force at `nowMs`, or null. */
export function trustedKey(
  trust: Trust,
  wanted: { keyId: string; purpose: KeyPurpose },
  nowMs: number,
): TrustKey | null {
  return trust.keys.find((key) =>
    key.keyId === wanted.keyId && key.purpose === wanted.purpose &&
    key.notBeforeMs <= nowMs && nowMs < key.notAfterMs
  ) ?? null;
}

function trustKey(key: z.infer<typeof keySchema>): TrustKey {
  const publicKey = fromBase64Url(key.public_key);
  if (publicKey === null || publicKey.length !== KEY_LENGTH) throw invalid("names a malformed key");
  return {
    keyId: keyIdOf(publicKey),
    purpose: key.purpose,
    name: key.name,
    role: key.role,
    notBeforeMs: key.not_before,
    notAfterMs: key.not_after,
    verifier: verifierOf(publicKey),
  };
}

function domainBytes(payload: Uint8Array): Uint8Array {
  const domain = new TextEncoder().encode("zester/trust/v1\0");
  const bytes = new Uint8Array(domain.length + payload.length);
  bytes.set(domain);
  bytes.set(payload, domain.length);
  return bytes;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalid(what: string): ZesterError {
  return new ZesterError("trust_invalid", `the trust document ${what}`, {
    fix: "fetch the fleet's current trust document, and check the pinned root key",
  });
}

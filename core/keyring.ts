/** Who may sign what: the trust document for masters and operators, enrollment records for peels. */
import { decodePublicNkey } from "./crypto/nkey.ts";
import { keyIdOf, type Verifier, verifierOf } from "./crypto/ed25519.ts";
import type { Keyring, Sender } from "./ingress.ts";
import type { IngressGuard } from "./ingress_guard.ts";
import { type Trust, trustedKey } from "./trust.ts";

/** Generation that masters and operators sign with; only peels are enrolled again under the same name. */
export const FIRST_GENERATION = 1;

/** Identity under which whatever masters sign is known. */
export const MASTER_IDENTITY = "_master";

/** The key of an enrolled peel. */
export interface PeelKey {
  readonly keyId: string;
  readonly generation: number;
  readonly verifier: Verifier;
}

/** The key in an enrollment record (`U…` text and generation). Throws `trust_invalid` for a malformed one. */
export function peelKeyOf(record: { publicKey: string; generation: number }): PeelKey {
  const publicKey = decodePublicNkey("user", record.publicKey);
  return {
    keyId: keyIdOf(publicKey),
    generation: record.generation,
    verifier: verifierOf(publicKey),
  };
}

/**
 * A keyring over the trust document in force and the peels known to the caller (none, on a peel). A program that others can
 * reach has a guard, one for all its keyrings, so that no sender takes all its time.
 */
export function keyringOf(
  trust: () => Trust,
  peelKey: (peelId: string) => PeelKey | undefined = () => undefined,
  guard?: IngressGuard,
): Keyring {
  const senderOf: Keyring = ({ roles, identity, keyId, nowMs }) => {
    for (const role of roles) {
      const sender = role === "master"
        ? masterSender(trust(), keyId, nowMs)
        : role === "operator"
        ? operatorSender(trust(), identity, keyId, nowMs)
        : role === "direct"
        ? directSender(trust(), keyId, nowMs)
        : role === "peel"
        ? peelSender(peelKey, identity, keyId)
        : null;
      if (sender !== null) return sender;
    }
    return null;
  };
  return guard === undefined ? senderOf : Object.assign(senderOf, { guard });
}

function masterSender(trust: Trust, keyId: string, nowMs: number): Sender | null {
  const key = trustedKey(trust, { keyId, purpose: "command" }, nowMs);
  if (key === null) return null;
  return {
    role: "master",
    identity: MASTER_IDENTITY,
    generation: FIRST_GENERATION,
    verifier: key.verifier,
  };
}

/** `identity` absent: the subject names no operator (`_admin` events), so the key alone says who it is. */
function operatorSender(
  trust: Trust,
  identity: string | undefined,
  keyId: string,
  nowMs: number,
): Sender | null {
  const key = trustedKey(trust, { keyId, purpose: "operator" }, nowMs);
  if (key?.name === undefined || (identity !== undefined && key.name !== identity)) return null;
  return {
    role: "operator",
    identity: key.name,
    generation: FIRST_GENERATION,
    grantedRole: key.role,
    verifier: key.verifier,
  };
}

/** The subject names the peel that is commanded, so the key alone says which operator it is. */
function directSender(trust: Trust, keyId: string, nowMs: number): Sender | null {
  const key = trustedKey(trust, { keyId, purpose: "direct" }, nowMs);
  if (key?.name === undefined) return null;
  return {
    role: "direct",
    identity: key.name,
    generation: FIRST_GENERATION,
    grantedRole: key.role,
    verifier: key.verifier,
  };
}

function peelSender(
  peelKey: (peelId: string) => PeelKey | undefined,
  identity: string | undefined,
  keyId: string,
): Sender | null {
  const key = identity === undefined ? undefined : peelKey(identity);
  if (identity === undefined || key?.keyId !== keyId) return null;
  return { role: "peel", identity, generation: key.generation, verifier: key.verifier };
}

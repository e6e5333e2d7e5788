/** Signing what a program sends: the counterpart of `core/ingress.ts`. */
import { SIGNATURE_LIFETIME_MS } from "./limits.ts";
import type { Bus, Clock, HeaderField, Signer } from "./ports.ts";
import { signatureHeader, type SignedContext } from "./signature.ts";
import { REPLY_DOMAIN, type Subject } from "./subjects.ts";

/** Who this program is when it signs. */
export interface Identity {
  readonly signer: Signer;
  /** Enrollment generation; 1 for masters and operators. */
  readonly generation: number;
}

export interface SealOptions {
  /** Generation of the one peel it is for. */
  audience?: number;
  /** When the same request was first issued, for a resend. */
  firstIssuedMs?: number;
  expiresMs?: number;
}

/** The headers that make a message on this subject acceptable. */
export function sealed(
  identity: Identity,
  context: SignedContext,
  payload: Uint8Array,
  nowMs: number,
  options: SealOptions = {},
): HeaderField[] {
  const { audience = 0, firstIssuedMs = nowMs, expiresMs = nowMs + SIGNATURE_LIFETIME_MS } =
    options;
  const claims = {
    generation: identity.generation,
    audience,
    issuedMs: nowMs,
    firstIssuedMs,
    expiresMs,
  };
  return [signatureHeader(identity.signer, context, claims, payload)];
}

/** A bus that signs: what a service uses to speak. */
export interface Voice {
  /** Headers for a message on a subject of the table. */
  headers(
    rule: Subject,
    subject: string,
    payload: Uint8Array,
    options?: SealOptions,
  ): HeaderField[];
  /** Signs and publishes on a subject of the table. */
  say(
    rule: Subject,
    subject: string,
    payload: Uint8Array,
    options?: SealOptions & { reply?: string },
  ): void;
  /** Signs and publishes an answer to an inbox. */
  answer(inbox: string, payload: Uint8Array): void;
}

/** Makes the voice of one program. */
export function voiceOf(identity: Identity, bus: Bus, clock: Clock): Voice {
  function headers(
    context: SignedContext,
    payload: Uint8Array,
    options?: SealOptions,
  ): HeaderField[] {
    return sealed(identity, context, payload, clock.now(), options);
  }
  return {
    headers: (rule, subject, payload, options) =>
      headers({ domain: rule.domain ?? "", subject }, payload, options),
    say(rule, subject, payload, options = {}) {
      const { reply, ...seal } = options;
      bus.publish(subject, payload, {
        headers: headers({ domain: rule.domain ?? "", subject }, payload, seal),
        ...(reply === undefined ? {} : { reply }),
      });
    },
    answer(inbox, payload) {
      bus.publish(inbox, payload, {
        headers: headers({ domain: REPLY_DOMAIN, subject: inbox }, payload),
      });
    },
  };
}

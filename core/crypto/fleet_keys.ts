/** The keys of a fleet, all derived from the one shared secret `account.seed`, each under a label of its own. */
import { decodeSeedNkey } from "./nkey.ts";
import { deriveKey, signerFromSeed } from "./ed25519.ts";
import type { Signer } from "../ports.ts";

/** What each derived key is for. A label is never used for two things and never changes its meaning. */
export const KEY_LABELS = {
  command: "zester/key/command/v1",
  seal: "zester/key/seal/v1",
  jwt: "zester/key/jwt/v1",
  messageId: "zester/key/message-id/v1",
} as const;

export interface FleetKeys {
  /** Signs what masters say: commands, notices, answers. */
  readonly command: Signer;
  /** Private X25519 key that secrets are sealed with. */
  readonly sealSeed: Uint8Array;
  /** Signs NATS credentials of peels, and of nobody else. */
  readonly jwt: Signer;
  /** Keys the message ids of derived events, so that no peel can guess or squat them. */
  readonly messageIdKey: Uint8Array;
}

/** Derives the fleet's keys from the text of `account.seed`. */
export function fleetKeysFrom(accountSeed: string): FleetKeys {
  const secret = decodeSeedNkey("account", accountSeed);
  return {
    command: signerFromSeed(deriveKey(secret, KEY_LABELS.command)),
    sealSeed: deriveKey(secret, KEY_LABELS.seal),
    jwt: signerFromSeed(deriveKey(secret, KEY_LABELS.jwt)),
    messageIdKey: deriveKey(secret, KEY_LABELS.messageId),
  };
}

/** Ready-made keys and trust for tests: one fleet, one operator, any number of peels, all from fixed seeds. */
import { type Signer } from "../../core/ports.ts";
import { signerFromSeed } from "../../core/crypto/ed25519.ts";
import { encodePublicNkey } from "../../core/crypto/nkey.ts";
import { type PeelKey, peelKeyOf } from "../../core/keyring.ts";
import { ADMIN_ROLE, DIRECT_ROLE } from "../../core/roles.ts";
import { openTrust, signTrust, type Trust } from "../../core/trust.ts";

/** A signer that is the same in every run. */
export function testSigner(name: string): Signer {
  const seed = new Uint8Array(32);
  new TextEncoder().encodeInto(name, seed);
  return signerFromSeed(seed);
}

export const ROOT_SIGNER: Signer = testSigner("root");
export const COMMAND_SIGNER: Signer = testSigner("command");

/** A trust document with one command key and the operators named; those in `direct` may command peels themselves. */
export function testTrust(
  operators: readonly string[] = ["alice"],
  untilMs = 1e15,
  direct: readonly string[] = [],
): Trust {
  const validity = { notBeforeMs: 0, notAfterMs: untilMs };
  const text = signTrust(ROOT_SIGNER, {
    fleet: "test",
    serial: 1,
    issuedMs: 0,
    keys: [
      { purpose: "command", publicKey: COMMAND_SIGNER.publicKey, ...validity },
      ...operators.map((name) => ({
        purpose: "operator" as const,
        publicKey: testSigner(name).publicKey,
        name,
        role: ADMIN_ROLE,
        ...validity,
      })),
      ...direct.map((name) => ({
        purpose: "direct" as const,
        publicKey: testSigner(name).publicKey,
        name,
        role: DIRECT_ROLE,
        ...validity,
      })),
    ],
  });
  return openTrust(text, ROOT_SIGNER.publicKey);
}

/** The key of a peel as its enrollment record gives it. */
export function testPeelKey(peelId: string, generation = 1): PeelKey {
  const publicKey = encodePublicNkey("user", testSigner(peelId).publicKey);
  return peelKeyOf({ publicKey, generation });
}

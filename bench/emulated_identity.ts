/** Who the emulated peels are: everything about one follows from its number, so that no process has to tell another. */
import { deriveKey, signerFromSeed, toBase64Url } from "../core/crypto/ed25519.ts";
import { encodePublicNkey } from "../core/crypto/nkey.ts";
import { grantsFor } from "../core/grants.ts";
import type { Signer } from "../core/ports.ts";
import { type FleetPeel, type FleetUser, loginOf } from "../tools/up/fleet.ts";

/** Generation of every emulated peel. */
export const GENERATION = 1;

/** No secret: these peels exist on the machine of a benchmark only. */
const SECRET = new TextEncoder().encode("emulated peels");

/** Ids of the first `count` emulated peels. */
export function emulatedIds(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `emu-${String(at + 1).padStart(5, "0")}`);
}

/** The key of a peel. */
export function emulatedSigner(id: string): Signer {
  return signerFromSeed(deriveKey(SECRET, `key ${id}`));
}

/** The login of a peel, with the permissions that a real one has. */
export function emulatedUser(id: string): FleetUser {
  const password = toBase64Url(deriveKey(SECRET, `login ${id}`));
  return { role: "peel", user: loginOf("peel", id), password, permissions: grantsFor("peel", id) };
}

/** What its enrollment record is made from. */
export function emulatedRecord(id: string): FleetPeel {
  const publicKey = encodePublicNkey("user", emulatedSigner(id).publicKey);
  return { id, publicKey, generation: GENERATION, folder: "" };
}

import assert from "node:assert/strict";
import { createAccount, createUser, fromSeed } from "@nats-io/nkeys";
import { ZesterError } from "../errors.ts";
import { signerFromSeed } from "./ed25519.ts";
import { decodePublicNkey, decodeSeedNkey, encodePublicNkey, encodeSeedNkey } from "./nkey.ts";

Deno.test("encodeSeedNkey() and encodePublicNkey() agree with the NATS library, both ways", () => {
  for (const [kind, make] of [["user", createUser], ["account", createAccount]] as const) {
    const theirs = make();
    const seedText = new TextDecoder().decode(theirs.getSeed());
    const seed = decodeSeedNkey(kind, seedText);
    assert.equal(encodeSeedNkey(kind, seed), seedText);
    const ours = signerFromSeed(seed);
    assert.equal(encodePublicNkey(kind, ours.publicKey), theirs.getPublicKey());
    assert.deepEqual(decodePublicNkey(kind, theirs.getPublicKey()), ours.publicKey);
    const bytes = new TextEncoder().encode("the same signature");
    assert.ok(fromSeed(theirs.getSeed()).verify(bytes, ours.sign(bytes)));
  }
});

Deno.test("decodeSeedNkey() refuses damage, the wrong kind and hostile lengths without showing the text", () => {
  const seed = encodeSeedNkey("user", new Uint8Array(32).fill(5));
  const cases = [
    "",
    "S",
    seed.slice(1),
    `${seed.slice(0, -1)}A`,
    seed.replace("S", "T"),
    "A".repeat(1e6),
  ];
  for (const text of cases) {
    assert.throws(() => decodeSeedNkey("user", text), (thrown) => {
      assert.ok(thrown instanceof ZesterError && thrown.code === "trust_invalid");
      return text.length < 4 || !thrown.message.includes(text);
    });
  }
  assert.throws(() => decodeSeedNkey("account", seed), ZesterError);
});

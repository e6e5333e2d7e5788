import assert from "node:assert/strict";
import { COMMAND_SIGNER, ROOT_SIGNER, testSigner, testTrust } from "../tests/fakes/identities.ts";
import { fromBase64Url, toBase64Url } from "./crypto/ed25519.ts";
import { ZesterError } from "./errors.ts";
import { openTrust, signTrust, trustedKey } from "./trust.ts";

const document = {
  fleet: "f",
  serial: 7,
  issuedMs: 1,
  keys: [{
    purpose: "command" as const,
    publicKey: COMMAND_SIGNER.publicKey,
    notBeforeMs: 10,
    notAfterMs: 20,
  }],
};
const text = signTrust(ROOT_SIGNER, document);

function refused(text: string, root: Uint8Array, lastSerial?: number): void {
  assert.throws(
    () => openTrust(text, root, lastSerial),
    (thrown) => thrown instanceof ZesterError && thrown.code === "trust_invalid",
  );
}

Deno.test("openTrust() reads what signTrust() wrote", () => {
  const trust = openTrust(text, ROOT_SIGNER.publicKey);
  assert.equal(trust.serial, 7);
  assert.equal(trust.keys[0]?.keyId, COMMAND_SIGNER.keyId);
});

Deno.test("openTrust() refuses another root, a changed byte anywhere, an older serial and non-documents", () => {
  refused(text, testSigner("other root").publicKey);
  refused(text, ROOT_SIGNER.publicKey, 8);
  const { payload, signature } = JSON.parse(text);
  const bytes = fromBase64Url(payload) ?? new Uint8Array();
  for (let at = 0; at < bytes.length; at++) {
    const changed = bytes.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    refused(JSON.stringify({ payload: toBase64Url(changed), signature }), ROOT_SIGNER.publicKey);
  }
  for (
    const other of ["", "{}", "[]", "null", '{"payload":"","signature":""}', "x".repeat(1 << 20)]
  ) {
    refused(other, ROOT_SIGNER.publicKey);
  }
});

Deno.test("trustedKey() gives a key only for its purpose and within its validity", () => {
  const trust = openTrust(text, ROOT_SIGNER.publicKey);
  const { keyId } = COMMAND_SIGNER;
  const cases: [nowMs: number, purpose: "command" | "operator", found: boolean][] = [
    [9, "command", false],
    [10, "command", true],
    [19, "command", true],
    [20, "command", false],
    [15, "operator", false],
  ];
  for (const [nowMs, purpose, found] of cases) {
    assert.equal(
      trustedKey(trust, { keyId, purpose }, nowMs) !== null,
      found,
      `${nowMs} ${purpose}`,
    );
  }
  assert.equal(trustedKey(testTrust(), { keyId: "nobody", purpose: "command" }, 1), null);
});

import assert from "node:assert/strict";
import { blobOf, withKey, withoutKey } from "./_keys.ts";

const A = "ssh-ed25519 AAAAC3Nza1 a@x";
const B = "ssh-rsa AAAAB3Nzb2 b@x";

const rows: [name: string, text: string, key: string, want: string][] = [
  ["begins an empty file", "", A, `${A}\n`],
  ["appends", `${B}\n`, A, `${B}\n${A}\n`],
  ["mends a missing line end", B, A, `${B}\n${A}\n`],
  ["replaces a line with another comment", `ssh-ed25519 AAAAC3Nza1 old\n${B}\n`, A, `${A}\n${B}\n`],
  ["keeps one of many", `${A}\n${B}\nssh-ed25519 AAAAC3Nza1 again\n`, A, `${A}\n${B}\n`],
];
for (const [name, text, key, want] of rows) {
  Deno.test(`withKey() ${name}, and converges`, () => {
    assert.equal(withKey(text, key), want);
    assert.equal(withKey(want, key), want);
  });
}

Deno.test("withoutKey() drops every line with the blob", () => {
  assert.equal(withoutKey(`${A}\n${B}\nssh-ed25519 AAAAC3Nza1 again\n`, "AAAAC3Nza1"), `${B}\n`);
});

Deno.test("blobOf() finds the blob in a whole line, with options before it", () => {
  assert.equal(blobOf(`no-pty ${A}`), "AAAAC3Nza1");
  assert.equal(blobOf("AAAAC3Nza1"), "AAAAC3Nza1");
});

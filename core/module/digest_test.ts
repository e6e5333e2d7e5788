import assert from "node:assert/strict";
import { parseDigest, shortHash } from "./digest.ts";

const SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

for (const text of [SHA256, `sha256=${SHA256}`, ` SHA256:${SHA256.toUpperCase()} `]) {
  Deno.test(`parseDigest() reads ${text.slice(0, 12)}…`, () => {
    assert.deepEqual(parseDigest(text), { algorithm: "sha256", hex: SHA256 });
  });
}

for (const text of ["", "abc", `md5=${SHA256}`, `${SHA256}0`, "sha256=zz"]) {
  Deno.test(`parseDigest() refuses ${JSON.stringify(text.slice(0, 12))}`, () => {
    assert.throws(() => parseDigest(text), /is no digest/);
  });
}

Deno.test("shortHash() is FNV-1a", () => {
  assert.equal(shortHash(""), "cbf29ce484222325");
  assert.equal(shortHash("foobar"), "85944171f73967e8");
});

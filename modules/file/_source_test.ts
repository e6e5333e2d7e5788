import assert from "node:assert/strict";
import { parseDigest } from "../../core/module.ts";
import { declaredDigest, sourceGrant, treePath } from "./_source.ts";

const SHA256 = "a".repeat(64);

const digests: [text: string, algorithm: string | null][] = [
  [`sha256=${SHA256}`, "sha256"],
  [`SHA256:${SHA256.toUpperCase()}`, "sha256"],
  [SHA256, "sha256"],
  ["d".repeat(32), "md5"],
  [`md5=${SHA256}`, null],
  ["sha256=abc", null],
  ["", null],
  [`${SHA256}  file.tar.gz`, null],
];

for (const [text, algorithm] of digests) {
  Deno.test(`parseDigest() of ${JSON.stringify(text.slice(0, 12))} (${text.length}) is ${algorithm ?? "an error"}`, () => {
    if (algorithm === null) assert.throws(() => parseDigest(text), /no digest/);
    else assert.equal(parseDigest(text).algorithm, algorithm);
  });
}

Deno.test("declaredDigest() wants one for a web source", () => {
  assert.throws(() => declaredDigest("https://example.org/x", undefined), /needs a source_hash/);
  assert.equal(declaredDigest("/etc/hosts", undefined), null);
});

Deno.test("sourceGrant() names what the source is", () => {
  assert.deepEqual(sourceGrant("zester://a/b/"), { tree: ["a/b"] });
  assert.deepEqual(sourceGrant("https://example.org/x"), { net: ["example.org:443"] });
  assert.deepEqual(sourceGrant("/etc/hosts"), { read: ["/etc/hosts"] });
  assert.equal(treePath("zester://"), "");
});

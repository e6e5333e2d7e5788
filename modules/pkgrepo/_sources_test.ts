import assert from "node:assert/strict";
import { signedBy, sourcePath, sourceText, withoutArmour } from "./_sources.ts";

const source = {
  name: "acme",
  baseurl: "deb https://deb.acme.org stable main",
  enabled: true,
  gpgcheck: true,
};

Deno.test("sourceText() of Debian names the source, and the key that signs it", () => {
  assert.equal(
    sourceText(source, "debian"),
    "# Managed by Zester: acme\ndeb https://deb.acme.org stable main\n",
  );
  assert.equal(
    sourceText({ ...source, humanname: "Acme", key_url: "https://x/k" }, "debian"),
    "# Managed by Zester: Acme\ndeb [signed-by=/etc/apt/keyrings/zester-acme.gpg] https://deb.acme.org stable main\n",
  );
});

Deno.test("sourceText() of RedHat is a section", () => {
  assert.equal(
    sourceText({
      ...source,
      baseurl: "https://rpm.acme.org",
      gpgcheck: false,
      key_url: "https://x/k",
    }, "redhat"),
    "[acme]\nname=acme\nbaseurl=https://rpm.acme.org\nenabled=1\ngpgcheck=0\ngpgkey=https://x/k\n",
  );
});

Deno.test("signedBy() joins options and leaves a named key alone", () => {
  assert.equal(
    signedBy("deb [arch=amd64] http://x y z", "/k"),
    "deb [arch=amd64 signed-by=/k] http://x y z",
  );
  assert.equal(
    signedBy("deb [signed-by=/other] http://x y", "/k"),
    "deb [signed-by=/other] http://x y",
  );
  assert.throws(() => signedBy("http://x", "/k"), /is no line of an apt source/);
});

Deno.test("sourcePath() goes by the family, unless a file is given", () => {
  assert.equal(sourcePath(source, "debian"), "/etc/apt/sources.list.d/acme.list");
  assert.equal(sourcePath(source, "redhat"), "/etc/yum.repos.d/acme.repo");
  assert.equal(sourcePath({ ...source, file: "/x" }, "debian"), "/x");
});

Deno.test("withoutArmour() takes the armour off and leaves bytes alone", () => {
  const armour =
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: x\n\nAQID\nBAU=\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n";
  assert.deepEqual([...withoutArmour(new TextEncoder().encode(armour))], [1, 2, 3, 4, 5]);
  assert.deepEqual([...withoutArmour(Uint8Array.of(9, 8))], [9, 8]);
});

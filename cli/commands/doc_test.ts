import assert from "node:assert/strict";
import { isZesterError } from "../../core/errors.ts";
import { CATALOG } from "../../core/module/catalog.ts";
import { fakeIo } from "../../tests/fakes/cli_io.ts";
import { doc } from "./doc.ts";
import type { CommonFlags } from "./flags.ts";

async function docOf(name: string | undefined, flags: CommonFlags = {}) {
  const io = fakeIo({ terminal: true });
  assert.equal(await doc(name, { color: "never", ...flags }, io), 0);
  return io.text();
}

Deno.test("doc() lists every function by namespace, no wider than the terminal", async () => {
  const { stdout, stderr } = await docOf(undefined);
  assert.match(stdout, /^cmd +run, script$/m);
  assert.ok(stdout.split("\n").every((line) => line.length <= 100));
  for (const { name } of CATALOG) assert.ok(stdout.includes(name.split(".")[1]!), name);
  assert.match(stderr, /zester doc file\.managed shows one/);
  assert.equal(
    (await docOf(undefined, { output: "ids" })).stdout.split("\n").length - 1,
    CATALOG.length,
  );
});

Deno.test("doc() of a namespace says what each function does", async () => {
  const { stdout } = await docOf("facts");
  assert.match(stdout, /^FUNCTION +KIND +WHAT IT DOES\nfacts\.get /);
});

Deno.test("doc() of a function shows its parameters and examples, and is data for programs", async () => {
  const { stdout } = await docOf("file.managed");
  assert.match(stdout, /^file\.managed: Keeps /);
  assert.match(stdout, /\nParameters\n {2}name \(path; the id/);
  const data = JSON.parse((await docOf("file.managed", { output: "json" })).stdout);
  assert.deepEqual([data.name, data.kind, data.primary], ["file.managed", "state", "name"]);
});

const unknown: [name: string, message: string, fix: RegExp][] = [
  [
    "file.manged",
    'no function "file.manged" is shipped',
    /^did you mean `zester doc file\.managed`/,
  ],
  ["pgk", 'no namespace "pgk" is shipped', /^did you mean `zester doc pkg`/],
  ["acme.widget", 'no function "acme.widget" is shipped', /zester '\*' sys\.doc acme\.widget$/],
];
for (const [name, message, fix] of unknown) {
  Deno.test(`doc() does not know ${name}`, async () => {
    await assert.rejects(doc(name, {}, fakeIo()), (error) => {
      assert.ok(isZesterError(error, "usage"));
      assert.equal(error.message, message);
      assert.match(error.fix ?? "", fix);
      return true;
    });
  });
}

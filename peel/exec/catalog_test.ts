import assert from "node:assert/strict";
import { type ModuleTree, openCatalog } from "./catalog.ts";

function treeOf(files: Readonly<Record<string, string>>): ModuleTree {
  return {
    read: (path) => Promise.resolve(path in files ? new TextEncoder().encode(files[path]) : null),
    list: (folder) =>
      Promise.resolve(
        Object.keys(files).filter((path) => path.startsWith(`${folder}/`))
          .map((path) => path.slice(folder.length + 1)),
      ),
  };
}

const CUSTOM = "export default {};";
const catalog = openCatalog(treeOf({
  "_modules/acme/deploy.ts": CUSTOM,
  "_modules/test/ping.ts": "export default 1;",
  "_modules/README.md": "no module",
  "_modules/acme/broken.ts": "\nimport x from 'node:fs';",
}));

Deno.test("openCatalog() lists shipped and custom modules", async () => {
  const names = await catalog.names();
  assert.ok(names.includes("acme.deploy") && names.includes("test.ping"));
  assert.ok(!names.some((name) => name.startsWith("README")));
});

Deno.test("openCatalog() lets no custom module take the place of a shipped one", async () => {
  assert.equal((await catalog.find("test.ping")).from, "shipped");
});

Deno.test("openCatalog() names file and line of a broken module, and only that one fails", async () => {
  await assert.rejects(catalog.find("acme.broken"), /_modules\/acme\/broken\.ts:2:1: /);
  assert.equal((await catalog.find("acme.deploy")).from, "tree");
});

Deno.test("openCatalog() names the nearest function", async () => {
  await assert.rejects(catalog.find("acme.deplo"), /did you mean acme\.deploy\?/);
  await assert.rejects(catalog.find("constructor"), /no function "constructor"/);
  await assert.rejects(catalog.find("../../etc.passwd"), /no function/);
});

const rows: [name: string, want: boolean][] = [
  ["test.ping", true],
  ["cmd.run", false],
  ["acme.deploy", false],
  ["no.such", true],
];
for (const [name, want] of rows) {
  Deno.test(`isReadOnly() of ${name} is ${want}`, async () => {
    assert.equal(await catalog.isReadOnly(name), want);
  });
}

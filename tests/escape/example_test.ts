/** The module that docs/custom-modules.md shows does what the page says, in workers and in processes of its own. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../tools/repository.ts";
import { ISOLATIONS } from "../../peel/exec/isolation/choose.ts";
import { openModuleLab } from "../fakes/module_lab.ts";

const EXAMPLES = join(ROOT, "examples");
const SOURCE = join(EXAMPLES, "_modules/release/current.ts");

Deno.test("docs/custom-modules.md shows the example as it is", async () => {
  const page = await Deno.readTextFile(join(ROOT, "docs/custom-modules.md"));
  assert.ok(page.includes(await Deno.readTextFile(SOURCE)));
});

for (const isolation of ISOLATIONS) {
  Deno.test(`release.current keeps, reports and takes back a link, isolation: ${isolation}`, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "zester-release-" }));
    const lab = openModuleLab({ statesDir: EXAMPLES });
    try {
      await Deno.mkdir(join(folder, "releases/1.0"), { recursive: true });
      const given = { id: folder, args: { version: "1.0", isolation } };
      const diff = `current: absent -> ${folder}/releases/1.0`;
      assert.deepEqual(await lab.check("release.current", given), { diff });
      const change = await lab.apply("release.current", given);
      assert.equal(change?.diff, diff);
      assert.equal(await Deno.readLink(join(folder, "current")), `${folder}/releases/1.0`);
      assert.equal(await lab.check("release.current", given), null);
      await lab.revert("release.current", given, change?.memo);
      assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["releases"]);
      const wrong = { id: folder, args: { version: "../../etc", isolation } };
      await assert.rejects(lab.check("release.current", wrong), /letters, digits, dots/);
    } finally {
      lab.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

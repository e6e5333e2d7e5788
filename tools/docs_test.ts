import assert from "node:assert/strict";
import { buckets, streams } from "../core/buckets.ts";
import { ERRORS } from "../core/errors.ts";
import { subjects } from "../core/subjects.ts";
import { generatedPages, stalePages } from "./docs.ts";
import { size, table } from "./docs/markdown.ts";

Deno.test("stalePages() names pages that are missing or differ, and no others", async () => {
  const root = await Deno.makeTempDir({ prefix: "zester-docs-test-" });
  try {
    await Deno.writeTextFile(`${root}/same.md`, "a");
    await Deno.writeTextFile(`${root}/other.md`, "b");
    const stale = await stalePages(root, { "same.md": "a", "other.md": "a", "gone.md": "a" });
    assert.deepEqual(stale, ["other.md", "gone.md"]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("generatedPages() hold every subject, bucket, stream and error", async () => {
  const pages = await generatedPages();
  const protocol = await pages["docs/protocol.md"]!();
  for (const { pattern } of Object.values(subjects)) {
    assert.ok(protocol.includes(`\`${pattern}\``), pattern);
  }
  for (const { name } of [...Object.values(buckets), ...Object.values(streams)]) {
    assert.ok(protocol.includes(`\`${name}\``), name);
  }
  const errors = await pages["docs/errors.md"]!();
  for (const code of Object.keys(ERRORS)) assert.ok(errors.includes(`\`${code}\``), code);
});

Deno.test("table() keeps a bar in a cell from ending it", () => {
  assert.equal(table(["a"], [["x | y"]]), "| a |\n| --- |\n| x \\| y |");
});

const sizes: [bytes: number, text: string][] = [[512, "512 B"], [65_536, "64 KiB"], [
  1.5 * 2 ** 30,
  "1.5 GiB",
]];
for (const [bytes, text] of sizes) {
  Deno.test(`size() writes ${bytes} as ${text}`, () => assert.equal(size(bytes), text));
}

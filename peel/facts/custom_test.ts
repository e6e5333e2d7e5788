import assert from "node:assert/strict";
import { systemFiles } from "../../core/adapters/system_files.ts";
import { customFacts } from "./custom.ts";

async function inFolder(test: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(`${folder}/zester/facts`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("customFacts() has none without a file", () =>
  inFolder(async (path) => assert.deepEqual(await customFacts(path, systemFiles).read(), {})));

Deno.test("customFacts() keeps what is set, also when set at the same time, as what it reads as", () =>
  inFolder(async (path) => {
    const facts = customFacts(path, systemFiles);
    await Promise.all([
      facts.set("role", "web"),
      facts.set("rank", "3"),
      facts.set("tags", "[a, b]"),
    ]);
    assert.deepEqual(await facts.read(), { role: "web", rank: 3, tags: ["a", "b"] });
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o644);
  }));

Deno.test("customFacts() refuses a file that is no map, and does not overwrite it", () =>
  inFolder(async (path) => {
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")));
    await Deno.writeTextFile(path, "- a\n");
    const facts = customFacts(path, systemFiles);
    await assert.rejects(facts.read(), /is not a map/);
    await assert.rejects(facts.set("a", "b"), /is not a map/);
    assert.equal(await Deno.readTextFile(path), "- a\n");
  }));

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname!, "..");
const STATIC_IMPORT = /^(?:import|export)(?! type)\s[^;]*?from\s+"([^"]+)";/gms;

/** Everything that is loaded before the first line of `entry` runs: local files, and what is not one. */
function loadedBy(entry: string): { files: Set<string>; outside: Set<string> } {
  const [files, outside] = [new Set<string>(), new Set<string>()];
  const visit = (path: string): void => {
    if (files.has(path)) return;
    files.add(path);
    for (const [, specifier] of readFileSync(path, "utf8").matchAll(STATIC_IMPORT)) {
      if (specifier!.startsWith(".")) visit(join(path, "..", specifier!));
      else outside.add(specifier!);
    }
  };
  visit(join(ROOT, entry));
  return { files, outside };
}

Deno.test("main.ts loads neither a package nor a node: module before it knows the command", () => {
  assert.deepEqual([...loadedBy("cli/main.ts").outside], []);
  const { files, outside } = loadedBy("cli/app.ts");
  assert.deepEqual([...outside], []);
  assert.ok(files.has(join(ROOT, "cli/render/help.ts")), "the walk follows imports");
});

Deno.test("main.ts: the check of what is loaded sees packages where there are some", () => {
  assert.ok(loadedBy("core/adapters/health_server.ts").outside.has("hono"));
});

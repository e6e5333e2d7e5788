import assert from "node:assert/strict";
import { loadConfig, type OptionSpec } from "../core/config.ts";
import { MASTER_CONFIG_PATH, MASTER_OPTIONS } from "./config.ts";

Deno.test("MASTER_OPTIONS names flag and variable after the key, so that one name is enough to know", () => {
  for (const [key, { flag, env }] of Object.entries<OptionSpec>(MASTER_OPTIONS)) {
    assert.equal(flag, `--${key.replaceAll("_", "-")}`);
    assert.equal(env, `ZESTER_${key.toUpperCase()}`);
  }
});

Deno.test("MASTER_OPTIONS needs no file: every default is taken", async () => {
  const files = { read: () => Promise.resolve(null) };
  const { values, origins } = await loadConfig({
    table: MASTER_OPTIONS,
    defaultPath: MASTER_CONFIG_PATH,
    env: {},
    args: [],
    files,
  });
  assert.deepEqual(new Set(Object.values(origins)), new Set(["default"]));
  assert.equal(values.auth_dir, "/var/lib/zester/auth");
});

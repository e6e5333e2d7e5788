import assert from "node:assert/strict";
import { loadConfig, type OptionSpec } from "../core/config.ts";
import { PEEL_CONFIG_PATH, PEEL_OPTIONS } from "./config.ts";

Deno.test("PEEL_OPTIONS names flag and variable after the key, so that one name is enough to know", () => {
  for (const [key, { flag, env }] of Object.entries<OptionSpec>(PEEL_OPTIONS)) {
    assert.equal(flag, `--${key.replaceAll("_", "-")}`);
    assert.equal(env, `ZESTER_${key.toUpperCase()}`);
  }
});

Deno.test("PEEL_OPTIONS needs no file: every default is taken", async () => {
  const files = { read: () => Promise.resolve(null) };
  const { values, origins } = await loadConfig({
    table: PEEL_OPTIONS,
    defaultPath: PEEL_CONFIG_PATH,
    env: {},
    args: [],
    files,
  });
  assert.deepEqual(new Set(Object.values(origins)), new Set(["default"]));
  assert.equal(values.auth_dir, "/var/lib/zester/auth");
});

import assert from "node:assert/strict";
import { systemRandom } from "./system_random.ts";

Deno.test("systemRandom.bytes() gives the length asked for, beyond the 65536 of getRandomValues", () => {
  for (const length of [0, 1, 32, 70_000]) assert.equal(systemRandom.bytes(length).length, length);
});

Deno.test("systemRandom.bytes() never repeats a nonce", () => {
  const seen = new Set(Array.from({ length: 1_000 }, () => systemRandom.bytes(16).toHex()));
  assert.equal(seen.size, 1_000);
});

Deno.test("systemRandom.float() stays in [0, 1) and covers it", () => {
  const values = Array.from({ length: 10_000 }, () => systemRandom.float());
  assert.ok(values.every((value) => value >= 0 && value < 1));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.ok(mean > 0.45 && mean < 0.55, `mean ${mean}`);
});

import assert from "node:assert/strict";
import { readMemory } from "./_proc.ts";

Deno.test("readMemory() reads amounts in bytes and works out what is used", () => {
  const text =
    "MemTotal:  1000 kB\nMemFree: 100 kB\nMemAvailable:  400 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB";
  const kb = (count: number) => count * 1_024;
  assert.deepEqual(readMemory(text), {
    total: kb(1000),
    available: kb(400),
    used: kb(600),
    free: kb(100),
    swap_total: kb(10),
    swap_used: kb(6),
    swap_free: kb(4),
  });
});

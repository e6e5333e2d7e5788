import assert from "node:assert/strict";
import { valueAt } from "./lookup.ts";

const data = { os: { family: "debian" }, ipv4: ["10.0.0.1"], "a.b": 1 };
const rows: [path: string, want: unknown][] = [
  ["os.family", "debian"],
  ["os:family", "debian"],
  ["ipv4.0", "10.0.0.1"],
  ["a.b", 1],
  ["os.constructor", undefined],
  ["__proto__", undefined],
  ["ipv4.length", undefined],
  ["os.family.x", undefined],
  ["", undefined],
];
for (const [path, want] of rows) {
  Deno.test(`valueAt() finds at ${JSON.stringify(path)}: ${JSON.stringify(want)}`, () => {
    assert.deepEqual(valueAt(data, path), want);
  });
}

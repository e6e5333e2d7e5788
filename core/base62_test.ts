import assert from "node:assert/strict";
import fc from "fast-check";
import { fromBase62, toBase62 } from "./base62.ts";

const cases: [value: bigint, width: number, text: string][] = [
  [0n, 1, "0"],
  [0n, 3, "000"],
  [9n, 1, "9"],
  [10n, 1, "A"],
  [35n, 1, "Z"],
  [36n, 1, "a"],
  [61n, 1, "z"],
  [62n, 2, "10"],
  [2n ** 160n - 1n, 27, "aWgEPTl1tmebfsQzFP4bxwgy80V"],
];

for (const [value, width, text] of cases) {
  Deno.test(`toBase62() writes ${value} as ${text}, and fromBase62() reads it`, () => {
    assert.equal(toBase62(value, width), text);
    assert.equal(fromBase62(text), value);
  });
}

Deno.test("fromBase62() gives null for anything that is not a digit", () => {
  for (const text of ["-", "a b", "é", "1.", "\n", "_"]) assert.equal(fromBase62(text), null, text);
});

Deno.test("toBase62() keeps the order of the numbers", () => {
  const number = fc.bigInt({ min: 0n, max: 2n ** 160n - 1n });
  fc.assert(fc.property(number, number, (a, b) => {
    const [textA, textB] = [toBase62(a, 27), toBase62(b, 27)];
    assert.equal(textA < textB, a < b);
    assert.equal(fromBase62(textA), a);
  }));
});

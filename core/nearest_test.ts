import assert from "node:assert/strict";
import fc from "fast-check";
import { editDistance, nearest } from "./nearest.ts";

const NAMES = ["job", "peel", "context", "version", "nats_url", "log_level", "id"];
const rows: [name: string, word: string, want: string | null][] = [
  ["sees swapped letters", "jbo", "job"],
  ["sees a missing letter", "contxt", "context"],
  ["sees a letter too many", "peell", "peel"],
  ["sees two slips in a long name", "log_lvle", "log_level"],
  ["ignores case", "Version", "version"],
  ["does not guess from afar", "web-01", null],
  ["does not guess for a short word", "*", null],
];
for (const [name, word, want] of rows) {
  Deno.test(`nearest() ${name}: ${word}`, () => assert.equal(nearest(word, NAMES), want));
}

const distances: [from: string, to: string, want: number][] = [
  ["", "", 0],
  ["abc", "", 3],
  ["kitten", "sitting", 3],
  ["ab", "ba", 1],
];
for (const [from, to, want] of distances) {
  Deno.test(`editDistance() of "${from}" and "${to}" is ${want}`, () => {
    assert.equal(editDistance(from, to), want);
  });
}

Deno.test("editDistance() is symmetric and zero only for equal words", () => {
  fc.assert(fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
    assert.equal(editDistance(a, b), editDistance(b, a));
    assert.equal(editDistance(a, b) === 0, a === b);
  }));
});

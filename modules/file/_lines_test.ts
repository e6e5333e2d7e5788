import assert from "node:assert/strict";
import fc from "fast-check";
import { planWith } from "./_edit.ts";
import { hasWindowsNewlines, linesOf, textOfLines } from "./_lines.ts";

const windows: [text: string, is: boolean][] = [
  ["", false],
  ["a", false],
  ["a\n", false],
  ["a\r\n", true],
  ["a\r\nb", true],
  ["a\r\nb\n", false],
  ["\n\r\n", false],
  ["\r\n\r\n", true],
  ["a\r", false],
  ["a\r\r\n", false],
  ["a\r\nb\r", false],
];

for (const [text, is] of windows) {
  Deno.test(`hasWindowsNewlines() says ${is} of ${JSON.stringify(text)}`, () => {
    assert.equal(hasWindowsNewlines(text), is);
  });
}

Deno.test("linesOf() and textOfLines() give every text back", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "\r", "é") }), (text) => {
    assert.equal(textOfLines(linesOf(text), text), text);
  }));
});

Deno.test("planWith() gives a plan plain newlines, and the file its own ones back", async () => {
  const seen: (string | null)[] = [];
  const edit = await planWith((text) => {
    seen.push(text);
    return { text: `${text}c\r\nd\n` };
  }, "a\r\nb\r\n");
  assert.deepEqual([seen, edit?.text], [["a\nb\n"], "a\r\nb\r\nc\r\nd\r\n"]);
});

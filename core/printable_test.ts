import assert from "node:assert/strict";
import fc from "fast-check";
import { printable, printableBlock, printableJson } from "./printable.ts";

const rows: [name: string, input: string, want: string][] = [
  ["leaves ordinary text alone", "héllo → 世界 🍊", "héllo → 世界 🍊"],
  ["escapes a line break, so that a line cannot be forged", "a\nb\r\tc", "a\\nb\\r\\tc"],
  ["escapes an escape sequence", "\u001b[31mred", "\\u001b[31mred"],
  ["escapes the one-byte CSI", "\u009b2J", "\\u009b2J"],
  ["escapes marks that reorder text", "a\u202eb", "a\\u202eb"],
  ["replaces a lone surrogate", "a\ud800", "a\ufffd"],
];
for (const [name, input, want] of rows) {
  Deno.test(`printable() ${name}`, () => assert.equal(printable(input), want));
}

Deno.test("printableBlock() keeps lines and tabs, and nothing else", () => {
  assert.equal(printableBlock("a\tb\r\nc\u001b[0m\rd"), "a\tb\nc\\u001b[0m\\rd");
});

Deno.test("printableJson() gives JSON that parses to the same value", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    const shown = printableJson(JSON.stringify({ text }));
    assert.equal(printable(shown), shown);
    assert.equal(JSON.parse(shown).text, text);
  }));
});

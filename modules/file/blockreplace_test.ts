import assert from "node:assert/strict";
import { planWith } from "./_edit.ts";
import { plan } from "./blockreplace.ts";

const base = {
  name: "/f",
  marker_start: "<",
  marker_end: ">",
  append_if_not_found: false,
  prepend_if_not_found: false,
  append_newline: false,
};
const ADD = { append_if_not_found: true };

type Row = [
  before: string | null,
  content: string,
  change: Partial<typeof base>,
  want: string | null,
];

/** Null: nothing to do. */
const rows: Row[] = [
  [null, "x", {}, null],
  ["a\n", "x", {}, null],
  [null, "x", ADD, "<\nx\n>\n"],
  ["", "x", ADD, "<\nx\n>\n"],
  ["a", "x", ADD, "a\n<\nx\n>\n"],
  ["a\n", "x", { prepend_if_not_found: true }, "<\nx\n>\na\n"],
  ["<\nx\n>\n", "x", ADD, null],
  ["<\nx\n>", "x", ADD, null],
  ["<\nx\n>", "y", ADD, "<\ny\n>"],
  ["<\n>\n", "x\n", {}, "<\nx\n>\n"],
  ["<\nx\ny\n>\nz", "", {}, "<\n>\nz"],
  ["<\nx\n>\n", "x", { append_newline: true }, null],
  ["<\nx\n>\n", "x\n", { append_newline: true }, "<\nx\n\n>\n"],
  ["a\r\n<\r\nx\r\n>\r\n", "y\nz", {}, "a\r\n<\r\ny\r\nz\r\n>\r\n"],
  ["a\n<\r\nx\r\n>\r\n", "x", {}, "a\n<\r\nx\n>\r\n"],
  // Only the first of several blocks counts, and a stray end before it is nothing.
  [">\n<\na\n>\n<\nb\n>\n", "x", {}, ">\n<\nx\n>\n<\nb\n>\n"],
  ["<\na\n<\nb\n>\n", "x", {}, "<\nx\n>\n"],
  // A marker is a whole line.
  ["# <\nx\n>\n", "y", {}, null],
  ["é\n<\nx\n>\n", "😀", {}, "é\n<\n😀\n>\n"],
];

for (const [before, content, change, want] of rows) {
  const shown = JSON.stringify([before, content, change]);
  Deno.test(`file.blockreplace plan() makes ${JSON.stringify(want)} of ${shown}`, async () => {
    const p = { ...base, ...change, content };
    const edit = await planWith((text) => plan(p, text), before);
    const after = edit === null || edit.text === before ? null : edit.text;
    assert.equal(after, want);
    if (after === null) return;
    const again = await planWith((text) => plan(p, text), after);
    assert.ok(again === null || again.text === after, "the second run changes nothing");
  });
}

const refused: [before: string, content: string, change: Partial<typeof base>, why: RegExp][] = [
  ["a\n<\nx\n", "y", ADD, /line 2 has no end marker/],
  ["", "a\n>\nb", ADD, /holds a marker/],
  ["", "<", ADD, /holds a marker/],
  ["", "x", { marker_end: "<" }, /same line/],
];

for (const [before, content, change, why] of refused) {
  Deno.test(`file.blockreplace plan() refuses ${JSON.stringify([before, content, change])}`, () => {
    assert.throws(() => plan({ ...base, ...change, content }, before), why);
  });
}

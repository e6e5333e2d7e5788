import assert from "node:assert/strict";
import { planWith } from "./_edit.ts";
import { plan } from "./append.ts";

/** Null: nothing to do. */
const rows: [before: string | null, text: string[], want: string | null][] = [
  [null, ["a"], "a\n"],
  [null, [], ""],
  ["", ["a"], "a\n"],
  ["a", ["b"], "a\nb\n"],
  ["a\n", ["b", "c"], "a\nb\nc\n"],
  ["a\n", ["a"], null],
  ["ab\n", ["a"], null],
  ["a\n", ["b", "b"], "a\nb\nb\n"],
  ["a\n", ["foobar", "foo"], "a\nfoobar\nfoo\n"],
  ["a\r\n", ["b"], "a\r\nb\r\n"],
  ["a\r\nb\r\n", ["a\nb"], null],
  ["a\nb\n", ["a\nb\n"], null],
  ["é\n", ["😀"], "é\n😀\n"],
];

for (const [before, text, want] of rows) {
  Deno.test(`file.append plan() makes ${JSON.stringify(want)} of ${JSON.stringify([before, text])}`, async () => {
    const edit = await planWith((each) => plan({ name: "/f", text }, each), before);
    assert.equal(edit?.text ?? null, want);
  });
}

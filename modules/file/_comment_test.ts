import assert from "node:assert/strict";
import { planComment, planUncomment } from "./_comment.ts";
import { planWith } from "./_edit.ts";

type Row = [before: string | null, regex: string, want: string | null, char?: string];

/** Null: nothing to do. */
const comments: Row[] = [
  [null, "a", null],
  ["", "a", null],
  ["a\nb\n", "^a", "#a\nb\n"],
  ["a", "a", "#a"],
  ["#a\n  #a\n", "a", null],
  ["  a\n", "a", "#  a\n"],
  ["  a\n", "^a", null],
  ["a\r\nb\r\n", "^a$", "#a\r\nb\r\n"],
  ["a\r\nb\n", "^a$", "#a\r\nb\n"],
  ["a\n", "a", "//a\n", "//"],
  ["é\n", "é", "#é\n"],
  ["a\n\n", "^$", "a\n#\n"],
];

const uncomments: Row[] = [
  [null, "a", null],
  ["#a\n#b\n", "^a", "a\n#b\n"],
  ["#a", "a", "a"],
  ["  #a\n", "^a", "  a\n"],
  ["#  a\n", "^a", "  a\n"],
  ["a\n", "a", null],
  ["##a\n", "^a", null],
  ["##a\n", "a", "a\n"],
  ["#a\r\n", "^a$", "a\r\n"],
  ["//a\n", "a", "a\n", "//"],
  ["#é\n", "^é$", "é\n"],
];

for (
  const [name, plan, rows] of [
    ["planComment", planComment, comments],
    ["planUncomment", planUncomment, uncomments],
  ] as const
) {
  for (const [before, regex, want, char = "#"] of rows) {
    const shown = JSON.stringify([before, regex, char]);
    Deno.test(`${name}() makes ${JSON.stringify(want)} of ${shown}`, async () => {
      const run = (text: string | null) => planWith((each) => plan({ regex, char }, each), text);
      const edit = await run(before);
      assert.equal(edit?.text ?? null, want);
      if (edit !== null) assert.equal(await run(edit.text), null, "the second run changes nothing");
    });
  }
}

Deno.test("planUncomment() undoes planComment()", async () => {
  const text = "a\n  a b\n\tz\n";
  const edit = await planComment({ regex: "a", char: "#" }, text);
  assert.equal((await planUncomment({ regex: "a", char: "#" }, edit!.text))?.text, text);
});

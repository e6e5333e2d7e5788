import assert from "node:assert/strict";
import fc from "fast-check";
import { planWith } from "./_edit.ts";
import { plan } from "./line.ts";

type Params = Parameters<typeof plan>[0];

/** Null: nothing to do. */
const rows: [before: string | null, p: Partial<Params>, want: string | null][] = [
  // ensure
  [null, { content: "a" }, "a\n"],
  ["", { content: "a" }, "a\n"],
  ["a\n", { content: "a" }, null],
  ["a", { content: "b" }, "a\nb"],
  ["a\n", { content: "b\n" }, "a\nb\n"],
  ["x=1\nx=2\n", { content: "x=3", match: "^x=" }, "x=3\nx=2\n"],
  ["x=3\nx=2\n", { content: "x=3", match: "^x=" }, null],
  ["x=2\nx=3\n", { content: "x=3", match: "^x=" }, "x=3\nx=3\n"],
  ["#x\n#x\n", { content: "x", match: "^#x" }, "x\n#x\n"],
  ["x\n#x\n", { content: "x", match: "^#x" }, null],
  ["a\nb\n", { content: "n", after: "^a" }, "a\nn\nb\n"],
  ["a\nb\n", { content: "n", before: "^b" }, "a\nn\nb\n"],
  ["a\nb\n", { content: "n", after: "^z", before: "^a" }, "n\na\nb\n"],
  ["a\nb\n", { content: "n", after: "^z", before: "^z" }, "a\nb\nn\n"],
  ["a\nb\n", { content: "n", match: "^z", after: "a" }, "a\nn\nb\n"],
  ["a\r\nb\r\n", { content: "n", after: "a$" }, "a\r\nn\r\nb\r\n"],
  ["é\n", { content: "😀", match: "^é$" }, "😀\n"],
  ["a\n\n", { content: "\tb" }, "a\n\n\tb\n"],
  // A file with both kinds of newlines.
  ["a\r\n\nb\n", { mode: "delete", match: "a$" }, "\nb\n"],
  ["a\r\nb\n", { content: "a" }, null],
  // An expression that is none is looked for as it is.
  ["a[1\nb\n", { content: "n", match: "[1" }, "n\nb\n"],
  // replace
  ["x=1\ny\nx=2", { mode: "replace", content: "z", match: "^x" }, "z\ny\nz"],
  ["y\n", { mode: "replace", content: "z", match: "^x" }, null],
  [null, { mode: "replace", content: "z", match: "^x" }, null],
  // insert
  ["x=1\n", { mode: "insert", content: "x=2", match: "^x=" }, "x=1\nx=2\n"],
  ["x=2\n", { mode: "insert", content: "x=2" }, null],
  [null, { mode: "insert", content: "x" }, "x\n"],
  // delete
  ["a\nb\na\n", { mode: "delete", content: "a" }, "b\n"],
  ["a\nb", { mode: "delete", content: "b" }, "a"],
  ["a\nb\n", { mode: "absent", match: "a|b" }, ""],
  ["a1\nb\na2\n", { mode: "delete", match: "^a" }, "b\n"],
  ["b\n", { mode: "delete", match: "^a" }, null],
  [null, { mode: "delete", match: "^a" }, null],
];

for (const [before, p, want] of rows) {
  const shown = JSON.stringify([before, p]);
  Deno.test(`file.line plan() makes ${JSON.stringify(want)} of ${shown}`, async () => {
    const run = (text: string | null) =>
      planWith((each) => plan({ mode: "ensure", ...p }, each), text);
    const edit = await run(before);
    assert.equal(edit?.text ?? null, want);
    if (edit !== null) assert.equal(await run(edit.text), null, "the second run changes nothing");
  });
}

const refused: [p: Partial<Params>, why: RegExp][] = [
  [{}, /ensure needs content/],
  [{ mode: "replace", content: "a" }, /needs match/],
  [{ mode: "replace", match: "a" }, /needs content/],
  [{ mode: "delete" }, /needs content or match/],
];

for (const [p, why] of refused) {
  Deno.test(`file.line plan() refuses ${JSON.stringify(p)}`, async () => {
    await assert.rejects(() => plan({ mode: "ensure", ...p }, "a\n"), why);
  });
}

Deno.test("file.line plan() finds nothing to do after itself, whatever the text", async () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "#", "\n", "\r\n") });
  const pattern = fc.option(fc.constantFrom("a", "^#", "b$", "^$", "["), { nil: undefined });
  const mode = fc.constantFrom("ensure", "insert", "delete" as const);
  await fc.assert(
    fc.asyncProperty(texts, mode, pattern, pattern, async (text, mode, match, after) => {
      const p = { content: "ab", mode, match, after } as Params;
      const edit = await planWith((each) => plan(p, each), text);
      const again = edit === null ? null : await planWith((each) => plan(p, each), edit.text);
      assert.equal(again, null);
    }),
    { numRuns: 1_000 },
  );
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { compilePattern } from "./pattern.ts";

const rows: [pattern: string, text: string, by: string, want: string, countMax?: number][] = [
  ["b", "abcb", "x", "axcx"],
  ["b", "abcb", "x", "axcb", 1],
  ["^a$", "a\nb\na", "x", "x\nb\nx"],
  ["^", "a\nb", "# ", "# a\n# b"],
  ["$", "a\nb", ";", "a;\nb;"],
  ["(\\w+)=(\\w+)", "k=v", "$2=$1", "v=k"],
  ["(\\w+)=(\\w+)", "k=v", "${2}0", "v0"],
  ["(?P<key>\\w+)=", "k=v", "${key}:", "k:v"],
  ["a", "a", "$$1", "$1"],
  ["a", "a", "US$ ${", "US$ ${"],
  ["(a)|b", "b", "[$1]", "[]"],
  ["é", "😀é", "ü", "😀ü"],
  ["x", "", "y", ""],
  [".", "a\nb", "x", "x\nx"],
  ["(?s).+", "a\nb", "x", "x"],
  ["(?i)port", "PORT", "x", "x"],
  ["a", "a", "\\1", "\\1"],
];

for (const [pattern, text, by, want, countMax] of rows) {
  const how = JSON.stringify([pattern, text, by]);
  Deno.test(`compilePattern().replace() makes ${JSON.stringify(want)} of ${how}`, async () => {
    const found = (await compilePattern(pattern)).replace(text, by, {
      ...(countMax === undefined ? {} : { countMax }),
    });
    assert.equal(found.text, want);
  });
}

const refused: [pattern: string, by: string, why: RegExp][] = [
  ["(", "", /no regular expression/],
  ["(?=a)", "", /no regular expression/],
  ["(a)\\1", "", /no regular expression/],
  ["a".repeat(5_000), "", /5000 characters/],
  ["((a{30}){30}){20}", "", /steps|no regular expression/],
  ["(a)", "$2", /the group 2/],
  ["(a)", "${toString}", /the group toString/],
];

for (const [pattern, by, why] of refused) {
  Deno.test(`compilePattern() refuses ${JSON.stringify([pattern.slice(0, 20), by])}`, async () => {
    await assert.rejects(async () => (await compilePattern(pattern)).replace("a", by), why);
  });
}

Deno.test("compilePattern() takes linear time where backtracking would take for ever", async () => {
  assert.equal((await compilePattern("^(a+)+$")).test(`${"a".repeat(5_000)}!`), false);
});

Deno.test("compilePattern().replace() replaces plain text as the language does", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("a", "b", "é"),
      async (text, letter) => {
        const { text: made } = (await compilePattern(letter)).replace(text, "$$");
        assert.equal(made, text.replaceAll(letter, () => "$"));
      },
    ),
  );
});

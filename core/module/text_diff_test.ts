import assert from "node:assert/strict";
import { applyPatch, createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { textDiff, textOf } from "./text_diff.ts";

const TEN = Array.from({ length: 10 }, (_, line) => `line ${line}\n`).join("");

const diffs: [name: string, from: string | null, to: string | null, want: string][] = [
  ["nothing", "a\n", "a\n", ""],
  ["a new file", null, "a\nb\n", "--- /dev/null\n+++ /f\n@@ -0,0 +1,2 @@\n+a\n+b\n"],
  ["a file that goes", "a\n", null, "--- /f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"],
  [
    "a line of ten",
    TEN,
    TEN.replace("line 5", "other"),
    "--- /f\n+++ /f\n@@ -3,7 +3,7 @@\n line 2\n line 3\n line 4\n-line 5\n+other\n line 6\n line 7\n line 8\n",
  ],
  [
    "a last line without its end",
    "a",
    "a\n",
    "--- /f\n+++ /f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n",
  ],
];
for (const [name, from, to, want] of diffs) {
  Deno.test(`textDiff() shows ${name}`, async () => {
    assert.equal(await textDiff("/f", from, to), want);
  });
}

Deno.test("textDiff() of any two texts leads from one to the other, in as few lines as can be", async () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", "d", "")).chain((lines) =>
    fc.constantFrom(lines.join("\n"), lines.map((line) => `${line}\n`).join(""))
  );
  await fc.assert(fc.asyncProperty(text, text, async (from, to) => {
    const patch = await textDiff("/f", from, to);
    if (from === to) return assert.equal(patch, "");
    assert.equal(applyPatch(from, patch), to);
    assert.equal(changedLines(patch), changedLines(createTwoFilesPatch("/f", "/f", from, to)));
  }));
});

function changedLines(patch: string): number {
  return patch.split("\n").slice(2).filter((line) => /^[+-](?!--|\+\+)/.test(line)).length;
}

Deno.test("textDiff() of a long text is cut at a line, with the rest counted", async () => {
  const long = "0123456789\n".repeat(4_000);
  assert.match(await textDiff("/f", null, long), /\n\+0123456789\n… 2\d{3} more lines\n$/);
});

Deno.test("textOf() knows text from bytes", () => {
  assert.equal(textOf(new TextEncoder().encode("ä")), "ä");
  assert.equal(textOf(new Uint8Array([0x61, 0])), null);
  assert.equal(textOf(new Uint8Array([0xff])), null);
});

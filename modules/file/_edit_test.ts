/** What holds for every editor, whatever the text. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { planComment, planUncomment } from "./_comment.ts";
import { type EditPlan, planWith } from "./_edit.ts";
import * as append from "./append.ts";
import * as blockreplace from "./blockreplace.ts";
import * as keyvalue from "./keyvalue.ts";

const MARKERS = { marker_start: "<", marker_end: ">", append_newline: false };

const plans: Record<string, EditPlan> = {
  append: (text) => append.plan({ name: "/f", text: ["a=1", "b\nc", "é"] }, text),
  blockreplace: (text) =>
    blockreplace.plan({
      ...MARKERS,
      name: "/f",
      content: "a\nb",
      append_if_not_found: true,
      prepend_if_not_found: false,
    }, text),
  comment: (text) => planComment({ regex: "a|^$", char: "#" }, text),
  uncomment: (text) => planUncomment({ regex: "a|^$", char: "#" }, text),
  keyvalue: (text) =>
    keyvalue.plan({ separator: "=", key_values: { a: "1", b: "" }, uncomment: "#" }, text),
  "keyvalue with blanks": (text) => keyvalue.plan({ separator: " ", key: "a", value: "b" }, text),
};

const texts = fc.option(
  fc.string({
    unit: fc.constantFrom("a", "b", "=", "#", " ", "<", ">", "1", "é", "\r", "\n", "\r\n"),
  }),
);

for (const [name, plan] of Object.entries(plans)) {
  Deno.test(`planWith() of ${name} finds nothing to do after itself`, async () => {
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const edit = await tryPlan(plan, text);
        if (edit === null || edit.text === text) return;
        tried += 1;
        const again = await planWith(plan, edit.text);
        assert.equal(again?.text ?? edit.text, edit.text);
      }),
      { numRuns: 1_000 },
    );
    assert.ok(tried > 5, `only ${tried} texts were edited`);
  });
}

/** A block without an end is refused, which is no edit. */
async function tryPlan(plan: EditPlan, text: string | null) {
  try {
    return await planWith(plan, text);
  } catch (thrown) {
    if (thrown instanceof Error && /no end marker/.test(thrown.message)) return null;
    throw thrown;
  }
}

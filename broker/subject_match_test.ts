import assert from "node:assert/strict";
import fc from "fast-check";
import {
  compilePatterns,
  hasWildcard,
  isLiteralSubject,
  isPattern,
  isSubset,
  matches,
  overlap,
  SubjectIndex,
} from "./subject_match.ts";

const matchCases: [pattern: string, subject: string, want: boolean][] = [
  ["a.b", "a.b", true],
  ["a.b", "a.c", false],
  ["a.b", "a", false],
  ["a", "a.b", false],
  ["a.*", "a.b", true],
  ["a.*", "a", false],
  ["a.*", "a.b.c", false],
  ["*.b", "a.b", true],
  ["*", "a", true],
  [">", "a", true],
  [">", "a.b.c", true],
  ["a.>", "a.b", true],
  ["a.>", "a.b.c", true],
  ["a.>", "a", false],
  ["a.*.c", "a.b.c", true],
  ["a.*.>", "a.b", false],
  ["a.*.>", "a.b.c", true],
];

for (const [pattern, subject, want] of matchCases) {
  Deno.test(`matches() ${pattern} ${want ? "takes" : "leaves"} ${subject}`, () => {
    assert.equal(matches(pattern, subject), want);
    assert.equal(compilePatterns([pattern])(subject), want);
    const index = new SubjectIndex<string>();
    index.add(pattern, "x");
    assert.deepEqual(index.match(subject), want ? ["x"] : []);
  });
}

const subsetCases: [inner: string, outer: string, want: boolean][] = [
  ["a.*", "a.>", true],
  ["a.>", "a.*", false],
  ["a.>", "a.>", true],
  ["*.b", "a.b", false],
  ["a.b", "*.b", true],
  ["a.*.c", "a.>", true],
  [">", "a.>", false],
  ["a.>", ">", true],
];

for (const [inner, outer, want] of subsetCases) {
  Deno.test(`isSubset() says ${want} for ${inner} within ${outer}`, () => {
    assert.equal(isSubset(inner, outer), want);
  });
}

const overlapCases: [left: string, right: string, want: boolean][] = [
  ["a.*", "*.b", true],
  ["a.b", "a.c", false],
  ["a.>", "a.b.c", true],
  ["a.>", "a", false],
  ["a.*", "a.b.c", false],
  [">", "x", true],
];

for (const [left, right, want] of overlapCases) {
  Deno.test(`overlap() says ${want} for ${left} and ${right}`, () => {
    assert.equal(overlap(left, right), want);
    assert.equal(overlap(right, left), want);
  });
}

Deno.test("isPattern() and isLiteralSubject() refuse what is no subject", () => {
  for (const bad of ["", ".", "a.", ".a", "a..b", "a b", "a.>.b", "a\r\n"]) {
    assert.equal(isPattern(bad), false, bad);
    assert.equal(isLiteralSubject(bad), false, bad);
  }
  assert.ok(isPattern("a.*.>") && !isLiteralSubject("a.*.>"));
  assert.ok(isLiteralSubject("a.b*.c>d") && !hasWildcard("a.b*.c>d"));
});

Deno.test("SubjectIndex finds exactly the patterns that matches() accepts, also after removals", () => {
  const token = fc.constantFrom("a", "b", "c");
  const subject = fc.array(token, { minLength: 1, maxLength: 4 }).map((all) => all.join("."));
  const pattern = fc.tuple(
    fc.array(fc.constantFrom("a", "b", "*"), { minLength: 1, maxLength: 3 }),
    fc.boolean(),
  ).map(([tokens, open]) => [...tokens, ...(open ? [">"] : [])].join("."));
  fc.assert(fc.property(
    fc.array(pattern, { maxLength: 12 }),
    fc.array(fc.nat(11), { maxLength: 4 }),
    subject,
    (patterns, removals, wanted) => {
      const index = new SubjectIndex<number>();
      patterns.forEach((each, at) => index.add(each, at));
      const gone = new Set(removals.filter((at) => at < patterns.length));
      for (const at of gone) index.remove(patterns[at] as string, at);
      const want = patterns.flatMap((each, at) =>
        !gone.has(at) && matches(each, wanted) ? [at] : []
      );
      assert.deepEqual(index.match(wanted).sort((a, b) => a - b), want);
    },
  ));
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { matchesGlob, matchesPeelId } from "./glob.ts";

const cases: [pattern: string, text: string, matches: boolean][] = [
  ["*", "web-01", true],
  ["*", "", true],
  ["web*", "web-01", true],
  ["web*", "db-01", false],
  ["*01", "web-01", true],
  ["w?b-01", "web-01", true],
  ["w?b-01", "wb-01", false],
  ["*e*0*", "web-01", true],
  ["web", "web-01", false],
  ["", "web", false],
  ["web-01*", "web-01", true],
];
for (const [pattern, text, matches] of cases) {
  Deno.test(`matchesGlob() ${matches ? "takes" : "leaves"} ${JSON.stringify(text)} for ${JSON.stringify(pattern)}`, () => {
    assert.equal(matchesGlob(pattern, text), matches);
  });
}

Deno.test("matchesGlob() agrees with the obvious regular expression", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
  const words = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
  fc.assert(fc.property(letters, words, (pattern, text) => {
    const expression = new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`);
    return matchesGlob(pattern, text) === expression.test(text);
  }));
});

Deno.test("matchesGlob() takes steps in proportion to pattern and text, whatever the pattern", () => {
  let reads = 0;
  const text = new Proxy(Object("a".repeat(2_000)), {
    get(target, name) {
      reads++;
      return Reflect.get(target, name);
    },
  }) as string;
  assert.equal(matchesGlob(`${"*a".repeat(20)}*b`, text), false);
  assert.ok(reads < 2_000 * 45 * 2, `${reads} reads`);
});

Deno.test("matchesPeelId() takes the dotted form that operators see", () => {
  assert.ok(matchesPeelId("web-01.example.com", "web-01_example_com"));
  assert.ok(matchesPeelId("*.example.com", "web-01_example_com"));
  assert.ok(!matchesPeelId("*.example.org", "web-01_example_com"));
});

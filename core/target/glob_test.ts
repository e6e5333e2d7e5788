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

const classes: [pattern: string, text: string, matches: boolean][] = [
  ["web-0[1-3]", "web-02", true],
  ["web-0[1-3]", "web-04", false],
  ["web-0[!1-3]", "web-04", true],
  ["web-0[^1-3]", "web-01", false],
  ["web[-_]1", "web-1", true],
  ["web[a-]1", "web-1", true],
  ["[a\\-c]", "b", false],
  ["[a\\-c]", "-", true],
  ["[\\]]", "]", true],
  ["\\*", "*", true],
  ["\\*", "a", false],
  ["[", "[", false],
  ["a.b", "a_b", false],
];
for (const [pattern, text, matches] of classes) {
  Deno.test(`matchesGlob() ${matches ? "takes" : "leaves"} ${JSON.stringify(text)} for ${JSON.stringify(pattern)}`, () => {
    assert.equal(matchesGlob(pattern, text), matches);
  });
}

Deno.test("matchesPeelId() leaves escaped dots and dots in classes alone", () => {
  assert.ok(!matchesPeelId("a\\.b", "a_b"));
  assert.ok(!matchesPeelId("a[.]b", "a_b"));
  assert.ok(!matchesPeelId("a\\.*", "a_b"));
  assert.ok(matchesPeelId("a.*", "a_b"));
});

Deno.test("matchesGlob() never hangs on a long hostile pattern", () => {
  const pattern = "*a".repeat(8_000) + "b";
  for (let at = 0; at < 10_000; at++) {
    assert.equal(matchesGlob(pattern.slice(0, 260), "a".repeat(128)), false);
  }
  assert.equal(matchesGlob(pattern, "a".repeat(128)), false);
});

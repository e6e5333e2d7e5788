import assert from "node:assert/strict";
import { isDeclared, isMade, withLocale } from "./_gen.ts";

const GEN = `# This file lists locales that you wish to have built. You can find a list
# of valid supported locales at /usr/share/i18n/SUPPORTED
# de_DE ISO-8859-1
# de_DE.UTF-8 UTF-8
# de_DE@euro ISO-8859-15
en_GB.UTF-8 UTF-8
`;

Deno.test("isMade() finds what the system spells otherwise", () => {
  const list = "C\nC.utf8\nen_GB.utf8\nPOSIX\n";
  assert.equal(isMade(list, "en_GB.UTF-8"), true);
  assert.equal(isMade(list, "en_US.UTF-8"), false);
  assert.equal(isMade(list, "en_GB"), false);
});

Deno.test("isDeclared() does not count what is commented out", () => {
  assert.equal(isDeclared(GEN, "en_GB.UTF-8"), true);
  assert.equal(isDeclared(GEN, "de_DE.UTF-8"), false);
});

const rows: [name: string, locale: string, want: string][] = [
  [
    "uncomments its line",
    "de_DE.UTF-8",
    GEN.replace("# de_DE.UTF-8 UTF-8", "de_DE.UTF-8 UTF-8"),
  ],
  ["uncomments another charset", "de_DE", GEN.replace("# de_DE ISO", "de_DE ISO")],
  ["adds a line", "fr_FR.UTF-8", `${GEN}fr_FR.UTF-8 UTF-8\n`],
  ["adds a line with its charset", "fr_FR.ISO-8859-15", `${GEN}fr_FR.ISO-8859-15 ISO-8859-15\n`],
  ["adds a line without one", "fr_FR", `${GEN}fr_FR UTF-8\n`],
  ["leaves what is declared", "en_GB.utf8", GEN],
  ["takes no prose for a line", "This", `${GEN}This UTF-8\n`],
];
for (const [name, locale, want] of rows) {
  Deno.test(`withLocale() ${name}`, () => {
    const after = withLocale(GEN, locale);
    assert.equal(after, want);
    assert.ok(isDeclared(after, locale));
    assert.equal(withLocale(after, locale), after);
  });
}

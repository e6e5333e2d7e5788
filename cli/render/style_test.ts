import assert from "node:assert/strict";
import type { Color } from "../commands/flags.ts";
import { chooseStyle } from "./style.ts";

const rows: [
  name: string,
  flag: Color,
  env: Record<string, string>,
  terminal: boolean,
  want: boolean,
][] = [
  ["colours on a terminal", "auto", {}, true, true],
  ["does not colour a file", "auto", {}, false, false],
  ["obeys NO_COLOR", "auto", { NO_COLOR: "1" }, true, false],
  ["ignores an empty NO_COLOR", "auto", { NO_COLOR: "" }, true, true],
  ["obeys FORCE_COLOR", "auto", { FORCE_COLOR: "1" }, false, true],
  ["takes FORCE_COLOR=0 as a no", "auto", { FORCE_COLOR: "0" }, true, false],
  ["lets NO_COLOR win over FORCE_COLOR", "auto", { NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
  ["lets --color=always win over NO_COLOR", "always", { NO_COLOR: "1" }, false, true],
  ["obeys --color=never", "never", { FORCE_COLOR: "1" }, true, false],
  ["does not colour a dumb terminal", "auto", { TERM: "dumb" }, true, false],
  ["does not colour a CI log", "auto", { CI: "true" }, true, false],
];
for (const [name, flag, env, isTerminal, want] of rows) {
  Deno.test(`chooseStyle() ${name}`, () => {
    assert.equal(chooseStyle({ flag, env, isTerminal }).color, want);
  });
}

Deno.test("chooseStyle() falls back to ASCII in a locale without UTF-8", () => {
  const unicode = (env: Record<string, string>) =>
    chooseStyle({ flag: "auto", env, isTerminal: true }).unicode;
  assert.deepEqual([{}, { LANG: "C" }, { LANG: "de_DE.UTF-8" }].map(unicode), [true, false, true]);
});

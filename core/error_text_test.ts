import assert from "node:assert/strict";
import { errorText, type ErrorTextOptions } from "./error_text.ts";
import { ZesterError } from "./errors.ts";

const POINTED = new ZesterError("bad_target", "target: wrong, at column 3\n| a b\n|   ^", {
  cause: new Error("why\u001b[2J"),
  fix: "one\ntwo",
});

const cases: [name: string, options: ErrorTextOptions, want: string[]][] = [
  ["quotes what was written, with a mark below the place", {}, [
    "error ZE0404: target: wrong, at column 3",
    "  | a b",
    "  |   ^",
    "  fix      one",
    "           two",
  ]],
  ["draws a line where it can, and adds causes, which move no cursor", {
    unicode: true,
    verbose: true,
    paint: (head) => `<${head}>`,
  }, [
    "<error ZE0404:> target: wrong, at column 3",
    "  │ a b",
    "  │   ^",
    "  = cause  Error: why\\u001b[2J",
    "  fix      one",
    "           two",
  ]],
];
for (const [name, options, want] of cases) {
  Deno.test(`errorText() ${name}`, () => {
    assert.equal(errorText(POINTED, options), want.join("\n"));
  });
}

Deno.test("errorText() marks further lines as what is known", () => {
  const error = new ZesterError("nobody_matches", "nobody matches  x\n  web-*  4 peels");
  assert.equal(errorText(error), "error ZE0405: nobody matches  x\n  = web-*  4 peels");
});

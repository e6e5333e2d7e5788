import assert from "node:assert/strict";
import { lazyRequire, referencesIn, relink } from "./bundle.ts";
import { lastCause } from "./native.ts";
import { tar } from "./self_extracting.ts";

const spelled: [name: string, text: string, want: string[]][] = [
  ["a worker entry", `new Worker(new URL("./a.ts", import.meta.url))`, ["./a.ts"]],
  ["over several lines", `new URL(\n  '../b.txt',\n  import.meta.url,\n)`, ["../b.txt"]],
  ["a resolve", "import.meta.resolve(`./c.ts`)", ["./c.ts"]],
  ["not one that is worked out", "new URL(`./${name}.ts`, import.meta.url)", []],
  ["not one relative to something else", `new URL("./a.ts", base)`, []],
  ["not a package", `import.meta.resolve("zod")`, []],
];
for (const [name, text, want] of spelled) {
  Deno.test(`referencesIn() finds ${name}`, () => assert.deepEqual(referencesIn(text), want));
}

Deno.test("relink() replaces what is known and leaves the rest", () => {
  const text = `new URL("./a.ts", import.meta.url); new URL("./b.ts", import.meta.url)`;
  const linked = relink(text, (spelling) => spelling === "./a.ts" ? "./$&.js" : undefined);
  assert.equal(linked, `new URL("./$&.js", import.meta.url); new URL("./b.ts", import.meta.url)`);
});

const BANNER = `import { createRequire as make } from "node:module";
var __require = make(import.meta.url);
`;

Deno.test("lazyRequire() takes the built-in out of the imports", () => {
  const lazy = lazyRequire(`${BANNER}var fs = __require("fs");`);
  assert.ok(!/^import/m.test(lazy));
  assert.match(lazy, /getBuiltinModule/);
});

Deno.test("lazyRequire() leaves a bundle alone that uses more than the call", () => {
  const text = `${BANNER}__require.resolve("x");`;
  assert.equal(lazyRequire(text), text);
  assert.equal(lazyRequire("var a = 1;"), "var a = 1;");
});

Deno.test("lastCause() gives the error and its innermost cause in one line", () => {
  const stderr = `Download x
error: Writing a file

Caused by:
    0: sending the request
    1: failed to look up the address

Stack backtrace:
   0: <unknown>
`;
  assert.equal(lastCause(stderr), "Writing a file: failed to look up the address");
  assert.equal(lastCause(""), "no reason given");
});

Deno.test("tar() refuses a path that its header cannot hold", () => {
  assert.throws(() => tar([["a".repeat(101), new Uint8Array()]], 0o644), /too long/);
});

import assert from "node:assert/strict";
import { customSource, placeIn } from "./custom_source.ts";

const BODY = "export default defineModule({ name: 'a.b' });\n";

const taken: [name: string, source: string, want: string][] = [
  [
    "an import from zester",
    `import { defineModule, text as t } from "zester";\n${BODY}`,
    `const {defineModule, text: t} = globalThis.__zester;\n${BODY}`,
  ],
  [
    "comments before it and several lines",
    `// a\n/* b */\nimport {\n  defineModule,\n  type Host,\n} from 'zester';\n${BODY}`,
    `// a\n/* b */\nconst {defineModule} = globalThis.__zester;\n\n\n\n${BODY}`,
  ],
  [
    "a type import after it",
    `import { x } from "zester";\nimport type { Host } from "zester";\n${BODY}`,
    `const {x} = globalThis.__zester;\n\n${BODY.slice(0)}`,
  ],
  ["no import at all", "export default { name: 'a.b' };", "export default { name: 'a.b' };"],
];
for (const [name, source, want] of taken) {
  Deno.test(`customSource() takes ${name}, and keeps the lines`, () => {
    const made = customSource("_modules/a/b.ts", source);
    assert.equal(made, want);
    assert.equal(made.split("\n").length, source.split("\n").length);
  });
}

const refused: [name: string, source: string, line: number][] = [
  [
    "a static import of a file",
    `import { x } from "zester";\nimport y from "file:///etc/passwd";`,
    2,
  ],
  ["a first import of something else", `import y from "./y.ts";`, 1],
  ["an import for its effect", `import "file:///etc/passwd";`, 1],
  ["a text import", `import t from "/etc/shadow" with { type: "text" };`, 1],
  ["a dynamic import", `\nexport default import("file:///etc/passwd");`, 2],
  ["a dynamic import with a comment inside", `import/**/("x")`, 1],
  ["import.meta", `export default import.meta.url;`, 1],
  ["a re-export", `export * from "file:///etc/passwd";`, 1],
  ["a named re-export", `export { default } from "file:///etc/passwd";`, 1],
  ["require", `export default require("fs");`, 1],
  ["a reference directive", `/// <reference types="file:///etc/passwd" />\n${BODY}`, 1],
  ["a type directive", `// @deno-types="file:///etc/passwd"\n${BODY}`, 1],
  ["an npm import", `import x from "npm:left-pad@1.0.0";`, 1],
  ["a remote import", `import x from "https://example.org/x.ts";`, 1],
  ["zester under another name", `import * as z from "zester"; export default z;`, 1],
  [
    "a second import from elsewhere on the same line",
    `import { a } from "zester"; import b from "node:fs";`,
    1,
  ],
  ["code in the place of a name", `import { a = import("node:fs") } from "zester";`, 1],
  ["a comment in the place of a name", `import { a, /* b */ c } from "zester";`, 1],
  [
    "a directive before the first statement",
    `/// <reference types="x" />\nimport { a } from "zester";`,
    1,
  ],
  [
    "a source map before the first statement",
    `//# sourceMappingURL=file:///x\nimport { a } from "zester";`,
    1,
  ],
  ["escaped letters", "\\u0069mport('x')", 1],
];
for (const [name, source, line] of refused) {
  Deno.test(`customSource() refuses ${name}, naming the line`, () => {
    assert.throws(() => customSource("_modules/a/b.ts", source), (error: Error) => {
      assert.match(error.message, new RegExp(`^_modules/a/b\\.ts:${line}:\\d+: `));
      return true;
    });
  });
}

const ADDRESS = "data:application/typescript;base64,ZXhw......KTs=";
const errors: [name: string, thrown: unknown, want: ReturnType<typeof placeIn>][] = [
  [
    "the compiler's",
    new TypeError(`SyntaxError: Expression expected\n  |\n2 | x\n  |  ~\n    at ${ADDRESS}:2:5`),
    { message: "SyntaxError: Expression expected", line: 2, column: 5 },
  ],
  [
    "the engine's",
    new SyntaxError(`Illegal return statement at ${ADDRESS}:1:1`),
    { message: "Illegal return statement", line: 1, column: 1 },
  ],
  [
    "one with a place in its stack",
    Object.assign(new Error("broken"), { stack: `Error: broken\n    at f (${ADDRESS}:7:3)` }),
    { message: "broken", line: 7, column: 3 },
  ],
  [
    "one from elsewhere",
    Object.assign(new Error("broken"), { stack: "" }),
    { message: "broken" },
  ],
  ["what is no error", 5, { message: "it threw 5" }],
];
for (const [name, thrown, want] of errors) {
  Deno.test(`placeIn() tells the place of ${name}`, () => assert.deepEqual(placeIn(thrown), want));
}

import assert from "node:assert/strict";
import { compositeOf, plainText } from "./plain_value.ts";

const composites: [text: string, want: unknown][] = [
  ['{"a":1}', { a: 1 }],
  ["[]", []],
  ["true", null],
  ['"a"', null],
  ["{not json", null],
  ['{\n  "a": 1\n}\n', null], // a file that was read
  ["[1, 2]", null],
];
for (const [text, want] of composites) {
  Deno.test(`compositeOf() of ${JSON.stringify(text)}`, () =>
    assert.deepEqual(compositeOf(text), want));
}

const LONG = "x".repeat(60);

const texts: [name: string, value: unknown, want: string[]][] = [
  ["a flat map", { os: "debian", cpus: 2, ok: true, none: null }, [
    "os: debian",
    "cpus: 2",
    "ok: true",
    "none: null",
  ]],
  ["short lists and maps on one line", { a: [1, "x", "y, z"], b: { c: [] }, d: {}, e: "" }, [
    'a: [1, x, "y, z"]',
    "b: {c: []}",
    "d: {}",
    'e: ""',
  ]],
  ["a list of small maps in rows", [{ pid: 1, name: "init" }, { pid: 2 }], [
    "- {pid: 1, name: init}",
    "- {pid: 2}",
  ]],
  ["long lists and maps below", { a: [LONG, LONG], b: [{ c: LONG, d: LONG }] }, [
    "a:",
    `  - ${LONG}`,
    `  - ${LONG}`,
    "b:",
    `  - c: ${LONG}`,
    `    d: ${LONG}`,
  ]],
  ["a list of lists", [[1, 2], []], ["- [1, 2]", "- []"]],
  ["text of several lines", { motd: "one\ntwo\n" }, ["motd:", "  one", "  two"]],
  ["what could move the cursor", { "a\u001b[2J": "\u001b[H" }, ["a\\u001b[2J: \\u001b[H"]],
];
for (const [name, value, want] of texts) {
  Deno.test(`plainText() shows ${name}`, () => assert.equal(plainText(value), want.join("\n")));
}

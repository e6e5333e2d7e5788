import assert from "node:assert/strict";
import { planWith } from "./_edit.ts";
import { plan } from "./replace.ts";

type Params = Parameters<typeof plan>[0];

const base = { count: 0, append_if_not_found: false, prepend_if_not_found: false };
const APPEND = { append_if_not_found: true };

/** Null: nothing to do. */
const rows: [
  before: string | null,
  p: Partial<Params> & { pattern: string },
  want: string | null,
][] = [
  [null, { pattern: "a", repl: "b" }, null],
  ["", { pattern: "a", repl: "b" }, null],
  ["aa", { pattern: "a", repl: "b" }, "bb"],
  ["aaa", { pattern: "a", repl: "b", count: 2 }, "bba"],
  ["a\n", { pattern: "a" }, "\n"],
  ["a\n", { pattern: "a", repl: "a" }, null],
  ["k=1\nk=2\n", { pattern: "^k=\\d$", repl: "k=3" }, "k=3\nk=3\n"],
  ["k=1\r\nk=2\r\n", { pattern: "^k=\\d$", repl: "k=3" }, "k=3\r\nk=3\r\n"],
  ["a b\n", { pattern: "(?P<one>\\w) (\\w)", repl: "$2 ${one}" }, "b a\n"],
  ["é😀\n", { pattern: "é", repl: "ü" }, "ü😀\n"],
  ["x\n", { pattern: "^k=.*", repl: "k=1", ...APPEND }, "x\nk=1\n"],
  ["x", { pattern: "^k=.*", repl: "k=1", ...APPEND }, "x\nk=1\n"],
  ["x\n", { pattern: "^k=.*", repl: "k=1", prepend_if_not_found: true }, "k=1\nx\n"],
  [null, { pattern: "^k=.*", repl: "k=1", ...APPEND }, "k=1\n"],
  ["x\n", { pattern: "^z", repl: "y", not_found_content: "n", ...APPEND }, "x\nn\n"],
  ["n\n", { pattern: "^z", repl: "y", not_found_content: "n", ...APPEND }, null],
  ["nn\n", { pattern: "^z", repl: "y", not_found_content: "n", ...APPEND }, "nn\nn\n"],
  ["a\r\nb\r\n", { pattern: "^z", not_found_content: "a\nb", ...APPEND }, null],
  ["a\n", { pattern: "^z", ...APPEND }, null],
];

for (const [before, p, want] of rows) {
  const shown = JSON.stringify([before, p]);
  Deno.test(`file.replace plan() makes ${JSON.stringify(want)} of ${shown}`, async () => {
    const edit = await planWith((text) => plan({ ...base, ...p }, text), before);
    assert.equal(edit?.text ?? null, want);
  });
}

Deno.test("file.replace plan() refuses a group that the pattern has not", async () => {
  await assert.rejects(() => plan({ ...base, pattern: "a", repl: "$1" }, "b"), /group 1/);
});

Deno.test("file.replace plan() refuses a pattern that is none", async () => {
  await assert.rejects(() => plan({ ...base, pattern: "(" }, "b"), /no regular expression/);
});

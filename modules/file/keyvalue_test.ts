import assert from "node:assert/strict";
import { planWith } from "./_edit.ts";
import { plan } from "./keyvalue.ts";

type Params = Parameters<typeof plan>[0];

/** Null: nothing to do. */
const rows: [before: string | null, p: Partial<Params>, want: string | null][] = [
  [null, { key: "a", value: "1" }, "a=1\n"],
  ["", { key: "a", value: "1" }, "a=1\n"],
  ["a=1\n", { key: "a", value: "1" }, null],
  ["a = 1\n", { key: "a", value: "1" }, null],
  ["a = 2\n", { key: "a", value: "1" }, "a=1\n"],
  ["a = 2\n", { key: "a", value: "1", separator: " = " }, "a = 1\n"],
  ["\ta=2", { key: "a", value: "1" }, "\ta=1"],
  ["b=2", { key: "a", value: "1" }, "b=2\na=1\n"],
  ["a=2\na=3\n", { key: "a", value: "1" }, "a=1\na=3\n"],
  ["ab=2\n", { key: "a", value: "1" }, "ab=2\na=1\n"],
  ["#a=2\n", { key: "a", value: "1" }, "#a=2\na=1\n"],
  ["#a=2\n", { key: "a", value: "1", uncomment: "#" }, "a=1\n"],
  ["# a=2\na=3\n", { key: "a", value: "1", uncomment: "#" }, "# a=2\na=1\n"],
  ["#a is a key\n", { key: "a", value: "1", uncomment: "#" }, "#a is a key\na=1\n"],
  ["a=2\r\nb=3\r\n", { key: "a", value: "1" }, "a=1\r\nb=3\r\n"],
  ["a=x=y\n", { key: "a", value: "x=y" }, null],
  ["a.b=1\n", { key: "a*b", value: "1" }, "a.b=1\na*b=1\n"],
  ["é=1\n", { key: "é", value: "😀" }, "é=😀\n"],
  ["a\n", { key: "a", value: "1" }, "a\na=1\n"],
  ["a=1\n", { key: "a" }, "a=\n"],
  ["Port 22\n", { key: "Port", value: "2222", separator: " " }, "Port 2222\n"],
  ["Port\t22\n", { key: "Port", value: "22", separator: " " }, null],
  ["Ports 22\n", { key: "Port", value: "22", separator: " " }, "Ports 22\nPort 22\n"],
  ["Port\n", { key: "Port", separator: " " }, null],
  ["a: 1\n", { key: "a", value: "2", separator: ": " }, "a: 2\n"],
  [
    "",
    { key_values: { a: "1", b: "1", c: "1" }, entries: { b: "2" }, key: "c", value: "3" },
    "a=1\nb=2\nc=3\n",
  ],
  ["", { key_values: { constructor: "1" } }, "constructor=1\n"],
];

for (const [before, p, want] of rows) {
  const shown = JSON.stringify([before, p]);
  Deno.test(`file.keyvalue plan() makes ${JSON.stringify(want)} of ${shown}`, async () => {
    const run = (text: string | null) =>
      planWith((each) => plan({ separator: "=", ...p }, each), text);
    const edit = await run(before);
    assert.equal(edit?.text ?? null, want);
    if (edit !== null) assert.equal(await run(edit.text), null, "the second run changes nothing");
  });
}

Deno.test("file.keyvalue plan() refuses to have nothing to keep", () => {
  assert.throws(() => plan({ separator: "=" }, ""), /key_values, entries or key/);
});

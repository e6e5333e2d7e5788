import assert from "node:assert/strict";
import { isZesterError } from "../../core/errors.ts";
import { fieldTable, pickFields } from "./fields.ts";
import { PLAIN } from "./style.ts";

const ROWS = [
  { jid: "a", args: { text: "hi" }, targets: ["x", "y"], results: [{ name: "p" }, { name: "q" }] },
  { jid: "b", status: "failed\u001b[2J" },
];

const cases: [names: string[], want: unknown[]][] = [
  [["status", "jid"], [{ jid: "a" }, { status: "failed\u001b[2J", jid: "b" }]],
  [["args.text"], [{ "args.text": "hi" }, {}]],
  [["results.name"], [{ "results.name": ["p", "q"] }, {}]],
];
for (const [names, want] of cases) {
  Deno.test(`pickFields() gives ${names.join(",")} of each row`, () => {
    assert.deepEqual(pickFields(ROWS, names), want);
  });
}

Deno.test("pickFields() says which fields there are when one is unknown, and nothing when there are no rows", () => {
  assert.throws(() => pickFields(ROWS, ["jid", "statsu"]), (error) => {
    assert.ok(isZesterError(error, "usage"));
    assert.match(error.message, /no field "statsu"/);
    assert.equal(error.fix, "did you mean `status`?\nfields: jid, args, targets, results, status");
    return true;
  });
  assert.deepEqual(pickFields([], ["statsu"]), []);
  assert.throws(() => pickFields(ROWS, ["__proto__"]), (error) => isZesterError(error, "usage"));
});

Deno.test("fieldTable() has a column per field and lets no value move the cursor", () => {
  const names = ["jid", "status", "targets", "results"];
  assert.equal(
    fieldTable(pickFields(ROWS, names), names, PLAIN),
    [
      "JID  STATUS           TARGETS  RESULTS",
      'a    -                x,y      [{"name":"p"},{"name":"q"}]',
      "b    failed\\u001b[2J  -        -",
      "",
    ].join("\n"),
  );
});

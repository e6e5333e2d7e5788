import assert from "node:assert/strict";
import { isZesterError } from "../errors.ts";
import { checkSubject } from "./bus.ts";

const BAD = [
  "",
  "a b",
  "a..b",
  ".a",
  "a.",
  "a\r\nPUB b 0\r\n",
  "a\tb",
  "a\0",
  "a.b*",
  "a.>.b",
  "a>",
];

for (const subject of BAD) {
  Deno.test(`checkSubject() refuses ${JSON.stringify(subject)}, exact or as a filter`, () => {
    for (const kind of ["exact", "filter"] as const) {
      assert.throws(() => checkSubject(subject, kind), (e) => isZesterError(e, "bad_subject"));
    }
  });
}

Deno.test("checkSubject() takes wildcards in filters only", () => {
  for (const subject of ["a.*", "*", ">", "a.*.b.>"]) {
    checkSubject(subject, "filter");
    assert.throws(() => checkSubject(subject, "exact"), (e) => isZesterError(e, "bad_subject"));
  }
  for (const subject of ["a", "a.b", "$KV.b.k", "_INBOX.x.y"]) checkSubject(subject, "exact");
});

import assert from "node:assert/strict";
import { accountName, accountNames } from "./account_names.ts";

Deno.test("accountName() takes names and refuses what could be an option, a number or a list", () => {
  for (const name of ["ann", "_apt", "www-data", "a.b", "host$"]) {
    assert.equal(accountName("").decode(name), name);
  }
  for (const name of ["-x", "1000", "a:b", "a,b", "a b", "a\nb", "", "a/b", "a".repeat(300)]) {
    assert.throws(() => accountName("").decode(name), name);
  }
});

Deno.test("accountNames() refuses the whole list for one bad name", () => {
  assert.deepEqual(accountNames("").decode("ann"), ["ann"]);
  assert.throws(() => accountNames("").decode(["ann", "a,b"]), /"a,b" is no name/);
});

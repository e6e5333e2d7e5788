import assert from "node:assert/strict";
import { memberDrift, type Members, membersOf } from "./_members.ts";

const rows: [name: string, want: Members, seen: string[], members: string[], drift: string[]][] = [
  ["leaves them without a word", {}, ["a"], ["a"], []],
  ["keeps the order of those who stay", { members: ["c", "a"] }, ["a", "b", "c"], ["a", "c"], [
    "members a,b,c != a,c",
  ]],
  ["takes any order for the same", { members: ["b", "a"] }, ["a", "b"], ["a", "b"], []],
  ["empties", { members: [] }, ["a"], [], ["members a != none"]],
  ["adds and removes", { addusers: ["b"], delusers: ["a", "z"] }, ["a"], ["b"], [
    "missing member b",
    "unwanted member a",
  ]],
  ["adds to exact members", { members: ["a"], addusers: ["b"] }, [], ["a", "b"], [
    "members none != a,b",
  ]],
];
for (const [name, want, seen, members, drift] of rows) {
  Deno.test(`membersOf() and memberDrift(): ${name}`, () => {
    assert.deepEqual(membersOf(want, seen), members);
    assert.deepEqual(memberDrift(want, seen), drift);
  });
}

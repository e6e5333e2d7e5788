import assert from "node:assert/strict";
import { readLockers, runningOf } from "./_supervisor.ts";

Deno.test("readLockers() finds those who hold a lock of flock, and no other lock", () => {
  const text = `1: POSIX  ADVISORY  READ 29158 fe:00:16042470 128 128
21: FLOCK  ADVISORY  WRITE 13378 fe:00:2179131 0 EOF
21: -> FLOCK  ADVISORY  WRITE 77 fe:00:2179131 0 EOF
22: FLOCK  ADVISORY  READ 5 fe:00:2179132 0 EOF
23: OFDLCK ADVISORY  WRITE -1 00:05:1048 0 EOF
`;
  assert.deepEqual([...readLockers(text)], ["13378"]);
});

Deno.test("runningOf() takes only the newest of those with one number for running", () => {
  const files = [
    { name: "new", pid: "7", modifiedMs: 20 },
    { name: "old", pid: "7", modifiedMs: 10 },
    { name: "gone", pid: "9", modifiedMs: 30 },
    { name: "other", pid: "8", modifiedMs: 5 },
  ];
  assert.deepEqual([...runningOf(files, new Set(["7", "8"]))].sort(), ["new", "other"]);
});

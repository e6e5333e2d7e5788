import assert from "node:assert/strict";
import { closingLine, testCounts } from "./test_counts.ts";

const cases: [name: string, output: string, want: string | null][] = [
  ["a plain summary", "ok | 12 passed | 0 failed (5s)\n", "12 passed, 0 failed"],
  [
    "steps, ignored and filtered tests",
    "ok | 12 passed (3 steps) | 0 failed | 2 ignored (1 step) | 4 filtered out (1m5s)",
    "12 passed, 0 failed, 2 skipped",
  ],
  [
    "failures with steps",
    "FAILED | 10 passed (1 step) | 3 failed (2 steps) (841ms)\nerror: Test failed",
    "10 passed, 3 failed",
  ],
  [
    "colours",
    "\x1b[32mok\x1b[0m | 3 passed | 0 failed \x1b[38;5;245m(5ms)\x1b[0m",
    "3 passed, 0 failed",
  ],
  ["nothing run", "ok | 0 passed | 0 failed (0ms)", "0 passed, 0 failed"],
  [
    "the last of several",
    "ok | 1 passed | 0 failed (1s)\nok | 2 passed | 0 failed (1s)",
    "2 passed, 0 failed",
  ],
  ["no summary", "running 1 test from ./a_test.ts\na ... ok (1ms)\n", null],
  ["a test that prints about passing", "I saw: ok | 5 passed | 0 failed", null],
  ["an empty output", "", null],
];
for (const [name, output, want] of cases) {
  Deno.test(`testCounts() reads ${name}`, () => {
    const counts = testCounts(output);
    assert.equal(counts === null ? null : closingLine(counts), want);
  });
}

import assert from "node:assert/strict";
import { failureOf, perform } from "./perform.ts";

const answer = (code: number, stdout = "", stderr = "") => ({
  code,
  stdout,
  stderr,
  droppedBytes: 0,
  timedOut: false,
});

Deno.test("failureOf() shows the end of what was said, stderr before stdout", () => {
  assert.equal(failureOf(answer(3)), "exit status 3");
  assert.equal(failureOf(answer(1, "out\n")), "exit status 1: out");
  assert.equal(failureOf(answer(1, "out", "1\n2\n3\n4\n5\n6\n")), "exit status 1: 2\n3\n4\n5\n6");
});

Deno.test("perform() names the program that failed", async () => {
  const host = (code: number) => ({ run: () => Promise.resolve(answer(code, "", "no")) });
  assert.equal((await perform(host(0), ["mount", "x"])).code, 0);
  await assert.rejects(perform(host(32), ["mount", "x"]), /^Error: mount: exit status 32: no$/);
});

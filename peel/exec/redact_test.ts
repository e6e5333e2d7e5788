import assert from "node:assert/strict";
import { hiding } from "./redact.ts";

const result = {
  name: "x",
  changed: true,
  diff: "set hunter2",
  details: { stdout: "a\nline two\nhunter2!" },
  skipped: false,
};

Deno.test("hiding() takes sensitive values and their lines out of everything", () => {
  const hide = hiding({
    sensitive: ["password", "secret_env"],
    params: { password: "hunter2", secret_env: { A: "line one\nline two" }, open: "set" },
  });
  assert.deepEqual(hide({ ...result, error: "bad hunter2" }), {
    ...result,
    diff: "set <redacted>",
    details: { stdout: "a\n<redacted>\n<redacted>!" },
    error: "bad <redacted>",
  });
});

Deno.test("hiding() leaves results alone when nothing is sensitive, and short values too", () => {
  assert.equal(hiding({ sensitive: [], params: {} })(result), result);
  assert.deepEqual(hiding({ sensitive: ["p"], params: { p: "set" } })(result), result);
});

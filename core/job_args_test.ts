import assert from "node:assert/strict";
import { isZesterError } from "./errors.ts";
import { checkArgs } from "./job_args.ts";
import { JOB_ARGS_BYTES_MAX } from "./limits.ts";

Deno.test("checkArgs() lets arguments through up to the limit", () => {
  checkArgs("test.echo", { text: "x".repeat(JOB_ARGS_BYTES_MAX - 100) });
});

const tooLarge: [found: string, length: number][] = [
  ["257 KiB", JOB_ARGS_BYTES_MAX],
  ["more than a message can hold", 8 * JOB_ARGS_BYTES_MAX],
];
for (const [found, length] of tooLarge) {
  Deno.test(`checkArgs() names the limit when the arguments are ${found}`, () => {
    assert.throws(
      () => checkArgs("test.echo", { text: "x".repeat(length) }),
      (error) =>
        isZesterError(error, "bad_params") &&
        error.message ===
          `test.echo: the arguments are ${found}, at most 256 KiB are allowed`,
    );
  });
}

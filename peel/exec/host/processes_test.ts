import assert from "node:assert/strict";
import { isZesterError } from "../../../core/errors.ts";
import { sendSignal } from "./processes.ts";

const refusals: [name: string, pid: unknown, signal: unknown, code: string][] = [
  ["init", 1, "TERM", "bad_params"],
  ["its own group", 0, "TERM", "bad_params"],
  ["everybody", -1, "TERM", "bad_params"],
  ["another group", -12_345, "TERM", "bad_params"],
  ["the peel", Deno.pid, "TERM", "bad_params"],
  ["what is no number", "12345", "TERM", "bad_params"],
  ["a fraction", 12.5, "TERM", "bad_params"],
  ["a signal nobody needs", 12_345, "SEGV", "bad_params"],
  ["a signal by number", 12_345, 9, "bad_params"],
  ["a process that is not there", 2 ** 30, "TERM", "not_found"],
];
for (const [name, pid, signal, code] of refusals) {
  Deno.test(`sendSignal() refuses ${name}`, async () => {
    await assert.rejects(sendSignal(pid as number, signal as string), (thrown) => {
      assert.ok(isZesterError(thrown), String(thrown));
      assert.equal(thrown.code, code, thrown.message);
      return true;
    });
  });
}

for (const signal of ["TERM", "SIGKILL"]) {
  Deno.test(`sendSignal() sends ${signal}`, async () => {
    const child = new Deno.Command("sleep", { args: ["100"] }).spawn();
    await sendSignal(child.pid, signal);
    assert.equal((await child.status).signal, signal.replace(/^(SIG)?/, "SIG"));
  });
}

import assert from "node:assert/strict";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import type { ExecRequest } from "../../core/wire/exec.ts";
import { execute, type ExecutionPorts } from "./service.ts";

const ports: ExecutionPorts = { clock, peelId: "lab", timeoutMs: 10_000 };

function request(module: string, id = "", args: Record<string, unknown> = {}): ExecRequest {
  return { jid: "j1", module, id, args, epoch: 1n } as ExecRequest;
}

async function errorOf(asked: ExecRequest, with_: Partial<ExecutionPorts> = {}): Promise<string> {
  const { success, error, results } = await execute(asked, { ...ports, ...with_ });
  assert.equal(success, false);
  assert.equal(results[0]?.error, error);
  return error ?? "";
}

Deno.test("execute() answers with the result of a function", async () => {
  const { success, results, test } = await execute(request("test.echo", "hi"), ports);
  assert.deepEqual([success, test, results[0]?.details, results[0]?.changed], [true, false, {
    result: "hi",
  }, false]);
});

Deno.test("execute() names the nearest function and the nearest parameter", async () => {
  assert.match(await errorOf(request("test.pnig")), /did you mean test\.ping\?/);
  assert.match(await errorOf(request("constructor")), /no function "constructor"/);
  assert.match(await errorOf(request("test.echo", "", { txt: 1 })), /did you mean "text"\?/);
});

Deno.test("execute() runs a function that only looks in a dry run too, and says that it was one", async () => {
  for (const test of [true, "True", "yes", "1", " ON "]) {
    const response = await execute(request("test.echo", "hi", { test }), ports);
    assert.deepEqual([response.test, response.success], [true, true]);
  }
});

Deno.test("execute() runs nothing that the policy refuses", async () => {
  const policy = { deny: { "cmd.*": { run: ["*"] } } };
  const why = await errorOf(request("cmd.run", "true"), { policy });
  assert.match(why, /the policy of this host refuses it/);
});

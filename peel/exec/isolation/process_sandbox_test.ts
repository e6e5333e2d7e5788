import assert from "node:assert/strict";
import { systemClock as clock } from "../../../core/adapters/system_clock.ts";
import type { HostDoor, Sandbox } from "../exchange.ts";
import type { Reply } from "../protocol.ts";
import { openProcessSandbox } from "./process_sandbox.ts";

const REFUSES: HostDoor = () => Promise.reject(new Error("no calls here"));

/** Runs the body of a function module that is given as text. */
function perform(
  sandbox: Sandbox,
  body: string,
  { door = REFUSES, timeoutMs = 20_000, signal = new AbortController().signal }: {
    door?: HostDoor;
    timeoutMs?: number;
    signal?: AbortSignal;
  } = {},
): Promise<Reply> {
  const source = `export default { kind: "function", name: "t.t", params: {}, isReadOnly: true,
    permissions: () => ({}), async run(params, host) { ${body} } };`;
  return sandbox.perform({
    module: { from: "tree", name: "t.t", source },
    params: { a: 1 },
    facts: { id: "lab" },
    work: { do: "run" },
  }, { timeoutMs, signal, door });
}

async function withSandbox(test: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = openProcessSandbox(clock);
  try {
    await test(sandbox);
  } finally {
    sandbox.close();
  }
}

function messageOf(reply: Reply): string {
  return reply.ok ? `ok: ${JSON.stringify(reply.value)}` : reply.error.message;
}

Deno.test("openProcessSandbox() does tasks and host calls as a worker does", async () => {
  await withSandbox(async (sandbox) => {
    assert.deepEqual(await perform(sandbox, "return [params.a, host.facts.id, null]"), {
      ok: true,
      value: [1, "lab", null],
    });
    const content = crypto.getRandomValues(new Uint8Array(60_000));
    const echoed: unknown[] = [];
    const door: HostDoor = ({ args }) => {
      echoed.push(args[1]);
      return Promise.resolve(content);
    };
    const body =
      "const b = await host.readFile('/x'); await host.replaceFile('/x', b); return b.length";
    assert.equal(messageOf(await perform(sandbox, body, { door })), "ok: 60000");
    assert.deepEqual(echoed[1], content);
    assert.equal(messageOf(await perform(sandbox, "throw new Error('broken')")), "broken");
    assert.match(messageOf(await perform(sandbox, "await host.stat('/x')")), /no calls here/);
  });
});

const endings: [name: string, body: string, wanted: RegExp][] = [
  [
    "fills its heap",
    "const all = []; for (;;) all.push({ a: [1, 2, 3] })",
    /heap of 256 MiB was full/,
  ],
  [
    "fills memory beside its heap",
    "const all = []; for (;;) { all.push(new Uint8Array(2 ** 25).fill(1)); await null; }",
    /more than 768 MiB of memory/,
  ],
  ["loops", "for (;;) {}", /still running after 2000 ms/],
  [
    "throws outside of its task",
    "queueMicrotask(() => { throw new Error('late') }); await new Promise(() => {})",
    /late/,
  ],
];
for (const [name, body, wanted] of endings) {
  Deno.test(`openProcessSandbox() fails only the task of a module that ${name}`, async () => {
    await withSandbox(async (sandbox) => {
      const timeoutMs = name === "loops" ? 2_000 : 60_000;
      assert.match(messageOf(await perform(sandbox, body, { timeoutMs })), wanted);
      assert.ok(sandbox.isClosed);
    });
    await withSandbox(async (next) => {
      assert.equal(messageOf(await perform(next, "return 1")), "ok: 1");
    });
  });
}

const refused: [name: string, body: string, wanted: RegExp][] = [
  ["the environment", "return process.env", /process is not defined/],
  ["its own pipe", "return Deno.stdout", /Deno is not defined/],
  ["what it prints", "console.log('x'.repeat(1e6)); return 1", /ok: 1/],
  ["code from text", "return (async () => {}).constructor('return 1')()", /code cannot be made/],
];
for (const [name, body, wanted] of refused) {
  Deno.test(`openProcessSandbox() keeps a module from ${name}`, async () => {
    await withSandbox(async (sandbox) => {
      assert.match(messageOf(await perform(sandbox, body)), wanted);
    });
  });
}

Deno.test("openProcessSandbox() ends the process when the signal aborts or it is closed", async () => {
  await withSandbox(async (sandbox) => {
    const ending = new AbortController();
    const reply = perform(sandbox, "await host.stat('/x'); for (;;) {}", {
      signal: ending.signal,
      door: () => {
        ending.abort();
        return new Promise(() => {});
      },
    });
    assert.equal(messageOf(await reply), "ended from outside");
  });
});

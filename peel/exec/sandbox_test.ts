import assert from "node:assert/strict";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import type { Reply } from "./protocol.ts";
import { type HostDoor, openSandbox, type Sandbox } from "./sandbox.ts";

const REFUSES: HostDoor = () => Promise.reject(new Error("no calls here"));
const NEVER = new AbortController().signal;

interface Options {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly door?: HostDoor;
}

/** Runs the body of a function module that is given as text. */
function perform(sandbox: Sandbox, body: string, options: Options = {}): Promise<Reply> {
  const { timeoutMs = 10_000, signal = NEVER, door = REFUSES } = options;
  const source = `export default { kind: "function", name: "t.t", params: {}, isReadOnly: true,
    permissions: () => ({}), async run(params, host) { ${body} } };`;
  return sandbox.perform({
    module: { from: "tree", name: "t.t", source },
    params: { a: 1 },
    facts: {},
    work: { do: "run" },
  }, { timeoutMs, signal, door });
}

async function withSandbox(test: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = openSandbox(clock);
  try {
    await test(sandbox);
  } finally {
    sandbox.close();
  }
}

function messageOf(reply: Reply): string {
  return reply.ok ? `ok: ${reply.value}` : reply.error.message;
}

Deno.test("openSandbox() gives what a module returned, one task after the other", async () => {
  await withSandbox(async (sandbox) => {
    assert.deepEqual(await perform(sandbox, "return params.a"), { ok: true, value: 1 });
    assert.deepEqual(await perform(sandbox, "return [1, null]"), { ok: true, value: [1, null] });
  });
});

Deno.test("openSandbox() passes an error on as data and stays usable", async () => {
  await withSandbox(async (sandbox) => {
    assert.equal(messageOf(await perform(sandbox, "throw new Error('broken')")), "broken");
    assert.equal(messageOf(await perform(sandbox, "throw 'text'")), "text");
    assert.equal(messageOf(await perform(sandbox, "return 2")), "ok: 2");
  });
});

Deno.test("openSandbox() answers host calls through the door of the task", async () => {
  await withSandbox(async (sandbox) => {
    const reply = await perform(sandbox, "return await host.readFile('/x')", {
      door: ({ name, args }) => Promise.resolve(`${name} ${args[0]}`),
    });
    assert.equal(messageOf(reply), "ok: readFile /x");
    const refused = await perform(sandbox, "return await host.readFile('/x')");
    assert.match(messageOf(refused), /no calls here/);
  });
});

/** Nothing can end a worker that never waits, so these end by themselves, or they would run as long as the tests do. */
const endings: [name: string, body: string, wanted: RegExp][] = [
  [
    "loops",
    "const end = Date.now() + 2_000; while (Date.now() < end);",
    /still running after 300 ms/,
  ],
  ["sleeps for ever", "await new Promise(() => {})", /still running after 300 ms/],
  ["backtracks for ever", "return /^(a+)+$/.test('a'.repeat(28) + 'b')", /300 ms/],
  [
    "throws outside of its task",
    "queueMicrotask(() => { throw new Error('late') }); await new Promise(() => {})",
    /late/,
  ],
  ["rejects unhandled", "Promise.reject(new Error('loose')); await new Promise(() => {})", /loose/],
  [
    "floods",
    "for (;;) { for (let i = 0; i < 1000; i++) host.stat('/x').catch(() => {}); await null; }",
    /too fast|300 ms/,
  ],
];

for (const [name, body, wanted] of endings) {
  Deno.test(`openSandbox() ends a worker that ${name}, with a reason`, async () => {
    await withSandbox(async (sandbox) => {
      assert.match(messageOf(await perform(sandbox, body, { timeoutMs: 300 })), wanted);
      assert.ok(sandbox.isClosed);
      assert.match(messageOf(await perform(sandbox, "return 1")), wanted);
    });
  });
}

Deno.test("openSandbox() returns what cannot be cloned as an error", async () => {
  await withSandbox(async (sandbox) => {
    assert.match(messageOf(await perform(sandbox, "return () => 1")), /clone/);
  });
});

Deno.test("openSandbox() ends all tasks when the signal aborts, and the host calls under way", async () => {
  await withSandbox(async (sandbox) => {
    const ending = new AbortController();
    let callEnded = false;
    const reply = perform(sandbox, "await host.stat('/x')", {
      signal: ending.signal,
      door: (_call, signal) =>
        new Promise(() => {
          signal.addEventListener("abort", () => callEnded = true);
          ending.abort();
        }),
    });
    assert.equal(messageOf(await reply), "ended from outside");
    assert.ok(callEnded);
  });
});

Deno.test("openSandbox() does not begin what was ended before", async () => {
  await withSandbox(async (sandbox) => {
    assert.equal(
      messageOf(await perform(sandbox, "return 1", { signal: AbortSignal.abort() })),
      "ended from outside",
    );
  });
});

/**
 * Modules that try to get out, in real workers. After every attempt the outcome does not hold the secret, nothing outside
 * the granted folder has changed, and nobody was called.
 */
import assert from "node:assert/strict";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { openSandbox } from "../../peel/exec/sandbox.ts";
import { BARE, GRANTS, HOST, LOADS, type Row, SCOPE, SOURCES, VALUES } from "./attempts.ts";
import { openPlayground, type Playground, SECRET } from "./playground.ts";

type Way = (playground: Playground, row: Row) => Promise<string>;

const asModule: Way = (playground, [, body, , attempt]) => playground.asModule(body, attempt);
const asFile: Way = (playground, [, source]) => playground.asFile(source);
const inBareWorker: Way = (playground, [, body]) => playground.inBareWorker(body);

const tables: [title: string, rows: readonly Row[], way: Way][] = [
  ["a module does not have", SCOPE, asModule],
  ["a source is refused for", SOURCES, asFile],
  ["a file that does not load says so:", LOADS, asFile],
  ["a host call does not give", HOST, asModule],
  ["a grant does not mean more than it says:", GRANTS, asModule],
  ["a value does no harm:", VALUES, asModule],
  ["no permission, so no", BARE, inBareWorker],
];

for (const [title, rows, way] of tables) {
  Deno.test(`sandbox: ${title} (${rows.length} attempts)`, async (test) => {
    const playground = await openPlayground();
    try {
      for (const row of rows) {
        const [what, , wanted] = row;
        await test.step(what, async () => {
          const outcome = await way(playground, row);
          assert.match(outcome, wanted);
          assert.ok(!outcome.includes(SECRET), "the secret came out");
          await playground.assertUntouched();
        });
      }
    } finally {
      await playground.close();
    }
  });
}

Deno.test("sandbox: a playground lets through what is granted, or its attempts would prove nothing", async () => {
  const playground = await openPlayground();
  try {
    const read = "return new TextDecoder().decode(await host.readFile('OUT/canary'))";
    const granted = await playground.asModule(read, { grant: { read: ["OUT/canary"] } });
    assert.equal(granted, `ok: ${JSON.stringify(SECRET)}`);
    const linked = "return new TextDecoder().decode(await host.readFile('IN/link'))";
    const both = { grant: { read: ["IN/link", "OUT/canary"] } };
    assert.equal(await playground.asModule(linked, both), `ok: ${JSON.stringify(SECRET)}`);
    const own =
      "await host.makeLink('IN/l', 'IN/file'); return (await host.readFile('IN/l')).length";
    assert.equal(await playground.asModule(own), "ok: 3");
    const written = "await host.replaceFile('OUT/new', 'x'); return 1";
    await playground.asModule(written, { grant: { write: ["OUT/new"] } });
    await assert.rejects(playground.assertUntouched(), /nothing outside was touched/);
  } finally {
    await playground.close();
  }
});

Deno.test("sandbox: a shipped module takes no harm from what another task left in a shared worker's parameters", async () => {
  const sandbox = openSandbox(clock);
  try {
    const options = {
      timeoutMs: 10_000,
      signal: new AbortController().signal,
      door: () => Promise.reject(new Error("no calls here")),
    };
    const module = { from: "shipped", name: "test.echo" } as const;
    const hostile = JSON.parse('{"text": "a", "__proto__": {"polluted": "yes"}}');
    const task = { module, facts: hostile, work: { do: "run" } } as const;
    await sandbox.perform({ ...task, params: hostile }, options);
    const reply = await sandbox.perform({ ...task, params: { text: "b" } }, options);
    assert.deepEqual(reply, { ok: true, value: "b" });
  } finally {
    sandbox.close();
  }
});

Deno.test("sandbox: nothing that a module prints or throws reaches the output of the peel", async () => {
  const at = (path: string) => JSON.stringify(new URL(`../../${path}`, import.meta.url).href);
  const body =
    "console.log('spam'); console.error('spam'); queueMicrotask(() => { throw 'spam' });" +
    "await new Promise(() => {})";
  const script = `import { systemClock } from ${at("core/adapters/system_clock.ts")};
    import { openSandbox } from ${at("peel/exec/sandbox.ts")};
    const source = ${
    JSON.stringify(`export default { kind: "function", name: "t.t", run: async () => { ${body} } }`)
  };
    const reply = await openSandbox(systemClock).perform(
      { module: { from: "tree", name: "t.t", source }, params: {}, facts: {}, work: { do: "run" } },
      { timeoutMs: 10_000, signal: new AbortController().signal, door: () => Promise.reject(1) });
    if (reply.ok || reply.error.message !== "spam") throw new Error("it was not told");`;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", script],
    cwd: new URL("../..", import.meta.url),
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder();
  assert.deepEqual([text.decode(stdout), text.decode(stderr), code], ["", "", 0]);
});

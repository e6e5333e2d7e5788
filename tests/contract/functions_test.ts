/** Functions that answer, in real workers on this machine, each under its own grant. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Given, openModuleLab } from "../fakes/module_lab.ts";

async function answer(name: string, given?: Given): Promise<unknown> {
  const lab = openModuleLab();
  try {
    return await lab.answer(name, given);
  } finally {
    lab.close();
  }
}

type Row = [name: string, given: Given, wanted: (answer: never) => void];

const rows: Row[] = [
  ["test.true", {}, (said: unknown) => assert.equal(said, true)],
  ["test.false", {}, (said: unknown) => assert.equal(said, false)],
  ["test.echo", { id: "hi" }, (said: unknown) => assert.equal(said, "hi")],
  ["test.version", {}, (said: unknown) => assert.equal(said, "unknown")],
  ["facts.get", { id: "os_family" }, (said: unknown) => assert.equal(said, "debian")],
  [
    "facts.get",
    { id: "no.such", args: { default: "x" } },
    (said: unknown) => assert.equal(said, "x"),
  ],
  ["facts.keys", {}, (said: string[]) => assert.ok(said.includes("os_family"))],
  ["facts.items", {}, (said: { os: string }) => assert.equal(said.os, "debian")],
  ["grains.item", { id: "os" }, (said: unknown) => assert.equal(said, "debian")],
  ["grains.items", {}, (said: { os: string }) => assert.equal(said.os, "debian")],
  ["disk.usage", { id: "/" }, (said: string) => assert.match(said, /^Filesystem.*\n\S+.* \/$/)],
  ["status.load", {}, (said: { "1m": number }) => assert.ok(said["1m"] >= 0)],
  ["status.uptime", {}, (said: { seconds: number }) => assert.ok(said.seconds > 0)],
  ["status.mem", {}, (said: { total: number; used: number }) => assert.ok(said.total > said.used)],
  ["ps.list", { id: "deno" }, (said: { pid: number }[]) => {
    assert.ok(said.some(({ pid }) => pid === Deno.pid));
  }],
];

for (const [name, given, wanted] of rows) {
  Deno.test(`${name} answers ${JSON.stringify(given)}`, async () => {
    wanted(await answer(name, given) as never);
  });
}

Deno.test("ps.kill ends one process, and no other", async () => {
  const child = new Deno.Command("sleep", { args: ["60"] }).spawn();
  assert.equal(await answer("ps.kill", { id: String(child.pid) }), `sent SIGTERM to ${child.pid}`);
  assert.equal((await child.status).signal, "SIGTERM");
  await assert.rejects(answer("ps.kill", { id: "1" }), /a number above 1 is wanted/);
});

Deno.test("http.query answers with the page, and follows no redirect to another port", async () => {
  const other = Deno.serve({ port: 0, onListen() {} }, () => new Response("secret"));
  const server = Deno.serve({ port: 0, onListen() {} }, (request) => {
    if (new URL(request.url).pathname === "/away") {
      return Response.redirect(`http://127.0.0.1:${other.addr.port}/`);
    }
    return new Response("hello", { headers: { "x-a": "b" } });
  });
  try {
    const url = `http://127.0.0.1:${server.addr.port}`;
    const said = await answer("http.query", { id: `${url}/`, args: { status: 200 } }) as {
      body: string;
    };
    assert.equal(said.body, "hello");
    await assert.rejects(answer("http.query", { id: `${url}/away` }), /granted|refused/);
    await assert.rejects(
      answer("http.query", { id: `${url}/`, args: { status: 404 } }),
      /status 200, wanted 404/,
    );
  } finally {
    await Promise.all([server.shutdown(), other.shutdown()]);
  }
});

Deno.test("cmd.script runs a script of the state tree with its arguments, and leaves no file", async () => {
  const statesDir = await Deno.makeTempDir({ prefix: "zester-tree-" });
  await Deno.writeTextFile(join(statesDir, "hello.sh"), 'echo "hello $1 from $0"; exit ${2:-0}\n');
  const lab = openModuleLab({ statesDir });
  try {
    const said = await lab.answer("cmd.script", {
      id: "zester://hello.sh",
      args: { args: ["you"] },
    });
    assert.equal((said as { stdout: string }).stdout, "hello you from /dev/stdin");
    const fails = lab.answer("cmd.script", {
      id: "zester://hello.sh",
      args: { args: ["you", "3"] },
    });
    await assert.rejects(fails, /exit status 3/);
    await assert.rejects(lab.answer("cmd.script", { id: "zester://no.sh" }), /no such file/);
    await assert.rejects(lab.answer("cmd.script", { id: "zester://../x" }), /plain path|granted/);
    assert.deepEqual([...Deno.readDirSync(statesDir)].map(({ name }) => name), ["hello.sh"]);
  } finally {
    lab.close();
    await Deno.remove(statesDir, { recursive: true });
  }
});

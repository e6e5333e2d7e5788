/**
 * What `bomb_test.ts` runs inside a fleet of one peel: replaces the peel by one with a small heap, lets a module of the state tree
 * fill its memory in a process of its own and in a worker, and prints what came of it.
 */
import assert from "node:assert/strict";

const { children } = JSON.parse(await Deno.readTextFile(Deno.env.get("ZESTER_UP_STATE")!));
const { pid } = children.find(({ id }: { id: string }) => id === "peel-1");
const [program = "", ...args] = (await Deno.readTextFile(`/proc/${pid}/cmdline`)).split("\0")
  .slice(0, -1);
Deno.kill(pid, "SIGKILL");

/** The engine that ends the peel is the one that ends a peel with more memory later. */
function startPeel(): Deno.ChildProcess {
  return new Deno.Command(program, {
    args,
    env: { DENO_V8_FLAGS: "--max-old-space-size=120" },
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

async function zester(...words: string[]): Promise<{ code: number; stdout: string }> {
  const { code, stdout } = await new Deno.Command("zester", { args: words }).output();
  return { code, stdout: new TextDecoder().decode(stdout) };
}

/** The peel answers again. */
async function untilReady(): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    if ((await zester("peel-1", "test.ping", "--timeout", "2s")).code === 0) return;
  }
  assert.fail("the peel does not answer");
}

let peel = startPeel();
await untilReady();
const own = await zester("peel-1", "bomb.heap", "isolation=process", "-o", "json");
const after = await zester("peel-1", "test.ping", "-o", "ids");
const shared = zester("peel-1", "bomb.heap", "--timeout", "60s", "-o", "json");
const { code, signal } = await peel.status;
peel = startPeel();
console.log(JSON.stringify({ own, after, ended: { code, signal }, shared: await shared }));
peel.kill("SIGTERM");
await peel.stdin.close();
await peel.status;

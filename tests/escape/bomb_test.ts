/** Modules that fill the memory, on a real peel: one with a process of its own fails alone; one in a worker takes its peel along. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../tools/repository.ts";

const SCRIPT = fileURLToPath(new URL("./bomb_script.ts", import.meta.url));

const BOMB = `import { defineFunction } from "zester";
export default defineFunction({ name: "bomb.heap", summary: "Fills the heap.", params: {}, isReadOnly: false,
  run() { const all = []; for (;;) all.push({ a: [1, 2, 3] }); } });`;

Deno.test("a module that fills its heap ends its own process, or a peel that reports the job as interrupted", async () => {
  const states = await Deno.makeTempDir({ prefix: "zester-bomb-" });
  try {
    await Deno.mkdir(join(states, "_modules/bomb"), { recursive: true });
    await Deno.writeTextFile(join(states, "_modules/bomb/heap.ts"), BOMB);
    const deno = [Deno.execPath(), "run", "--no-prompt", "--allow-all"];
    const up = [
      join(ROOT, "tools/up.ts"),
      "--broker",
      "embedded",
      "--peels",
      "1",
      "--states",
      states,
    ];
    const { code, stdout, stderr } = await new Deno.Command(deno[0]!, {
      args: [...deno.slice(1), ...up, "--", ...deno, SCRIPT],
    }).output();
    const text = new TextDecoder();
    assert.equal(code, 0, text.decode(stderr));
    const { own, after, ended, shared } = JSON.parse(text.decode(stdout));
    assert.match(
      own.stdout,
      /its process ended \(SIG\w+\): most likely its heap of 256 MiB was full/,
    );
    assert.equal(after.stdout.trim(), "peel-1");
    assert.notEqual(ended.code, 0);
    assert.match(shared.stdout, /interrupted/);
  } finally {
    await Deno.remove(states, { recursive: true });
  }
});

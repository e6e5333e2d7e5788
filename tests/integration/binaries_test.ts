/** The single-file programs of `deno task compile`, whichever kind was made here, answer a ping as a fleet. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../tools/repository.ts";

async function tool(
  name: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-all", join(ROOT, "tools", name), ...args],
    env,
  }).output();
  const text = new TextDecoder();
  assert.equal(code, 0, text.decode(stderr));
  return text.decode(stdout);
}

Deno.test("compile makes three programs, and a fleet of them answers, from a worker too", async () => {
  const folder = await Deno.makeTempDir({ prefix: "zester-binaries-test-" });
  const env = { XDG_CACHE_HOME: join(folder, "cache") };
  try {
    const bin = join(folder, "dist");
    await tool("compile.ts", ["--out", bin], env);
    const script = "zester '*' test.ping -o ids && zester peel-1 test.echo text=hello -o json";
    const answer = await tool(
      "up.ts",
      ["--bin", bin, "--broker", "embedded", "--peels", "2", "--", "sh", "-c", script],
      env,
    );
    const [first, second, ...json] = answer.split("\n");
    assert.deepEqual([first, second], ["peel-1", "peel-2"]);
    const [echo] = JSON.parse(json.join("\n"));
    assert.equal(echo.results[0].details.result, "hello");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

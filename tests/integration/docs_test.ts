/** The commands in the guides are run on a real fleet, so that the guides stay true. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { withFleet } from "../../tools/up.ts";
import { ROOT } from "../../tools/repository.ts";
import { parseUpOptions } from "../../tools/up/options.ts";

/** Commands of a guide that are marked to be run, with the exit code that the guide promises. */
function commandsOf(markdown: string): { command: string; exit: number }[] {
  const marked = /<!-- run: exit (\d+) -->\n+```sh\n([\s\S]*?)```/g;
  return [...markdown.matchAll(marked)].map(([, exit, command = ""]) => ({
    command,
    exit: Number(exit),
  }));
}

Deno.test("the commands in docs/first-fleet.md end as the page says", async () => {
  const commands = commandsOf(await Deno.readTextFile(join(ROOT, "docs/first-fleet.md")));
  assert.ok(commands.length >= 5);
  await withFleet(parseUpOptions(["--broker", "embedded"]), async (fleet) => {
    for (const { command, exit } of commands) {
      const { code, stderr } = await new Deno.Command("sh", {
        args: ["-c", command],
        env: {
          PATH: `${fleet.binFolder}:${Deno.env.get("PATH")}`,
          ZESTER_CONTEXT: fleet.contextFile,
        },
      }).output();
      assert.equal(code, exit, `${command}${new TextDecoder().decode(stderr)}`);
    }
  });
});

Deno.test("examples/silent_peel.sh ends as it says", async () => {
  const args = ["run", "-A", join(ROOT, "tools/up.ts"), "--broker", "embedded", "--"];
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [...args, "sh", join(ROOT, "examples/silent_peel.sh")],
  }).output();
  const said = new TextDecoder().decode(stdout);
  assert.equal(code, 0, said);
  assert.match(said, /peel-2 +silent/);
});

import assert from "node:assert/strict";
import { entrypointFlags, parseEntrypointTask, unstableFlags } from "./permissions.ts";

Deno.test("entrypointFlags() reads every program's flags from deno.json", () => {
  for (const name of ["master", "peel", "cli", "broker"] as const) {
    const { flags, main } = entrypointFlags(name);
    assert.equal(main, `${name}/main.ts`);
    assert.ok(flags.includes("--no-prompt"));
    assert.ok(flags.some((flag) => flag.startsWith("--allow-")));
  }
});

Deno.test("entrypointFlags() gives the master neither run nor everything", () => {
  const { flags } = entrypointFlags("master");
  assert.deepEqual(flags.filter((flag) => /^(-A|--allow-(all|run))\b/.test(flag)), []);
});

Deno.test("unstableFlags() names the features of deno.json as flags", () => {
  assert.deepEqual(unstableFlags(), ["--unstable-worker-options"]);
});

const refused: [name: string, line: string, why: RegExp][] = [
  ["another command", "node master/main.ts", /does not begin with/],
  ["no file at the end", "deno run --no-prompt", /does not end with a main.ts/],
  ["a flag with a loose value", "deno run --no-prompt --allow-read /etc a/main.ts", /not a flag/],
  ["a line that may prompt", "deno run --allow-read a/main.ts", /lacks --no-prompt/],
  ["shell syntax", "deno run --no-prompt --allow-read=$HOME a/main.ts", /shell syntax/],
  ["two commands", "deno run --no-prompt a/main.ts && deno run --no-prompt b/main.ts", /shell/],
];
for (const [name, line, why] of refused) {
  Deno.test(`parseEntrypointTask() refuses ${name}`, () => {
    assert.throws(() => parseEntrypointTask(line, "x"), why);
  });
}

import assert from "node:assert/strict";
import { readmeTestCommand } from "./ok.ts";

const cases: [name: string, readme: string, want: string | null][] = [
  ["a line of a code block", "Run:\n\n```sh\nnpx -y deno@2.9.6 task test\n```\n", "deno@2.9.6"],
  ["a prompt before it", "    $ npx -y deno@2.9.6 task test\n", "deno@2.9.6"],
  ["a comment after it", "npx -y deno@2.9.6 task test    # all of it\n", "deno@2.9.6"],
  ["no other arguments", "npx -y deno@2.9.6 task test --filter x\n", null],
  ["no other task", "npx -y deno@2.9.6 task demo\nnpx -y deno@2.9.6 task test:nats\n", null],
  ["no unpinned version", "npx -y deno task test\n", null],
];
for (const [name, readme, want] of cases) {
  Deno.test(`readmeTestCommand() takes ${name}`, () => {
    const command = readmeTestCommand(readme);
    assert.deepEqual(command, want === null ? null : ["npx", "-y", want, "task", "test"]);
  });
}

import assert from "node:assert/strict";
import { forwarded } from "./forward.ts";

const rows: [
  name: string,
  args: Record<string, unknown>,
  want: [string, Record<string, unknown>],
][] = [
  ["a name with the other keys", { name: "file.managed", content: "a" }, ["file.managed", {
    content: "a",
  }]],
  ["a dotted key with its arguments", { "file.touch": { name: "/x" } }, ["file.touch", {
    name: "/x",
  }]],
  ["a dry run, too", { name: "test.nop", test: true }, ["test.nop", { test: true }]],
];
for (const [name, args, [module, wanted]] of rows) {
  Deno.test(`forwarded() takes ${name}`, () => {
    assert.deepEqual(forwarded({ module: "module.run", id: "x", args }), {
      module,
      id: "x",
      args: wanted,
    });
  });
}

Deno.test("forwarded() leaves other requests alone", () => {
  const asked = { module: "test.ping", id: "", args: {} };
  assert.equal(forwarded(asked), asked);
});

Deno.test("forwarded() says what is missing, and never loops", () => {
  assert.throws(() => forwarded({ module: "module.run", id: "x", args: {} }), /no target module/);
  assert.throws(
    () => forwarded({ module: "module.run", id: "", args: { name: "module.run" } }),
    /itself/,
  );
});

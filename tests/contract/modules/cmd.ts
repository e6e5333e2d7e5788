/** Subjects of `cmd.*`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { ModuleFixture } from "../module_fixture.ts";

export const FIXTURES: readonly ModuleFixture[] = [
  {
    module: "cmd.run",
    title: "a shell line that creates its file",
    cannotRevert: true,
    prepare(folder) {
      const creates = join(folder, "made");
      return Promise.resolve({
        given: { id: `echo hello > ${creates}`, args: { creates } },
        verify: async () => assert.equal(await Deno.readTextFile(creates), "hello\n"),
      });
    },
  },
  {
    module: "cmd.run",
    title: "a program without a shell",
    cannotRevert: true,
    neverConverges: true,
    prepare(folder) {
      const path = join(folder, "a b; c");
      return Promise.resolve({
        given: { id: "touch", args: { args: ["--", path] } },
        verify: async () => assert.ok((await Deno.stat(path)).isFile),
      });
    },
  },
];

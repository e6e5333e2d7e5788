/** Subjects of `group.*`: groups of our own, made and removed by the tools of the host. */
import assert from "node:assert/strict";
import type { ModuleFixture } from "../module_fixture.ts";
import { accountFiles, needsAccountTools, rowOf, runTool } from "./_account_tools.ts";

const NAME = "zt-group";

async function removeAll(): Promise<void> {
  if (await rowOf("/etc/group", NAME) !== null) await runTool("groupdel", ["--", NAME]);
}

const shared = { skip: needsAccountTools };
const look = () => accountFiles([NAME]);

export const FIXTURES: readonly ModuleFixture[] = [
  {
    ...shared,
    module: "group.present",
    title: "a new group with members",
    async prepare() {
      await removeAll();
      return {
        given: { id: NAME, args: { gid: 64_322, members: ["daemon", "bin"] } },
        look,
        verify: async () =>
          assert.deepEqual((await rowOf("/etc/group", NAME))?.slice(2), ["64322", "daemon,bin"]),
        cleanUp: removeAll,
      };
    },
    unused: [/^run groupmod /],
  },
  {
    ...shared,
    module: "group.present",
    title: "a group with another number and other members",
    async prepare() {
      await removeAll();
      await runTool("groupadd", ["--", NAME]);
      await runTool("gpasswd", ["--members", "daemon,bin", NAME]);
      return {
        given: { id: NAME, args: { gid: 64_322, addusers: ["sys"], delusers: "bin" } },
        look,
        verify: async () =>
          assert.deepEqual((await rowOf("/etc/group", NAME))?.slice(2), ["64322", "daemon,sys"]),
        cleanUp: removeAll,
      };
    },
    unused: [/^run groupadd /, /^run groupdel /],
  },
  {
    ...shared,
    module: "group.absent",
    title: "a group that exists",
    cannotRevert: true,
    async prepare() {
      await removeAll();
      await runTool("groupadd", ["--", NAME]);
      return {
        given: { id: NAME },
        look,
        verify: async () => assert.equal(await rowOf("/etc/group", NAME), null),
        cleanUp: removeAll,
      };
    },
  },
];

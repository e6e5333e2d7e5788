/** Subjects of `user.*`: users of our own, made and removed by the tools of the host. */
import assert from "node:assert/strict";
import type { ModuleFixture } from "../module_fixture.ts";
import { accountFiles, needsAccountTools, rowOf, runTool } from "./_account_tools.ts";

const NAME = "zt-user";
const GROUP = "zt-user-group";
/** The hash of no password that anybody uses. */
const HASH = "$6$zesterzester$abcdefghijklmnopqrstuvwxyz0123456789";

async function removeAll(): Promise<void> {
  if (await rowOf("/etc/passwd", NAME) !== null) await runTool("userdel", ["--", NAME]);
  for (const group of [NAME, GROUP]) {
    if (await rowOf("/etc/group", group) !== null) await runTool("groupdel", ["--", group]);
  }
}

const shared = { skip: needsAccountTools };

export const FIXTURES: readonly ModuleFixture[] = [
  {
    ...shared,
    module: "user.present",
    title: "a new user with a home, groups and a password",
    async prepare(folder) {
      await removeAll();
      await runTool("groupadd", ["--", GROUP]);
      const home = `${folder}/home`;
      return {
        given: {
          id: NAME,
          args: {
            uid: 64_321,
            home,
            createhome: true,
            shell: "/bin/sh",
            fullname: "Zester Test",
            groups: [GROUP],
            optional_groups: ["zt-nobody-has-this"],
            password: HASH,
          },
        },
        look: () => accountFiles([NAME, GROUP]),
        async verify() {
          const row = await rowOf("/etc/passwd", NAME);
          assert.deepEqual([row?.[2], ...row!.slice(4)], ["64321", "Zester Test", home, "/bin/sh"]);
          assert.equal((await rowOf("/etc/shadow", NAME))?.[1], HASH);
          assert.equal((await rowOf("/etc/group", GROUP))?.[3], NAME);
          assert.ok((await Deno.stat(home)).isDirectory);
        },
        cleanUp: removeAll,
      };
    },
  },
  {
    ...shared,
    module: "user.present",
    title: "a user that differs in all that is declared",
    async prepare() {
      await removeAll();
      await runTool("groupadd", ["--", GROUP]);
      await runTool("useradd", ["--no-create-home", "--comment", "Old,Room 1", "--", NAME]);
      return {
        given: {
          id: NAME,
          args: {
            uid: 64_321,
            gid: GROUP,
            home: "/nonexistent",
            shell: "/bin/false",
            fullname: "New",
            groups: ["users"],
            remove_groups: true,
            password: HASH,
          },
        },
        look: () => accountFiles([NAME, GROUP, "users"]),
        async verify() {
          const row = await rowOf("/etc/passwd", NAME);
          assert.equal(row?.[4], "New,Room 1", "the further parts of the full name stay");
          assert.equal(row?.[3], (await rowOf("/etc/group", GROUP))?.[2]);
          assert.equal((await rowOf("/etc/shadow", NAME))?.[1], HASH);
        },
        cleanUp: removeAll,
      };
    },
    unused: [/^run useradd /, /^run userdel /],
  },
  {
    ...shared,
    module: "user.absent",
    title: "a user that exists",
    cannotRevert: true,
    async prepare() {
      await removeAll();
      await runTool("useradd", ["--no-create-home", "--", NAME]);
      return {
        given: { id: NAME },
        look: () => accountFiles([NAME]),
        verify: async () => assert.equal(await rowOf("/etc/passwd", NAME), null),
        cleanUp: removeAll,
      };
    },
  },
];

/** `file.stat`: answers with what is at a path. */
import {
  absolutePath,
  defaulted,
  defineFunction,
  findAccount,
  findGroup,
  flag,
  GROUP_PATH,
  PASSWD_PATH,
  primary,
} from "../../core/module.ts";
import { octal } from "./_state.ts";

export default defineFunction({
  name: "file.stat",
  summary: "Answers with what is at a path: kind, mode, owner, size and time.",
  description: "Nothing there is an answer too: `exists` is false then.",
  params: {
    name: primary(absolutePath("What to look at."), "path"),
    follow: defaulted(flag("Look at where a link leads."), false),
  },
  isReadOnly: true,
  permissions: ({ name }) => ({ read: [name, PASSWD_PATH, GROUP_PATH] }),
  async run({ name, follow }, host) {
    const info = await host.stat(name, { follow });
    if (info === null) return { path: name, exists: false };
    const { kind, mode, uid, gid, size, modifiedMs, target } = info;
    return {
      path: name,
      exists: true,
      kind,
      mode: octal(mode),
      uid,
      user: (await findAccount(host, String(uid)))?.name ?? null,
      gid,
      group: (await findGroup(host, String(gid)))?.name ?? null,
      size,
      modified: new Date(modifiedMs).toISOString(),
      ...(target === undefined ? {} : { target }),
    };
  },
  examples: [{ title: "Who may read it", code: "zester '*' file.stat /etc/shadow" }],
  differences: ["It is called `file.stats` in Salt; a missing path is no error."],
});

/** `user.list`: the users of the host. */
import { defineFunction, PASSWD_PATH, readAccounts } from "../../core/module.ts";

export default defineFunction({
  name: "user.list",
  summary: "Answers with the users that the host's own files know.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ read: [PASSWD_PATH] }),
  async run(_params, host) {
    return (await readAccounts(host)).map(({ name, uid, gid, fullName, home, shell }) => ({
      name,
      uid,
      gid,
      fullname: fullName,
      home,
      shell,
    }));
  },
  examples: [{ title: "On the command line", code: "zester web-01 user.list" }],
});

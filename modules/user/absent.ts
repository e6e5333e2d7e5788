/** `user.absent`: keeps a user from existing. */
import {
  accountName,
  defaulted,
  defineModule,
  findAccount,
  flag,
  type Host,
  PASSWD_PATH,
  perform,
  primary,
} from "../../core/module.ts";
import { deleteProgram } from "./_account.ts";

export default defineModule({
  name: "user.absent",
  summary: "Keeps a user from existing on the host.",
  params: {
    name: primary(accountName("User.")),
    purge: defaulted(flag("Remove its home and its mail as well."), false),
    force: defaulted(flag("Remove it even if it is logged in."), false),
  },
  permissions: (p) => ({ read: [PASSWD_PATH], run: [deleteProgram(p.name, p)] }),
  async check(p, host) {
    return await isThere(host, p.name) ? { diff: `user ${p.name} exists` } : null;
  },
  async apply(p, host) {
    if (!await isThere(host, p.name)) return null;
    await perform(host, deleteProgram(p.name, p));
    return {
      diff: `removed user ${p.name}`,
      details: { user: p.name, purge: String(p.purge) },
    };
  },
  whyNoRevert: "a removed user cannot be made again as it was",
  examples: [
    { title: "On the command line", code: "zester '*' user.absent mallory purge=true" },
    { title: "As a state", code: "mallory:\n  user.absent:\n    - purge: true" },
  ],
});

/** By name only: a number could be another user's. */
async function isThere(host: Host, name: string): Promise<boolean> {
  return (await findAccount(host, name))?.name === name;
}

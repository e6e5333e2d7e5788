/** `group.absent`: keeps a group from existing. */
import {
  accountName,
  defineModule,
  findGroup,
  GROUP_PATH,
  type Host,
  perform,
  primary,
  type Program,
} from "../../core/module.ts";

export default defineModule({
  name: "group.absent",
  summary: "Keeps a group from existing on the host.",
  params: { name: primary(accountName("Group.")) },
  permissions: (p) => ({ read: [GROUP_PATH], run: [deleteProgram(p.name)] }),
  async check(p, host) {
    return await isThere(host, p.name) ? { diff: `group ${p.name} exists` } : null;
  },
  async apply(p, host) {
    if (!await isThere(host, p.name)) return null;
    await perform(host, deleteProgram(p.name));
    return { diff: `removed group ${p.name}`, details: { group: p.name } };
  },
  whyNoRevert: "a removed group cannot be made again as it was",
  examples: [
    { title: "On the command line", code: "zester '*' group.absent deploy" },
    { title: "As a state", code: "deploy:\n  group.absent" },
  ],
});

function deleteProgram(name: string): Program {
  return ["groupdel", "--", name];
}

/** By name only: a number could be another group's. */
async function isThere(host: Host, name: string): Promise<boolean> {
  return (await findGroup(host, name))?.name === name;
}

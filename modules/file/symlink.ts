/** `file.symlink`: keeps a symbolic link. */
import {
  absolutePath,
  defaulted,
  defineModule,
  type FileInfo,
  flag,
  line,
  primary,
} from "../../core/module.ts";
import { ensureParents, makedirs, parentDrift, parentGrant } from "./_state.ts";
import { type Memo, memoAt, putBack } from "./_undo.ts";

export default defineModule({
  name: "file.symlink",
  summary: "Keeps a symbolic link.",
  description:
    `The target is written into the link as it is given, and need not exist. Another link or anything else at the path is
an error, unless \`force\` is set. An undo puts back what was replaced, except for a folder.`,
  params: {
    name: primary(absolutePath("The link."), "path"),
    target: line("Where it leads: an absolute path, or one relative to the folder of the link."),
    force: defaulted(flag("Replace what else is at the path, a whole folder too."), false),
    makedirs,
  },
  positional: ["target"],
  permissions({ name, force, makedirs }) {
    const parents = parentGrant({ path: name, makedirs });
    const below = force ? [`${name}/**`] : [];
    return { read: parents.read, write: [name, ...below, ...parents.write] };
  },
  async check({ name, target, makedirs }, host) {
    const missing = await parentDrift(host, { path: name, makedirs });
    const diff = missing ?? driftOf(name, await host.stat(name), target);
    return diff === null ? null : { diff };
  },
  async apply({ name, target, force, makedirs }, host) {
    await ensureParents(host, { path: name, makedirs });
    const before = await host.stat(name);
    const drift = driftOf(name, before, target);
    if (drift === null) return null;
    if (before !== null && !force) {
      throw new Error(`${inTheWay(name, before)}; use force: true to replace`);
    }
    const memo: Memo = before === null
      ? { was: "absent", made: "link" }
      : await memoAt(host, name, before);
    if (before !== null && before.kind !== "link") await host.remove(name, { tree: true });
    await host.makeLink(name, target);
    return { diff: `linked ${name} to ${target}`, details: { path: name, target }, memo };
  },
  revert: ({ name }, memo: Memo, host) => putBack(host, name, memo),
  examples: [
    {
      title: "A site in force",
      code:
        "zester 'web*' file.symlink /etc/nginx/sites-enabled/shop target=../sites-available/shop",
    },
    {
      title: "As a state",
      code: `/srv/www/current:
  file.symlink:
    - target: /srv/www/releases/42
    - force: true`,
    },
  ],
  differences: [
    "Another link at the path is an error too, unless `force` is set.",
    "Owner and mode of a link are not kept; `user`, `group`, `mode` and `backupname` are not parameters.",
  ],
});

function driftOf(path: string, before: FileInfo | null, target: string): string | null {
  if (before === null) return `symlink ${path} does not exist`;
  if (before.kind !== "link") return `symlink ${path} does not exist: a ${before.kind} is there`;
  if (before.target === target) return null;
  return `symlink ${path} points to ${JSON.stringify(before.target)}, want ${
    JSON.stringify(target)
  }`;
}

function inTheWay(path: string, { kind, target }: FileInfo): string {
  return kind === "link"
    ? `${path} already exists pointing to ${JSON.stringify(target)}`
    : `${path} exists as a non-symlink`;
}

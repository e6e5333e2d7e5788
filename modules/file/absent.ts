/** `file.absent`: keeps a path empty. */
import { absolutePath, checked, defineModule, primary } from "../../core/module.ts";
import { type Memo, memoAt, putBack } from "./_undo.ts";

export default defineModule({
  name: "file.absent",
  summary: "Keeps a file, a link or a whole folder away.",
  description:
    `A link is removed, never what it leads to, and nothing of another mounted filesystem. An undo puts back files (up to a
size) and links; a folder is gone for good.`,
  params: {
    name: primary(checked(absolutePath("What to remove."), notRoot), "path"),
  },
  permissions: ({ name }) => ({ write: [name, `${name}/**`] }),
  async check({ name }, host) {
    const before = await host.stat(name);
    return before === null ? null : { diff: `${before.kind} ${name} is there` };
  },
  async apply({ name }, host) {
    const before = await host.stat(name);
    if (before === null) return null;
    const memo = await memoAt(host, name, before);
    await host.remove(name, { tree: true });
    return { diff: `removed ${before.kind} ${name}`, details: { path: name }, memo };
  },
  revert: ({ name }, memo: Memo, host) => putBack(host, name, memo),
  examples: [
    { title: "Away with it", code: "zester 'web*' file.absent /etc/nginx/sites-enabled/default" },
    { title: "As a state", code: "/var/www/old:\n  file.absent: []" },
  ],
  differences: ["It can be undone where it took away a file or a link."],
});

function notRoot(path: string): string | null {
  return path === "/" ? "the root folder is not removed" : null;
}

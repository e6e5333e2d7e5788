/** `file.touch`: keeps a file there, whatever is in it. */
import { absolutePath, defineModule, primary } from "../../core/module.ts";
import { ensureParents, FILE_MODE, makedirs, parentDrift, parentGrant } from "./_state.ts";
import { attributeMemo, type Memo, putBack } from "./_undo.ts";

export default defineModule({
  name: "file.touch",
  summary: "Keeps a file there, empty when it is made, whatever is in it.",
  description:
    "When something that is watched has changed, the time of a file that is there becomes the present one.",
  params: { name: primary(absolutePath("The file."), "path"), makedirs },
  permissions({ name, makedirs }) {
    const parents = parentGrant({ path: name, makedirs });
    return { read: parents.read, write: [name, ...parents.write] };
  },
  async check({ name, makedirs }, host) {
    const missing = await parentDrift(host, { path: name, makedirs });
    if (missing !== null) return { diff: missing };
    return await host.stat(name) === null ? { diff: `file ${name} does not exist` } : null;
  },
  async apply({ name, makedirs }, host, { isForced }) {
    await ensureParents(host, { path: name, makedirs });
    const before = await host.stat(name);
    if (before !== null && !isForced) return null;
    const memo: Memo = before === null
      ? { was: "absent", made: "file" }
      : { ...attributeMemo(before), modifiedMs: before.modifiedMs };
    if (before === null) await host.replaceFile(name, "", { mode: FILE_MODE });
    else await host.setAttributes(name, { modifiedMs: Date.now() });
    return {
      diff: `${before === null ? "created" : "touched"} ${name}`,
      details: { path: name },
      memo,
    };
  },
  revert: ({ name }, memo: Memo, host) => putBack(host, name, memo),
  examples: [
    { title: "A mark", code: "zester 'web*' file.touch /var/lib/app/installed" },
    {
      title: "As a state",
      code: `/var/lib/app/installed:
  file.touch:
    - makedirs: true`,
    },
  ],
  differences: [
    "A file that is there is left alone, its times too, unless a state that it watches has changed.",
    "`atime` and `mtime` are not parameters.",
  ],
});

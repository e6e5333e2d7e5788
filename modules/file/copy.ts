/** `file.copy`: keeps a copy of another file of the host. */
import {
  absolutePath,
  defaulted,
  defineModule,
  type FileInfo,
  flag,
  type Host,
  primary,
} from "../../core/module.ts";
import { contentDiff, holds, type Wanted, write } from "./_content.ts";
import {
  attributeDrift,
  ensureParents,
  FILE_MODE,
  makedirs,
  parentDrift,
  parentGrant,
  statRegular,
} from "./_state.ts";
import { type Memo, memoAt, putBack } from "./_undo.ts";

export default defineModule({
  name: "file.copy",
  summary: "Keeps a copy of another file of the host.",
  description:
    `A file that is there stays as it is, unless \`force\` is set. One that is replaced keeps its mode and owner, unless the mode
of the source is to be taken over.`,
  params: {
    name: primary(absolutePath("The copy."), "path"),
    source: absolutePath("What to copy: a regular file."),
    force: defaulted(flag("Replace a file that is there and differs."), false),
    preserve: defaulted(flag("Take over the mode of the source."), false),
    makedirs,
    show_changes: defaulted(flag("Show what changed in the content."), true),
  },
  positional: ["source"],
  permissions(p) {
    const parents = parentGrant({ path: p.name, makedirs: p.makedirs });
    return { read: [p.source, ...parents.read], write: [p.name, ...parents.write] };
  },
  async check(p, host) {
    const source = await sourceOf(p, host);
    const missing = await parentDrift(host, { path: p.name, makedirs: p.makedirs });
    if (missing !== null) return { diff: missing };
    const drift = await driftOf(p, host, { source, before: await statRegular(host, p.name) });
    return drift === null ? null : { diff: `${drift.why}\n${drift.changes}`.trim() };
  },
  async apply(p, host) {
    const source = await sourceOf(p, host);
    await ensureParents(host, { path: p.name, makedirs: p.makedirs });
    const before = await statRegular(host, p.name);
    const drift = await driftOf(p, host, { source, before });
    if (drift === null) return null;
    const memo: Memo = before === null
      ? { was: "absent", made: "file" }
      : await memoAt(host, p.name, before);
    const mode = p.preserve ? source.mode : before?.mode ?? FILE_MODE;
    await write(host, p.name, wantedOf(p, source), { mode });
    return {
      diff: `copied ${p.source} to ${p.name}\n${drift.changes}`.trim(),
      details: { source: p.source, path: p.name, bytes: String(source.size) },
      memo,
    };
  },
  revert: (p, memo: Memo, host) => putBack(host, p.name, memo),
  examples: [
    {
      title: "A copy beside it",
      code: "zester 'web*' file.copy /etc/app.conf.orig source=/etc/app.conf",
    },
    {
      title: "As a state",
      code: `/usr/local/bin/tool:
  file.copy:
    - source: /opt/tool/bin/tool
    - force: true
    - preserve: true`,
    },
  ],
  differences: [
    "One regular file is copied; for folders there is `file.recurse`.",
    "`preserve` takes over the mode, not owner and times; `subdir`, `user`, `group` and `mode` are not parameters.",
  ],
});

interface Params {
  readonly name: string;
  readonly source: string;
  readonly force: boolean;
  readonly preserve: boolean;
  readonly show_changes: boolean;
}

async function sourceOf({ source }: Params, host: Host): Promise<FileInfo> {
  const info = await statRegular(host, source, { follow: true });
  if (info === null) throw new Error(`source ${source} does not exist`);
  return info;
}

function wantedOf({ source }: Params, { size }: FileInfo): Wanted {
  return { from: "file", path: source, size };
}

/** What differs and how; null when nothing does. */
async function driftOf(
  p: Params,
  host: Host,
  { source, before }: { source: FileInfo; before: FileInfo | null },
): Promise<{ why: string; changes: string } | null> {
  if (before !== null && !p.force) return null;
  const want = wantedOf(p, source);
  if (before !== null && await holds(host, p.name, before, want)) {
    const why = p.preserve ? attributeDrift(p.name, before, { mode: source.mode }) : null;
    return why === null ? null : { why, changes: "" };
  }
  return {
    why: before === null ? `file ${p.name} does not exist` : `content differs for ${p.name}`,
    changes: p.show_changes ? await contentDiff(host, p.name, before, want) : "(not shown)",
  };
}

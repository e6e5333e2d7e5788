/** `file.directory`: keeps a folder with its mode and owner. */
import {
  absolutePath,
  type Attributes,
  defineModule,
  type FileInfo,
  fileMode,
  type Host,
  optional,
  primary,
} from "../../core/module.ts";
import {
  attributeDrift,
  ensureParents,
  FOLDER_MODE,
  makedirs,
  octal,
  ownerIds,
  ownerReads,
  type Owners,
  ownership,
  parentDrift,
  parentGrant,
} from "./_state.ts";
import { attributeMemo, type Memo, putBack } from "./_undo.ts";

export default defineModule({
  name: "file.directory",
  summary: "Keeps a folder with its mode and owner.",
  description:
    `What is in the folder is not looked at. An undo removes a folder that was made, if nothing has been put into it since, and
gives one that was there its mode and owner back.`,
  params: {
    name: primary(absolutePath("Folder to keep."), "path"),
    mode: optional(
      fileMode("Permission bits such as 0755; left alone when absent."),
      "0755 for a new folder",
    ),
    dir_mode: optional(fileMode("The same, used when mode is absent.")),
    ...ownership,
    makedirs,
  },
  permissions(p) {
    const parents = parentGrant({ path: p.name, makedirs: p.makedirs });
    return { read: [...parents.read, ...ownerReads(p)], write: [p.name, ...parents.write] };
  },
  async check(p, host) {
    const missing = await parentDrift(host, { path: p.name, makedirs: p.makedirs });
    if (missing !== null) return { diff: missing };
    const before = await host.stat(p.name);
    const diff = driftOf(p.name, before, await attributesOf(p, host));
    return diff === null ? null : { diff };
  },
  async apply(p, host) {
    await ensureParents(host, { path: p.name, makedirs: p.makedirs });
    const before = await host.stat(p.name);
    const attributes = await attributesOf(p, host);
    if (driftOf(p.name, before, attributes) === null) return null;
    if (before !== null && before.kind !== "folder") throw new Error(notFolder(p.name));
    const mode = attributes.mode ?? before?.mode ?? FOLDER_MODE;
    if (before === null) await host.makeFolder(p.name, { ...attributes, mode });
    else await host.setAttributes(p.name, attributes);
    const memo: Memo = before === null ? { was: "absent", made: "folder" } : attributeMemo(before);
    return {
      diff: `ensured directory ${p.name} (mode ${octal(mode)})`,
      details: { path: p.name, mode: octal(mode) },
      memo,
    };
  },
  revert: (p, memo: Memo, host) => putBack(host, p.name, memo),
  examples: [
    {
      title: "A folder with its owner",
      code: "zester 'web*' file.directory /srv/www user=www-data mode=0750",
    },
    {
      title: "As a state",
      code: `/srv/www/shared:
  file.directory:
    - user: www-data
    - group: www-data
    - mode: "2775"
    - makedirs: true`,
    },
  ],
  differences: [
    "`recurse`, `clean`, `force` and `max_depth` are not parameters: what is in the folder stays as it is.",
    "`makedirs` is about the folders above only; the folder itself is always made.",
  ],
});

async function attributesOf(
  p: Owners & { mode?: number | undefined; dir_mode?: number | undefined },
  host: Host,
): Promise<Attributes> {
  const mode = p.mode ?? p.dir_mode;
  return { ...(mode === undefined ? {} : { mode }), ...await ownerIds(host, p) };
}

function driftOf(path: string, before: FileInfo | null, want: Attributes): string | null {
  if (before === null) return `directory ${path} does not exist`;
  return before.kind === "folder" ? attributeDrift(path, before, want) : notFolder(path);
}

function notFolder(path: string): string {
  return `${path} exists but is not a directory`;
}

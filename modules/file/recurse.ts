/** `file.recurse`: keeps a folder with all files of another one. */
import {
  absolutePath,
  type Attributes,
  defaulted,
  defineModule,
  FILE_MEMO_BYTES_MAX,
  type FileInfo,
  fileMode,
  flag,
  FOLDER_DIFF_LINES_MAX,
  type Grant,
  type Host,
  line,
  matchesGlob,
  optional,
  primary,
  StateFailure,
  textList,
} from "../../core/module.ts";
import { holds, type Wanted, write } from "./_content.ts";
import { isTreeSource, isWebSource, treePath } from "./_source.ts";
import {
  attributeDrift,
  ensureParents,
  FILE_MODE,
  FOLDER_MODE,
  makedirs,
  ownerIds,
  ownerReads,
  ownership,
  parentDrift,
  parentGrant,
} from "./_state.ts";
import { attributeMemo, type Memo, memoAt, putBack } from "./_undo.ts";
import { childOf, walk, wholeTree } from "./_walk.ts";

export default defineModule({
  name: "file.recurse",
  summary: "Keeps a folder with all files of another one, of the host or of the state tree.",
  description:
    `Every file gets \`file_mode\`; folders that are made get \`dir_mode\`, and those that are there only if it is declared. A link
in the source is an error unless it is excluded; a link where a file should go is never followed. With \`clean\` regular files that
the source does not have are removed, folders stay. An undo puts back what was changed, up to a size in all.`,
  params: {
    name: primary(absolutePath("Folder to keep."), "path"),
    source: line("A folder of the host, or of the state tree: `zester://…`."),
    file_mode: optional(fileMode("Permission bits of the files."), "0644"),
    dir_mode: optional(
      fileMode("Permission bits of the folders; those that are there are left alone when absent."),
      "0755 for a new folder",
    ),
    ...ownership,
    clean: defaulted(flag("Remove regular files that the source does not have."), false),
    exclude_pat: optional(
      textList(
        "Globs over paths below the source, or over file names: neither copied nor removed.",
      ),
    ),
    makedirs,
  },
  positional: ["source"],
  permissions(p): Grant {
    const parents = parentGrant({ path: p.name, makedirs: p.makedirs });
    const source = sourceTree(p.source);
    return {
      ...source,
      read: [...parents.read, ...ownerReads(p), ...(source.read ?? [])],
      write: [...wholeTree(p.name), ...parents.write],
    };
  },
  async check(p, host) {
    const missing = await parentDrift(host, { path: p.name, makedirs: p.makedirs });
    if (missing !== null) return { diff: missing };
    const differences = await compare(p, host);
    if (differences.length === 0) return null;
    const count = `${differences.length} files differ between ${p.source} and ${p.name}`;
    return { diff: `${count}\n${listOf(differences)}` };
  },
  async apply(p, host) {
    await ensureParents(host, { path: p.name, makedirs: p.makedirs });
    const differences = await compare(p, host);
    if (differences.length === 0) return null;
    const wrong = differences.find(({ step }) => step.do === "refuse");
    if (wrong !== undefined) throw new Error(`${wrong.path} ${wrong.why}`);
    const done = new Undo();
    try {
      for (const difference of differences) await done.perform(host, difference);
    } catch (thrown) {
      throw new StateFailure(thrown instanceof Error ? thrown.message : String(thrown), {
        details: detailsOf(p, done),
        changed: done.memo.length > 0,
        memo: done.memo,
      });
    }
    const { files, folders, removed } = done;
    const copied = `copied ${files} files, ${folders} dirs from ${p.source} to ${p.name}`;
    return {
      diff: `${copied} (cleaned ${removed})\n${listOf(differences)}`,
      details: detailsOf(p, done),
      memo: done.memo,
    };
  },
  async revert(_p, memo: readonly Kept[], host) {
    const failures: string[] = [];
    for (const { path, was } of memo.toReversed()) {
      try {
        await putBack(host, path, was);
      } catch (thrown) {
        failures.push(thrown instanceof Error ? thrown.message : String(thrown));
      }
    }
    if (failures.length > 0) throw new Error(failures.join("; "));
    return { diff: `reverted ${memo.length} files and folders` };
  },
  examples: [
    {
      title: "A folder of the state tree",
      code: "zester 'web*' file.recurse /srv/www source=zester://site clean=true",
    },
    {
      title: "As a state",
      code: `/etc/nginx/conf.d:
  file.recurse:
    - source: zester://nginx/conf.d
    - file_mode: "0640"
    - group: www-data
    - exclude_pat: "*.bak"`,
    },
  ],
  differences: [
    "`clean` removes regular files only, never folders.",
    "Files are copied as they are: `template`, `keep_mode` and `include_pat` are not parameters.",
    "Patterns are globs; there is no `E@`.",
  ],
});

interface Params {
  readonly name: string;
  readonly source: string;
  readonly file_mode?: number | undefined;
  readonly dir_mode?: number | undefined;
  readonly user?: string | undefined;
  readonly group?: string | undefined;
  readonly clean: boolean;
  readonly exclude_pat?: readonly string[] | undefined;
}

// ---- the source ----------------------------------------------------------------------------------------------

interface Entry {
  readonly below: string;
  readonly kind: "file" | "folder";
}

function sourceTree(source: string): Grant {
  if (isTreeSource(source)) return { tree: wholeTree(treePath(source)) };
  return isWebSource(source) ? {} : { read: wholeTree(hostFolder(source)) };
}

function hostFolder(source: string): string {
  return source.replace(/(?<=.)\/+$/, "");
}

async function entriesOf(p: Params, host: Host): Promise<Entry[]> {
  const { source } = p;
  if (isWebSource(source)) throw new Error(`source ${source}: a web server has no folders to copy`);
  const found = isTreeSource(source)
    ? await treeEntries(host, source)
    : await hostEntries(host, hostFolder(source));
  return found.filter(({ below }) => !isExcluded(p, below)).map(({ below, kind }) => {
    if (kind === "file" || kind === "folder") return { below, kind };
    throw new Error(`source ${source}: ${below} is no regular file (exclude_pat leaves it out)`);
  });
}

/** The tree lists files only: the folders are those in which they lie. */
async function treeEntries(host: Host, source: string): Promise<Entry[]> {
  const path = treePath(source);
  if (path === "") throw new Error(`source ${source}: a folder in the state tree is wanted`);
  const files = await host.treeList(path);
  if (files.length === 0) throw new Error(`source ${source} does not exist or holds no files`);
  const folders = new Set(files.flatMap(foldersAbove));
  return [
    ...[...folders].sort().map((below): Entry => ({ below, kind: "folder" })),
    ...files.map((below): Entry => ({ below, kind: "file" })),
  ];
}

function foldersAbove(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_part, index) => parts.slice(0, index + 1).join("/"));
}

async function hostEntries(host: Host, source: string) {
  const info = await host.stat(source, { follow: true });
  if (info?.kind !== "folder") {
    throw new Error(`source ${source} ${info === null ? "does not exist" : "is no folder"}`);
  }
  return await Array.fromAsync(walk(host, source));
}

function isExcluded({ exclude_pat = [] }: Params, below: string): boolean {
  const parts = below.split("/");
  const paths = parts.map((_part, index) => parts.slice(0, index + 1).join("/"));
  return exclude_pat.some((glob) =>
    paths.some((path) => matchesGlob(glob, path)) || parts.some((part) => matchesGlob(glob, part))
  );
}

async function wantedOf({ source }: Params, host: Host, below: string): Promise<Wanted> {
  if (isTreeSource(source)) {
    const bytes = await host.treeFile(`${treePath(source)}/${below}`);
    if (bytes === null) throw new Error(`source ${source}: ${below} went away`);
    return { from: "bytes", bytes };
  }
  const path = childOf(hostFolder(source), below);
  const info = await host.stat(path);
  if (info === null) throw new Error(`source ${source}: ${below} went away`);
  return { from: "file", path, size: info.size };
}

// ---- what differs --------------------------------------------------------------------------------------------

type Step =
  | { readonly do: "make"; readonly attributes: Attributes }
  | { readonly do: "write"; readonly want: Wanted; readonly attributes: Attributes }
  | { readonly do: "change"; readonly attributes: Attributes; readonly isFolder: boolean }
  | { readonly do: "remove" }
  /** Something else is in the way. */
  | { readonly do: "refuse" };

interface Difference {
  readonly path: string;
  readonly before: FileInfo | null;
  readonly step: Step;
  readonly why: string;
}

/** All that differs, in the order in which it is mended: a folder before what is in it. */
async function compare(p: Params, host: Host): Promise<Difference[]> {
  const entries = await entriesOf(p, host);
  const owners = await ownerIds(host, p);
  const found: (Difference | null)[] = [await folderDifference(p, host, p.name)];
  for (const { below, kind } of entries) {
    const path = childOf(p.name, below);
    found.push(
      kind === "folder"
        ? await folderDifference(p, host, path)
        : await fileDifference(p, host, { path, below, owners }),
    );
  }
  if (p.clean) found.push(...await surplus(p, host, entries));
  return found.filter((each) => each !== null);
}

async function folderDifference(p: Params, host: Host, path: string): Promise<Difference | null> {
  const before = await host.stat(path);
  if (before === null) {
    return {
      path,
      before,
      step: { do: "make", attributes: { mode: p.dir_mode ?? FOLDER_MODE } },
      why: "is missing",
    };
  }
  if (before.kind !== "folder") return refusal(path, before, "folder");
  const attributes = p.dir_mode === undefined ? {} : { mode: p.dir_mode };
  const why = attributeDrift(path, before, attributes);
  return why === null
    ? null
    : { path, before, step: { do: "change", attributes, isFolder: true }, why };
}

async function fileDifference(
  p: Params,
  host: Host,
  { path, below, owners }: { path: string; below: string; owners: Attributes },
): Promise<Difference | null> {
  const attributes = { mode: p.file_mode ?? FILE_MODE, ...owners };
  const before = await host.stat(path);
  if (before !== null && before.kind !== "file") return refusal(path, before, "file");
  const want = await wantedOf(p, host, below);
  if (before === null || !await holds(host, path, before, want)) {
    const why = before === null ? "is missing" : "differs";
    return { path, before, step: { do: "write", want, attributes }, why };
  }
  const why = attributeDrift(path, before, attributes);
  return why === null
    ? null
    : { path, before, step: { do: "change", attributes, isFolder: false }, why };
}

function refusal(path: string, before: FileInfo, wanted: string): Difference {
  return { path, before, step: { do: "refuse" }, why: `is a ${before.kind}, not a ${wanted}` };
}

/** Regular files that the source does not have. */
async function surplus(
  p: Params,
  host: Host,
  entries: readonly Entry[],
): Promise<Difference[]> {
  const wanted = new Set(entries.map(({ below }) => below));
  const found: Difference[] = [];
  if ((await host.stat(p.name))?.kind !== "folder") return found;
  for await (const { below, kind } of walk(host, p.name)) {
    if (kind !== "file" || wanted.has(below) || isExcluded(p, below)) continue;
    const path = childOf(p.name, below);
    const before = await host.stat(path);
    if (before !== null) {
      found.push({ path, before, step: { do: "remove" }, why: "is not in the source" });
    }
  }
  return found;
}

function listOf(differences: readonly Difference[]): string {
  const shown = differences.slice(0, FOLDER_DIFF_LINES_MAX).map(({ path, why }) =>
    why.includes(path) ? `  ${why}` : `  ${path} ${why}`
  );
  const left = differences.length - shown.length;
  return [...shown, ...(left > 0 ? [`  … ${left} more`] : [])].join("\n");
}

// ---- mending -------------------------------------------------------------------------------------------------

interface Kept {
  readonly path: string;
  readonly was: Memo;
}

/** Mends one difference after the other, and keeps what is needed to undo them all. */
class Undo {
  readonly memo: Kept[] = [];
  files = 0;
  folders = 0;
  removed = 0;
  #bytesLeft = FILE_MEMO_BYTES_MAX;

  async perform(host: Host, { path, before, step }: Difference): Promise<void> {
    switch (step.do) {
      case "make":
        await host.makeFolder(path, step.attributes);
        this.folders += 1;
        return this.#keep(path, { was: "absent", made: "folder" });
      case "write": {
        const was = await this.#memoAt(host, path, before);
        await write(host, path, step.want, step.attributes);
        this.files += 1;
        return this.#keep(path, was);
      }
      case "change":
        await host.setAttributes(path, step.attributes);
        this[step.isFolder ? "folders" : "files"] += 1;
        return this.#keep(path, attributeMemo(before!));
      case "remove": {
        const was = await this.#memoAt(host, path, before);
        await host.remove(path);
        this.removed += 1;
        return this.#keep(path, was);
      }
      case "refuse":
        throw new Error(`${path} is in the way`);
    }
  }

  #keep(path: string, was: Memo): void {
    this.memo.push({ path, was });
  }

  async #memoAt(host: Host, path: string, before: FileInfo | null): Promise<Memo> {
    if (before === null) return { was: "absent", made: "file" };
    const memo = await memoAt(host, path, before, { bytesMax: this.#bytesLeft });
    if (memo.was === "file") this.#bytesLeft -= memo.bytes.length;
    return memo;
  }
}

function detailsOf({ source, name }: Params, { files, folders, removed }: Undo) {
  return {
    source,
    dest: name,
    files: String(files),
    dirs: String(folders),
    cleaned: String(removed),
  };
}

/** What the members of the family share: how a file is looked at, the contract of missing parents, and who owns what. */
import {
  type Attributes,
  defaulted,
  type FileInfo,
  findAccount,
  findGroup,
  flag,
  GROUP_PATH,
  type Host,
  line,
  optional,
  PASSWD_PATH,
} from "../../core/module.ts";

export const FILE_MODE = 0o644;
export const FOLDER_MODE = 0o755;

/** A regular file as it is. */
export interface Content {
  readonly bytes: Uint8Array;
  readonly info: FileInfo;
}

export interface LookOptions {
  /** Look at where a link at the path leads. */
  readonly follow?: boolean;
}

/** The regular file at a path; null when nothing is there. Anything else there is an error; a link too, unless followed. */
export async function readRegular(
  host: Host,
  path: string,
  options: LookOptions = {},
): Promise<Content | null> {
  const info = await statRegular(host, path, options);
  const bytes = info === null ? null : await host.readFile(path);
  return info === null || bytes === null ? null : { bytes, info };
}

/** The same without its content. */
export async function statRegular(
  host: Host,
  path: string,
  { follow = false }: LookOptions = {},
): Promise<FileInfo | null> {
  const own = await host.stat(path);
  const info = follow && own?.kind === "link" ? await host.stat(path, { follow }) : own;
  if (info === null) {
    if (own === null) return null;
    // Making the file where the link leads would leave an undo without a way to find it.
    throw new Error(`${path} is a link to ${own.target}, which does not exist`);
  }
  switch (info.kind) {
    case "file":
      return info;
    case "folder":
      throw new Error(`${path} is a folder`);
    case "link":
      throw new Error(`${path} is a link to ${info.target}: it is not followed`);
    case "other":
      throw new Error(`${path} is no regular file`);
  }
}

// ---- parents -------------------------------------------------------------------------------------------------

export const makedirs = defaulted(flag("Make missing parent folders, mode 0755."), false);

/** The folder above; null for what lies at the root. */
export function parentOf(path: string): string | null {
  const parent = path.slice(0, path.lastIndexOf("/"));
  return parent === "" ? null : parent;
}

/** What a look says of a missing parent; null when the parent is there. A parent that is a file is an error. */
export async function missingParent(host: Host, path: string): Promise<string | null> {
  const parent = parentOf(path);
  if (parent === null) return null;
  const info = await host.stat(parent);
  if (info === null) return parent;
  // The host follows a link only where nobody but root could have put it; what it leads to shows when it is used.
  if (info.kind === "folder" || info.kind === "link") return null;
  throw new Error(`parent ${parent} is not a directory`);
}

/** The drift of a missing parent, in words; null when it is there. */
export async function parentDrift(
  host: Host,
  { path, makedirs }: { path: string; makedirs: boolean },
): Promise<string | null> {
  const missing = await missingParent(host, path);
  if (missing === null) return null;
  return makedirs
    ? `parent directory ${missing} does not exist and will be made`
    : `parent directory ${missing} does not exist (set makedirs: true to create it)`;
}

/** Makes missing parents, or fails with what to do. */
export async function ensureParents(
  host: Host,
  { path, makedirs }: { path: string; makedirs: boolean },
): Promise<void> {
  const missing = await missingParent(host, path);
  if (missing === null) return;
  if (!makedirs) {
    throw new Error(`parent directory ${missing} does not exist (set makedirs: true to create it)`);
  }
  await host.makeFolder(missing, { parents: true, mode: FOLDER_MODE });
}

/** What the parent contract needs of a grant. */
export function parentGrant(
  { path, makedirs }: { path: string; makedirs: boolean },
): { read: string[]; write: string[] } {
  const parent = parentOf(path);
  if (parent === null) return { read: [], write: [] };
  return makedirs ? { read: [], write: [parent] } : { read: [parent], write: [] };
}

// ---- ownership -----------------------------------------------------------------------------------------------

export const ownership = {
  user: optional(line("Owner, by name or number; left alone when absent.")),
  group: optional(line("Group, by name or number; left alone when absent.")),
};

export interface Owners {
  readonly user?: string | undefined;
  readonly group?: string | undefined;
}

/** What looking up owners needs of a grant. */
export function ownerReads({ user, group }: Owners): string[] {
  return [
    ...(needsLookup(user) ? [PASSWD_PATH] : []),
    ...(needsLookup(group) ? [GROUP_PATH] : []),
  ];
}

function needsLookup(name: string | undefined): boolean {
  return name !== undefined && !/^-?\d+$/.test(name);
}

/** The numbers of the declared owners; -1 leaves one alone, as with chown. */
export async function ownerIds(
  host: Host,
  owners: Owners,
): Promise<Pick<Attributes, "uid" | "gid">> {
  const uid = await idOf(owners.user, async (name) => (await findAccount(host, name))?.uid, "user");
  const gid = await idOf(owners.group, async (name) => (await findGroup(host, name))?.gid, "group");
  return { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) };
}

async function idOf(
  name: string | undefined,
  find: (name: string) => Promise<number | undefined>,
  what: string,
): Promise<number | undefined> {
  if (name === undefined || name === "-1") return undefined;
  if (!needsLookup(name)) return Number(name);
  const id = await find(name);
  if (id === undefined) throw new Error(`there is no ${what} ${JSON.stringify(name)}`);
  return id;
}

/** The first declared attribute that differs, in words; null when all agree. */
export function attributeDrift(path: string, info: FileInfo, want: Attributes): string | null {
  if (want.mode !== undefined && want.mode !== info.mode) {
    return `mode ${octal(info.mode)} != ${octal(want.mode)} for ${path}`;
  }
  if (want.uid !== undefined && want.uid !== info.uid) {
    return `owner ${info.uid} != ${want.uid} for ${path}`;
  }
  if (want.gid !== undefined && want.gid !== info.gid) {
    return `group ${info.gid} != ${want.gid} for ${path}`;
  }
  return null;
}

/** `0644`. */
export function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

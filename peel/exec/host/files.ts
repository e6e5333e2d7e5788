/**
 * What modules do with files, done by the peel. Every call ends in a name within a held folder (`walk.ts`), so nobody who
 * swaps folders or places links leads it elsewhere; nothing is read but regular files; a file is seen with its old content
 * or its new one, and the new one by nobody who may not read it. Extended attributes and ACLs of a replaced file are lost.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  type Dirent,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import { createHash, type Hash } from "node:crypto";
import { setImmediate as turnOfOthers } from "node:timers/promises";
import { systemRandom } from "../../../core/adapters/system_random.ts";
import { ZesterError } from "../../../core/errors.ts";
import { FOLDER_DEPTH_MAX, FOLDER_ENTRIES_MAX, HOST_READ_BYTES_MAX } from "../../../core/limits.ts";
import { type Grant, refusal } from "../../../core/module/grant.ts";
import type {
  Attributes,
  FileInfo,
  FolderEntry,
  HostCalls,
  ReplaceOptions,
} from "../../../core/module/host.ts";
import { requireText, requireWhole } from "./arguments.ts";
import { CappedBytes } from "./capped_bytes.ts";
import { closed, pieces, piecesOf, requireWanted, synced, writeAll } from "./file_bytes.ts";
import { errnoOf, named } from "./system_error.ts";
import {
  findPlace,
  type Folder,
  HAS_HANDLES,
  isPrivateFolder,
  type MayReach,
  openRoot,
  type Owned,
  type Place,
} from "./walk.ts";

/** The host calls that are about files. */
export type FileCalls = Pick<
  HostCalls,
  | "stat"
  | "readFile"
  | "hashFile"
  | "digest"
  | "listFolder"
  | "replaceFile"
  | "copyFile"
  | "makeFolder"
  | "makeLink"
  | "remove"
  | "setAttributes"
>;

interface Work {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly root: () => Folder;
  readonly mayReach: MayReach | undefined;
}

export interface FileOptions {
  /** Where walks begin. */
  readonly root?: () => Folder;
  /** What the calls are confined to, links or not. Absent: links that only root can have placed lead anywhere. */
  readonly grant?: Grant;
}

/** The calls for one task of a module; long ones end when the signal aborts. */
export function fileCalls(
  signal: AbortSignal,
  { root = openRoot, grant }: FileOptions = {},
): FileCalls {
  const within = (kind: "read" | "write") => grant === undefined ? undefined : reachOf(grant, kind);
  const reading = (path: string): Work => ({ path, signal, root, mayReach: within("read") });
  const at = (path: string): Work => ({ path, signal, root, mayReach: within("write") });
  const doing = (verb: string, path: string) => `${verb} ${JSON.stringify(path)}`;
  return {
    stat: (path, options) => named(doing("look at", path), () => look(reading(path), options)),
    readFile: (path, options) => named(doing("read", path), () => read(reading(path), options)),
    hashFile: (path, algorithm) => named(doing("hash", path), () => hash(reading(path), algorithm)),
    digest: (bytes, algorithm) => named("digest", () => digest(bytes, signal, algorithm)),
    listFolder: (path) => named(doing("list", path), () => list(reading(path))),
    replaceFile: (path, content, options) =>
      named(doing("replace", path), () => replace(at(path), content, options)),
    copyFile: (from, to, options) =>
      named(
        `${doing("copy", from)} to ${JSON.stringify(to)}`,
        () => copy(reading(from), at(to), options),
      ),
    makeFolder: (path, options) =>
      named(doing("make folder", path), () => makeFolder(at(path), options)),
    makeLink: (path, target) =>
      named(doing("make link", path), () => {
        if (grant !== undefined) requireGrantedTarget(grant, path, target);
        makeLink(at(path), target);
      }),
    remove: (path, options) => named(doing("remove", path), () => remove(at(path), options)),
    setAttributes: (path, attributes) =>
      named(doing("change", path), () => setAttributes(at(path), attributes)),
  };
}

/** Leads to what was granted, and through the folders above it. */
function reachOf(grant: Grant, kind: "read" | "write"): MayReach {
  const granted = [...(kind === "read" ? grant.read ?? [] : []), ...(grant.write ?? [])];
  return (path, how) =>
    refusal(grant, { kind, what: path }) === null ||
    (how === "through" && granted.some((each) => each.startsWith(`${path}/`)));
}

/** A link is a way for others too, so it must not lead to where its maker could not go. */
function requireGrantedTarget(grant: Grant, path: string, target: string): void {
  requireText("the target of a link", target);
  const folder = path.slice(0, path.lastIndexOf("/"));
  const what = target.startsWith("/") ? target : `${folder}/${target}`;
  const why = refusal(grant, { kind: "read", what });
  if (why !== null) throw new ZesterError("grant_denied", `a link to what was not granted: ${why}`);
}

/** Looking at files for the peel itself, which does not stop halfway. */
export const { stat, readFile, listFolder } = fileCalls(new AbortController().signal);

// ---- looking -------------------------------------------------------------------------------------------------

/** Permission and special bits, without what kind of thing it is. */
const MODE_BITS = 0o7777;

function look(
  { path, root, mayReach }: Work,
  { follow }: { follow?: boolean } = {},
): FileInfo | null {
  return absentAsNull(() => {
    using place = findPlace(path, { follow: follow === true, root, mayReach });
    const own = place.folder.at(place.name);
    const stats = lstatSync(own);
    const { mode, uid, gid, size, mtimeMs } = stats;
    return {
      kind: kindOf(stats),
      mode: mode & MODE_BITS,
      uid,
      gid,
      size,
      modifiedMs: Math.floor(mtimeMs),
      ...(stats.isSymbolicLink() ? { target: readlinkSync(own) } : {}),
    };
  });
}

function kindOf(thing: Stats | Dirent): FileInfo["kind"] {
  if (thing.isFile()) return "file";
  if (thing.isDirectory()) return "folder";
  return thing.isSymbolicLink() ? "link" : "other";
}

async function list({ path, root, mayReach }: Work): Promise<FolderEntry[] | null> {
  const folder = absentAsNull(() => {
    using place = findPlace(path, { follow: true, root, mayReach });
    return place.folder.enter(place.name);
  });
  if (folder === null) return null;
  using opened = folder;
  const entries = await readdir(opened.at("."), { withFileTypes: true });
  if (entries.length > FOLDER_ENTRIES_MAX) {
    throw new ZesterError("io_failed", `list ${JSON.stringify(path)}: too many entries`);
  }
  return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

// ---- reading -------------------------------------------------------------------------------------------------

async function read(
  work: Work,
  { bytesMax = HOST_READ_BYTES_MAX }: { bytesMax?: number } = {},
): Promise<Uint8Array | null> {
  requireWhole("bytesMax", bytesMax, HOST_READ_BYTES_MAX);
  const file = openRegular(work);
  if (file === null) return null;
  try {
    // Files in /proc say that they are empty, and others may grow meanwhile: what comes is what counts.
    const content = new CappedBytes(bytesMax, fstatSync(file).size + 1);
    for await (const piece of pieces(file, work.signal)) {
      content.add(piece);
      if (content.dropped > 0) throw tooLarge(work.path, bytesMax);
    }
    return content.bytes();
  } finally {
    await closed(file);
  }
}

function tooLarge(path: string, bytesMax: number): ZesterError {
  const found = `larger than ${bytesMax} bytes`;
  return new ZesterError("io_failed", `read ${JSON.stringify(path)}: ${found}`);
}

/** What a file may be hashed with: what checksum files of this world hold. */
const DIGESTS = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];

const DEFAULT_DIGEST = "sha256";

async function hash(work: Work, algorithm = DEFAULT_DIGEST): Promise<string | null> {
  const digest = newDigest(algorithm);
  const file = openRegular(work);
  if (file === null) return null;
  try {
    for await (const piece of pieces(file, work.signal)) digest.update(piece);
    return digest.digest("hex");
  } finally {
    await closed(file);
  }
}

async function digest(
  bytes: Uint8Array,
  signal: AbortSignal,
  algorithm = DEFAULT_DIGEST,
): Promise<string> {
  const digest = newDigest(algorithm);
  if (!(bytes instanceof Uint8Array)) throw new ZesterError("bad_params", "bytes are wanted");
  for (const piece of piecesOf(bytes)) {
    requireWanted(signal);
    digest.update(piece);
    await turnOfOthers();
  }
  return digest.digest("hex");
}

function newDigest(algorithm: string): Hash {
  if (DIGESTS.includes(algorithm)) return createHash(algorithm);
  throw new ZesterError("bad_params", `the digest must be one of ${DIGESTS.join(", ")}`);
}

/** Looked at before it is opened: opening a pipe waits for its other end, and opening a device may set it off. */
function openRegular({ path, root, mayReach }: Work): number | null {
  return absentAsNull(() => {
    using place = findPlace(path, { follow: true, root, mayReach });
    using held = place.folder.hold(place.name);
    requireRegular(path, held.stats);
    const file = held.open();
    try {
      const stats = fstatSync(file);
      requireRegular(path, stats); // Without handles it may be another one by now.
      requireOwnName(path, stats, place.folder);
      return file;
    } catch (thrown) {
      closeSync(file);
      throw thrown;
    }
  });
}

function requireRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  throw new ZesterError("io_failed", `${JSON.stringify(path)} is not a regular file`);
}

/**
 * Where anybody may give any file a second name, a file found in a folder of somebody else may be one of root's. Most
 * systems forbid that, and then files with several names are harmless.
 */
function requireOwnName(path: string, stats: Stats, folder: Folder): void {
  const isSuspect = stats.isFile() && isMaybeForeign(stats, folder.stats(), Deno.uid() ?? 0);
  if (!isSuspect || areNamesProtected()) return;
  throw new ZesterError(
    "unsafe_path",
    `${JSON.stringify(path)} has several names, and others than root can have given it this one`,
    { fix: "set fs.protected_hardlinks to 1" },
  );
}

/** Whether somebody else can have given the file this name. */
export function isMaybeForeign(file: Owned, folder: Owned, ownUid: number): boolean {
  return file.nlink > 1 && !isPrivateFolder(folder, ownUid);
}

function areNamesProtected(): boolean {
  // Elsewhere than on Linux nobody can link to a file that is not theirs, or nothing can be learned about it.
  return !HAS_HANDLES || readFileSync("/proc/sys/fs/protected_hardlinks", "utf8").trim() !== "0";
}

// ---- writing -------------------------------------------------------------------------------------------------

const NEW_FILE_MODE = 0o644;
const NEW_FOLDER_MODE = 0o755;
/** Of what is not complete yet. */
const PRIVATE_FILE_MODE = 0o600;
const PRIVATE_FOLDER_MODE = 0o700;
/** Run with the rights of the owner or the group. */
const RIGHTS_OF_OWNER = 0o6000;
const ID_MAX = 2 ** 32 - 2;
const STAGED_NAME_BYTES = 16;

/** Undefined: as it is. */
interface Wanted {
  readonly mode?: number | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly modifiedMs?: number | undefined;
}

async function replace(
  work: Work,
  content: Uint8Array | string,
  options?: ReplaceOptions,
): Promise<void> {
  if (typeof content !== "string" && !(content instanceof Uint8Array)) {
    throw new ZesterError("bad_params", "the content must be text or bytes");
  }
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  await replaceWith(work, piecesOf(bytes), options);
}

async function copy(from: Work, to: Work, options?: ReplaceOptions): Promise<void> {
  const file = openRegular(from);
  if (file === null) throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
  try {
    await replaceWith(to, pieces(file, from.signal), options);
  } finally {
    await closed(file);
  }
}

async function replaceWith(
  { path, root, signal, mayReach }: Work,
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options: ReplaceOptions = {},
): Promise<void> {
  requireAttributes(options);
  using place = findPlace(path, { follow: options.follow === true, root, mayReach });
  const old = replaceable(path, place);
  const staged = place.folder.at(stagedName());
  try {
    await stage(staged, async (file) => {
      await writeAll(file, content, signal);
      giveAttributes(file, attributesFor(old, options));
    });
    renameSync(staged, place.folder.at(place.name));
  } catch (thrown) {
    removeStaged(staged);
    throw thrown;
  }
  await syncFolder(place.folder);
}

/** What is there now; refuses what must not be replaced by a file. A link that comes later is replaced, not followed. */
function replaceable(path: string, place: Place): Stats | null {
  const old = absentAsNull(() => lstatSync(place.folder.at(place.name)));
  if (old === null || old.isFile()) return old;
  const shown = JSON.stringify(path);
  if (!old.isSymbolicLink()) {
    throw new ZesterError("io_failed", `${shown} is not a regular file`);
  }
  throw new ZesterError("unsafe_path", `${shown} is a link`, {
    fix: "remove the link, or ask to follow it",
  });
}

/** Unpredictable, so that nobody can be there first; in the folder of the target, so that a rename puts it in place at once. */
function stagedName(): string {
  return `.zester.${systemRandom.bytes(STAGED_NAME_BYTES).toHex()}`;
}

/** Readable by nobody else until `fill` has given it its attributes. On disk when it resolves. */
async function stage(path: string, fill: (file: number) => Promise<void>): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, PRIVATE_FILE_MODE);
  try {
    await fill(file);
    await synced(file);
  } finally {
    await closed(file);
  }
}

/** The first failure is the one worth reporting. */
function removeStaged(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not made, or its folder is gone with it.
  }
}

/**
 * What a file gets that takes the place of `old`. Without being told a mode, a file that changes hands does not keep the
 * right to run as its owner: what one user could do with it is not for the next.
 */
export function attributesFor(
  old: Required<Attributes> | null,
  { mode, uid, gid }: Attributes,
): Wanted & { mode: number } {
  if (old === null) return { uid, gid, mode: mode ?? NEW_FILE_MODE };
  const kept = old.mode & (isOther(old, { uid, gid }) ? MODE_BITS & ~RIGHTS_OF_OWNER : MODE_BITS);
  return { uid: uid ?? old.uid, gid: gid ?? old.gid, mode: mode ?? kept };
}

/** Owner first: a change of owner takes special bits away. */
function giveAttributes(file: number, { mode, uid, gid }: Wanted & { mode: number }): void {
  const now = fstatSync(file);
  if (isOther(now, { uid, gid })) fchownSync(file, uid ?? now.uid, gid ?? now.gid);
  fchmodSync(file, mode);
}

function isOther(now: { uid: number; gid: number }, { uid, gid }: Wanted): boolean {
  return (uid ?? now.uid) !== now.uid || (gid ?? now.gid) !== now.gid;
}

/** A new name survives a crash only once its folder is on disk too. */
async function syncFolder(folder: Folder): Promise<void> {
  const handle = openToSync(folder);
  if (handle === null) return;
  try {
    await synced(handle);
  } catch (thrown) {
    // Some filesystems have no such thing, and then nothing is lost by not having done it.
    if (errnoOf(thrown) !== "EINVAL") throw thrown;
  } finally {
    await closed(handle);
  }
}

/** Null for a folder into which we may write but not look. */
function openToSync(folder: Folder): number | null {
  try {
    return openSync(folder.at("."), constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (thrown) {
    if (errnoOf(thrown) === "EACCES") return null;
    throw thrown;
  }
}

// ---- folders, links and attributes ---------------------------------------------------------------------------

/** A folder that is already there stays as it is. */
function makeFolder(
  { path, root, mayReach }: Work,
  options: Attributes & { parents?: boolean } = {},
): void {
  requireAttributes(options);
  using place = findPlace(path, {
    follow: true,
    root,
    mayReach,
    makeMissing: options.parents === true ? makeParent : undefined,
  });
  makeFolderIn(place.folder, place.name, options);
  place.folder.enter(place.name)[Symbol.dispose]();
}

function makeParent(folder: Folder, name: string): void {
  makeFolderIn(folder, name, {});
}

/** Open to nobody else until it has its attributes. */
function makeFolderIn(folder: Folder, name: string, { mode, uid, gid }: Attributes): void {
  try {
    mkdirSync(folder.at(name), PRIVATE_FOLDER_MODE);
  } catch (thrown) {
    if (errnoOf(thrown) === "EEXIST") return;
    throw thrown;
  }
  using held = folder.hold(name);
  const { stats } = held;
  if (!stats.isDirectory() || stats.uid !== Deno.uid()) {
    throw new ZesterError("unsafe_path", `somebody took the new folder ${name} away`);
  }
  change(held.path, stats, { mode: mode ?? NEW_FOLDER_MODE, uid, gid });
}

/** Puts a link in place at once, over another link too, but over nothing else. */
function makeLink({ path, root, mayReach }: Work, target: string): void {
  requireText("the target of a link", target);
  using place = findPlace(path, { root, mayReach });
  const own = place.folder.at(place.name);
  const old = absentAsNull(() => lstatSync(own));
  if (old === null) return symlinkSync(target, own);
  if (!old.isSymbolicLink()) {
    throw new ZesterError("io_failed", `${JSON.stringify(path)} is there and is not a link`);
  }
  if (readlinkSync(own) === target) return;
  const staged = place.folder.at(stagedName());
  symlinkSync(target, staged);
  try {
    renameSync(staged, own);
  } catch (thrown) {
    removeStaged(staged);
    throw thrown;
  }
}

function setAttributes(
  { path, root, mayReach }: Work,
  attributes: Attributes & { modifiedMs?: number },
): void {
  requireAttributes(attributes);
  requireWhole("modifiedMs", attributes.modifiedMs, Number.MAX_SAFE_INTEGER);
  using place = findPlace(path, { root, mayReach });
  using held = place.folder.hold(place.name);
  if (held.stats.isSymbolicLink()) {
    throw new ZesterError("unsafe_path", `${JSON.stringify(path)} is a link`);
  }
  requireOwnName(path, held.stats, place.folder);
  change(held.path, held.stats, attributes);
}

/** The path leads to the thing that the stats are of. Owner first: a change of owner takes special bits away. */
function change(
  path: string,
  now: Stats,
  { mode, uid, gid, modifiedMs }: Wanted,
): void {
  if (isOther(now, { uid, gid })) chownSync(path, uid ?? now.uid, gid ?? now.gid);
  if (mode !== undefined) chmodSync(path, mode);
  if (modifiedMs !== undefined) utimesSync(path, now.atimeMs / 1_000, modifiedMs / 1_000);
}

function requireAttributes({ mode, uid, gid }: Attributes): void {
  requireWhole("mode", mode, MODE_BITS);
  requireWhole("uid", uid, ID_MAX);
  requireWhole("gid", gid, ID_MAX);
}

// ---- removing ------------------------------------------------------------------------------------------------

async function remove(
  { path, root, signal, mayReach }: Work,
  { tree }: { tree?: boolean } = {},
): Promise<void> {
  if (path === "/") throw new ZesterError("bad_params", "the root folder cannot be removed");
  const found = absentAsNull(() => findPlace(path, { root, mayReach }));
  if (found === null) return;
  using place = found;
  const { folder, name } = place;
  const old = absentAsNull(() => lstatSync(folder.at(name)));
  if (old === null) return;
  if (!old.isDirectory()) return unlinkSync(folder.at(name));
  if (tree !== true) return rmdirSync(folder.at(name));
  await removeTree(folder, name, { path, signal, mount: folder.mount, depth: 0 });
}

interface Removal {
  /** Of the folder that is removed, for messages. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Nothing of another mounted filesystem is removed. */
  readonly mount: string;
  readonly depth: number;
}

/** Removes a folder with all that is in it. Links in it are removed, never followed. */
async function removeTree(parent: Folder, name: string, removal: Removal): Promise<void> {
  const { path, mount, depth, signal } = removal;
  const refuse = (why: string) => new ZesterError("io_failed", `${JSON.stringify(path)} ${why}`);
  if (depth === FOLDER_DEPTH_MAX) throw refuse(`is deeper than ${FOLDER_DEPTH_MAX} folders`);
  {
    using folder = parent.enter(name);
    if (folder.mount !== mount) throw refuse("is a mount point or holds one");
    for (const entry of await readdir(folder.at("."), { withFileTypes: true })) {
      requireWanted(signal);
      const below = { ...removal, path: `${path}/${entry.name}`, depth: depth + 1 };
      if (entry.isDirectory()) await removeTree(folder, entry.name, below);
      else await unlinkIfThere(folder.at(entry.name));
    }
  }
  rmdirSync(parent.at(name));
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (thrown) {
    if (errnoOf(thrown) !== "ENOENT") throw thrown;
  }
}

// ---- absent things -------------------------------------------------------------------------------------------

function absentAsNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return null;
    throw thrown;
  }
}

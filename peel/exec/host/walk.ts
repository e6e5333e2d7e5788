/**
 * Finds the folder in which a path ends, trusting nobody on the way. A path is a name that others can change between a
 * look and an act; a handle is not. So every folder on the way is opened through the handle of the one before, links are
 * not followed by the system but by hand and only where nobody but root or the peel's own user can have put them, and
 * what is then done is done through the handle of the last folder.
 *
 * Linux names what is in an open folder `/proc/self/fd/<handle>/<name>`. Elsewhere (macOS) plain paths are used after
 * the same looks: there a process that swaps folders at the right instant can win.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from "node:fs";
import { ZesterError } from "../../../core/errors.ts";
import { LINKS_FOLLOWED_MAX } from "../../../core/limits.ts";
import { requirePath } from "./arguments.ts";
import { errnoOf } from "./system_error.ts";

/** An open folder: stays the same one wherever it is moved. */
export interface Folder extends Disposable {
  /** Path of something in it, good for as long as the folder is open; `.` for the folder itself. */
  at(name: string): string;
  stats(): Stats;
  /** Opens a folder in it. Throws `ENOTDIR` on what is none, and that is every link. */
  enter(name: string): Folder;
  /** Takes hold of whatever has this name, a link not followed, without reading it or waking a device. */
  hold(name: string): Held;
  /** Which mounted filesystem it belongs to. */
  readonly mount: string;
}

/** One file, folder, link or device, whoever renames it meanwhile. */
export interface Held extends Disposable {
  readonly stats: Stats;
  /** Acts on the thing itself, except on a link. */
  readonly path: string;
  /** Opens a regular file for reading; the caller closes it. */
  open(): number;
}

/** Where a path ends: a name in an open folder. */
export interface Place extends Disposable {
  readonly folder: Folder;
  readonly name: string;
}

export interface FindOptions {
  /** Follow links at the end of the path as well. */
  readonly follow?: boolean;
  /** Called for a folder on the way that is missing; it makes one. */
  readonly makeMissing?: ((folder: Folder, name: string) => void) | undefined;
  readonly root?: () => Folder;
  readonly mayReach?: MayReach | undefined;
}

/**
 * Whether somebody may be led to a place by links, to its end or only through it. For those who could have had a hand in a
 * link on the way: whatever root put there, it may be for them that it did.
 */
export type MayReach = (path: string, how: "to" | "through") => boolean;

// ---- handles -------------------------------------------------------------------------------------------------

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * A handle to the thing itself. Opening one neither reads nor wakes anything and needs no right to read. Linux only; the
 * number is the same on all machines that the runtime is made for, which does not name it.
 */
const O_PATH = 0o10_000_000;

/** Whether folders can be held by handles. */
export const HAS_HANDLES = existsSync("/proc/self/fd");

/** The root folder, from which every walk starts. */
export function openRoot(): Folder {
  return HAS_HANDLES ? folderByHandle("/") : folderByPath("");
}

function folderByHandle(path: string): Folder {
  const handle = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  const at = (name: string) => `/proc/self/fd/${handle}/${name}`;
  return {
    at,
    stats: () => fstatSync(handle),
    enter: (name) => folderByHandle(at(name)),
    hold: (name) => holdByHandle(at(name)),
    get mount() {
      // Tells bind mounts of one filesystem apart, which the number of the device does not.
      return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${handle}`, "utf8"))?.[1] ??
        String(fstatSync(handle).dev);
    },
    [Symbol.dispose]: () => closeSync(handle),
  };
}

function holdByHandle(path: string): Held {
  const handle = openSync(path, O_PATH | O_NOFOLLOW);
  const own = `/proc/self/fd/${handle}`;
  return {
    stats: fstatSync(handle),
    path: own,
    open: () => openSync(own, O_RDONLY | O_NONBLOCK),
    [Symbol.dispose]: () => closeSync(handle),
  };
}

/** For systems without handles to folders, and to test that way on those with. */
export function folderByPath(path: string): Folder {
  const at = (name: string) => `${path}/${name}`;
  return {
    at,
    stats: () => lstatSync(at(".")),
    enter(name) {
      if (lstatSync(at(name)).isDirectory()) return folderByPath(at(name));
      throw Object.assign(new Error("ENOTDIR: not a directory"), { code: "ENOTDIR" });
    },
    hold: (name) => ({
      stats: lstatSync(at(name)),
      path: at(name),
      open: () => openSync(at(name), O_RDONLY | O_NONBLOCK | O_NOFOLLOW),
      [Symbol.dispose]: () => {},
    }),
    get mount() {
      return String(lstatSync(at(".")).dev);
    },
    [Symbol.dispose]: () => {},
  };
}

// ---- links ---------------------------------------------------------------------------------------------------

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** What the rules ask about a file, a folder or a link. */
export type Owned = Pick<Stats, "uid" | "mode" | "nlink">;

/** Whether only root and the peel's own user can change what is in the folder. */
export function isPrivateFolder(folder: Owned, ownUid: number): boolean {
  return isOurs(folder, ownUid) && (folder.mode & WRITABLE_BY_OTHERS) === 0;
}

/**
 * Whether nobody but root and the peel's own user can have put this link into this folder. In a folder such as /tmp
 * others cannot rename or remove what is ours, but, if the system lets them, give a link of ours a second name.
 */
export function isTrustedLink(link: Owned, folder: Owned, ownUid: number): boolean {
  if (!isOurs(link, ownUid) || !isOurs(folder, ownUid)) return false;
  if (isPrivateFolder(folder, ownUid)) return true;
  return (folder.mode & STICKY) !== 0 && link.nlink === 1;
}

function isOurs({ uid }: Owned, ownUid: number): boolean {
  return uid === 0 || uid === ownUid;
}

// ---- the walk ------------------------------------------------------------------------------------------------

/** Walks to where the path ends. Throws the system's error when a folder on the way is missing. */
export function findPlace(path: string, options: FindOptions = {}): Place {
  requirePath(path);
  const walk = new Walk(path, options);
  try {
    return walk.go();
  } catch (thrown) {
    walk.close();
    throw thrown;
  }
}

class Walk {
  readonly #path: string;
  readonly #options: FindOptions;
  /** Open folders from the root down to where the walk is, so that `..` in a link goes up by what was walked. */
  readonly #folders: Folder[];
  readonly #names: string[] = [];
  /** What is still to be walked, the next one last. */
  readonly #ahead: string[];
  #links = 0;

  /** Refuses a step of somebody who was led here by a link and may not be here. */
  #requireReach(name: string): void {
    const { mayReach } = this.#options;
    if (mayReach === undefined || this.#links === 0 || name === "..") return;
    const place = `/${[...this.#names, name].join("/")}`;
    if (mayReach(place, this.#ahead.length > 0 ? "through" : "to")) return;
    throw this.#refusal(`a link leads to ${JSON.stringify(place)}, which was not granted`);
  }

  constructor(path: string, options: FindOptions) {
    this.#path = path;
    this.#options = options;
    this.#folders = [(options.root ?? openRoot)()];
    this.#ahead = partsOf(path).reverse();
  }

  go(): Place {
    for (let name = this.#ahead.pop(); name !== undefined; name = this.#ahead.pop()) {
      this.#requireReach(name);
      if (name === "..") this.#leave();
      else if (this.#ahead.length > 0) this.#enterOrFollow(name);
      else if (this.#options.follow && isLink(this.#here, name)) this.#follow(name);
      else return this.#arrive(name);
    }
    return this.#arrive(".");
  }

  close(): void {
    for (const folder of this.#folders.splice(0)) folder[Symbol.dispose]();
  }

  get #here(): Folder {
    return this.#folders.at(-1)!;
  }

  #arrive(name: string): Place {
    const folder = this.#folders.pop()!;
    this.close();
    return { folder, name, [Symbol.dispose]: () => folder[Symbol.dispose]() };
  }

  #leave(): void {
    if (this.#folders.length === 1) return;
    this.#folders.pop()![Symbol.dispose]();
    this.#names.pop();
  }

  #leaveAll(): void {
    while (this.#folders.length > 1) this.#leave();
  }

  #enterOrFollow(name: string): void {
    try {
      this.#enter(name);
    } catch (thrown) {
      if (errnoOf(thrown) !== "ENOTDIR" || !isLink(this.#here, name)) throw thrown;
      this.#follow(name);
    }
  }

  #enter(name: string): void {
    this.#folders.push(this.#entered(name));
    this.#names.push(name);
  }

  #entered(name: string): Folder {
    const { makeMissing } = this.#options;
    try {
      return this.#here.enter(name);
    } catch (thrown) {
      if (makeMissing === undefined || errnoOf(thrown) !== "ENOENT") throw thrown;
      makeMissing(this.#here, name);
      return this.#here.enter(name);
    }
  }

  #follow(name: string): void {
    this.#links += 1;
    if (this.#links > LINKS_FOLLOWED_MAX) throw this.#refusal("it goes through too many links");
    const target = this.#targetOf(name);
    if (target.startsWith("/")) this.#leaveAll();
    this.#ahead.push(...partsOf(target).reverse());
  }

  /** Looks before and after: what was judged must be what was read. */
  #targetOf(name: string): string {
    const path = this.#here.at(name);
    const link = lstatSync(path);
    if (!isTrustedLink(link, this.#here.stats(), Deno.uid() ?? 0)) {
      const shown = JSON.stringify(`/${[...this.#names, name].join("/")}`);
      throw this.#refusal(`others than root can have put the link ${shown} there`);
    }
    const target = readlinkSync(path);
    const after = lstatSync(path);
    if (after.ino === link.ino && after.ctimeMs === link.ctimeMs) return target;
    throw this.#refusal("it changed while it was looked at");
  }

  #refusal(why: string): ZesterError {
    return new ZesterError("unsafe_path", `${JSON.stringify(this.#path)} is not safe: ${why}`, {
      fix: "name the path that the link leads to",
    });
  }
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function isLink(folder: Folder, name: string): boolean {
  try {
    return lstatSync(folder.at(name)).isSymbolicLink();
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return false;
    throw thrown;
  }
}

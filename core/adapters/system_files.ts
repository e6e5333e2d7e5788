/** The files port over the machine's disk: what is on it after a crash is the old content or the new, never a mix. */
import { isZesterError, ZesterError } from "../errors.ts";
import type { Files } from "../ports.ts";
import { systemRandom } from "./system_random.ts";

const PRIVATE_MODE = 0o600;
const STAGE_NAME_BYTES = 12;

/** The real disk: what every program but a simulation runs on. */
export const systemFiles: Files = {
  read: (path, maxBytes) => named("read", path, () => read(path, maxBytes)),
  replace: (path, content, mode) => named("replace", path, () => replace(path, content, mode)),
  appendDurably: (path, content, mode) =>
    named("append to", path, () => append(path, content, mode)),
  makeFolder: (path, mode) => named("make folder", path, () => makeFolder(path, mode)),
  remove: (path) => named("remove", path, () => removeIfThere(path)),
};

/** Names in a folder, sorted; none when there is no such folder. */
export function listFolder(path: string): Promise<string[]> {
  return named("list", path, async () => {
    const names: string[] = [];
    try {
      for await (const { name } of Deno.readDir(path)) names.push(name);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    return names.sort();
  });
}

async function read(path: string, maxBytes: number): Promise<Uint8Array | null> {
  // Looked at before it is opened, because opening a pipe would wait for its other end.
  const before = await absentAsNull(Deno.stat(path));
  if (before === null) return null;
  requireRegular(path, before);
  const file = await absentAsNull(Deno.open(path, { read: true }));
  if (file === null) return null;
  try {
    requireRegular(path, await file.stat());
    return await readCapped(file, path, maxBytes);
  } finally {
    file.close();
  }
}

function requireRegular(path: string, info: Deno.FileInfo): void {
  if (!info.isFile) throw new ZesterError("io_failed", `read "${path}": not a regular file`);
}

/** Counts what really comes, since the size of a file may change while it is read. */
async function readCapped(file: Deno.FsFile, path: string, maxBytes: number): Promise<Uint8Array> {
  const size = (await file.stat()).size;
  let buffer = new Uint8Array(Math.min(size, maxBytes) + 1);
  let length = 0;
  while (true) {
    const count = await file.read(buffer.subarray(length));
    if (count === null) return buffer.slice(0, length);
    length += count;
    if (length > maxBytes) {
      throw new ZesterError("io_failed", `read "${path}": larger than ${maxBytes} bytes`);
    }
    if (length === buffer.length) buffer = grown(buffer, maxBytes);
  }
}

function grown(buffer: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(buffer.length * 2, maxBytes + 1));
  larger.set(buffer);
  return larger;
}

async function replace(path: string, content: Uint8Array, mode: number): Promise<void> {
  const staged = stagedName(path);
  try {
    await writeStaged(staged, content, mode);
    await Deno.rename(staged, path);
  } catch (error) {
    await Deno.remove(staged).catch(() => {}); // The first failure is the one worth reporting.
    throw error;
  }
  await syncFolder(splitPath(path)[0]);
}

// By hand, because loading `node:path` would cost the CLI a third of its start.
function splitPath(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf("/");
  return at < 0 ? [".", path] : [path.slice(0, at) || "/", path.slice(at + 1)];
}

/** Unpredictable, so that nobody can put a link there first; beside the target, so that rename is atomic. */
function stagedName(path: string): string {
  const nonce = systemRandom.bytes(STAGE_NAME_BYTES).toHex();
  const [folder, name] = splitPath(path);
  return `${folder}/.${name}.${nonce}`;
}

/** Private until complete, then exactly `mode`, whatever the umask says. */
async function writeStaged(path: string, content: Uint8Array, mode: number): Promise<void> {
  const file = await Deno.open(path, { write: true, createNew: true, mode: PRIVATE_MODE });
  try {
    await writeAll(file, content);
    await Deno.chmod(path, mode);
    await file.sync();
  } finally {
    file.close();
  }
}

async function append(path: string, content: Uint8Array, mode: number): Promise<void> {
  const existing = await absentAsNull(Deno.open(path, { append: true }));
  const file = existing ?? await Deno.open(path, { append: true, create: true, mode });
  try {
    await writeAll(file, content);
    await file.sync();
  } finally {
    file.close();
  }
  if (existing === null) await syncFolder(splitPath(path)[0]);
}

async function writeAll(file: Deno.FsFile, content: Uint8Array): Promise<void> {
  for (let done = 0; done < content.length;) done += await file.write(content.subarray(done));
}

/** A new name survives a crash only once its folder is on disk too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await Deno.open(path, { read: true });
  try {
    await folder.sync();
  } finally {
    folder.close();
  }
}

/** A folder that is already there keeps its mode: its owner chose it. */
async function makeFolder(path: string, mode: number): Promise<void> {
  const found = await absentAsNull(Deno.stat(path));
  if (found?.isDirectory) return;
  if (found !== null) throw new ZesterError("io_failed", `make folder "${path}": a file is there`);
  await Deno.mkdir(path, { recursive: true, mode });
  await Deno.chmod(path, mode);
}

async function removeIfThere(path: string): Promise<void> {
  await absentAsNull(Deno.remove(path));
}

async function absentAsNull<T>(pending: Promise<T>): Promise<T | null> {
  try {
    return await pending;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function named<T>(doing: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isZesterError(error)) throw error;
    const found = error instanceof Error ? error.message : String(error);
    throw new ZesterError("io_failed", `${doing} "${path}": ${found}`, { cause: error });
  }
}

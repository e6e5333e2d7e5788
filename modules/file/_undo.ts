/** What is kept of a path before it is changed, and how it is put back. */
import { type Change, FILE_MEMO_BYTES_MAX, type FileInfo, type Host } from "../../core/module.ts";
import type { Content, LookOptions } from "./_state.ts";

/** What was at a path before. Plain data. */
export type Memo =
  /** Nothing; `made` was put there. */
  | { readonly was: "absent"; readonly made: FileInfo["kind"] }
  | ({ readonly was: "file"; readonly bytes: Uint8Array } & Owned)
  | { readonly was: "link"; readonly target: string }
  /** The same thing with other attributes. */
  | ({ readonly was: "attributes"; readonly modifiedMs?: number } & Owned)
  /** Something that was not kept. */
  | { readonly was: "lost"; readonly why: string };

type Owned = Pick<FileInfo, "mode" | "uid" | "gid">;

/** What is needed to put back a file whose content was read. */
export function memoOf(before: Content | null): Memo {
  if (before === null) return { was: "absent", made: "file" };
  const { bytes, info } = before;
  if (bytes.length > FILE_MEMO_BYTES_MAX) return tooLarge(bytes.length);
  return { was: "file", bytes, ...ownedOf(info) };
}

/** What is needed to put back what is at a path; `info` is what is there. */
export async function memoAt(
  host: Host,
  path: string,
  info: FileInfo,
  { bytesMax = FILE_MEMO_BYTES_MAX }: { bytesMax?: number } = {},
): Promise<Memo> {
  switch (info.kind) {
    case "link":
      return { was: "link", target: info.target ?? "" };
    case "folder":
      return { was: "lost", why: "a folder is not kept" };
    case "other":
      return { was: "lost", why: "it was no regular file" };
    case "file": {
      if (info.size > bytesMax) return tooLarge(info.size);
      const bytes = await host.readFile(path);
      if (bytes === null) throw new Error(`${path} went away while it was looked at`);
      return { was: "file", bytes, ...ownedOf(info) };
    }
  }
}

function tooLarge(size: number): Memo {
  return { was: "lost", why: `it had ${size} bytes, which is too much to have kept` };
}

/** What is needed to put attributes back. */
export function attributeMemo(info: FileInfo): Memo & { was: "attributes" } {
  return { was: "attributes", ...ownedOf(info) };
}

function ownedOf({ mode, uid, gid }: FileInfo): Owned {
  return { mode, uid, gid };
}

/** Puts a path back as the memo has it. Null when it is as it was. */
export async function putBack(
  host: Host,
  path: string,
  memo: Memo,
  { follow = false }: LookOptions = {},
): Promise<Change | null> {
  switch (memo.was) {
    case "lost":
      throw new Error(`${path} cannot be put back: ${memo.why}`);
    case "absent":
      return await takeAway(host, path, memo.made);
    case "attributes":
      await host.setAttributes(path, {
        ...attributesOf(memo),
        ...(memo.modifiedMs === undefined ? {} : { modifiedMs: memo.modifiedMs }),
      });
      return { diff: `reverted ${path} to previous attributes` };
    case "file":
      if (!follow) await clear(host, path, "file");
      await host.replaceFile(path, memo.bytes, { ...attributesOf(memo), follow });
      return { diff: `reverted ${path} to previous content` };
    case "link":
      await clear(host, path, "link");
      await host.makeLink(path, memo.target);
      return { diff: `reverted ${path} to a link to ${memo.target}` };
  }
}

function attributesOf({ mode, uid, gid }: Owned): Owned {
  return { mode, uid, gid };
}

async function takeAway(
  host: Host,
  path: string,
  made: FileInfo["kind"],
): Promise<Change | null> {
  const now = await host.stat(path);
  if (now === null) return null;
  if (now.kind !== made) throw new Error(`${path} is no longer the ${made} that was made`);
  if (now.kind === "folder" && (await host.listFolder(path) ?? []).length > 0) {
    throw new Error(`${path} is not empty: what is in it came later, and stays`);
  }
  await host.remove(path);
  return { diff: `removed ${path} (revert create)` };
}

/** Takes away what is in the way of a file or a link; a folder with something in it stays and is an error. */
async function clear(host: Host, path: string, wanted: FileInfo["kind"]): Promise<void> {
  const now = await host.stat(path);
  if (now !== null && now.kind !== wanted) await host.remove(path);
}

/** What a file should hold: bytes at hand, or a file of the host that is copied without passing through. */
import {
  FILE_MEMO_BYTES_MAX,
  type FileInfo,
  type Host,
  type ReplaceOptions,
  textDiff,
  textOf,
} from "../../core/module.ts";

export type Wanted =
  | { readonly from: "bytes"; readonly bytes: Uint8Array }
  | { readonly from: "file"; readonly path: string; readonly size: number };

/** How many bytes that is. */
export function sizeOf(want: Wanted): number {
  return want.from === "bytes" ? want.bytes.length : want.size;
}

/** Whether the regular file at the path, of which `info` is known, holds this. */
export async function holds(
  host: Host,
  path: string,
  info: FileInfo,
  want: Wanted,
): Promise<boolean> {
  if (info.size !== sizeOf(want)) return false;
  if (want.from === "bytes" && info.size <= FILE_MEMO_BYTES_MAX) {
    return areSame(await host.readFile(path), want.bytes);
  }
  const wanted = want.from === "bytes"
    ? await host.digest(want.bytes)
    : await host.hashFile(want.path);
  return wanted !== null && await host.hashFile(path) === wanted;
}

function areSame(one: Uint8Array | null, other: Uint8Array): boolean {
  return one !== null && one.length === other.length &&
    one.every((byte, index) => byte === other[index]);
}

/** Puts it there. */
export async function write(
  host: Host,
  path: string,
  want: Wanted,
  options: ReplaceOptions,
): Promise<void> {
  if (want.from === "bytes") await host.replaceFile(path, want.bytes, options);
  else await host.copyFile(want.path, path, options);
}

/** How the content of a file changes, for people. `info` is null when there is no file. */
export async function contentDiff(
  host: Host,
  path: string,
  info: FileInfo | null,
  want: Wanted,
): Promise<string> {
  if (Math.max(info?.size ?? 0, sizeOf(want)) > FILE_MEMO_BYTES_MAX) {
    return `(${info?.size ?? 0} bytes become ${sizeOf(want)})`;
  }
  const before = info === null ? null : await host.readFile(path);
  const after = want.from === "bytes" ? want.bytes : await host.readFile(want.path);
  const from = before === null ? null : textOf(before);
  const to = textOf(after ?? new Uint8Array());
  if (to === null || (before !== null && from === null)) return "(binary content)";
  return await textDiff(path, from, to);
}

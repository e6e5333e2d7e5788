/** Everything in a folder as one comparable value: kinds, modes, owners, links and contents. */
import { createHash } from "node:crypto";
import { join } from "node:path";

/** One line per entry, sorted by path. Times are left out. */
export async function snapshot(folder: string, prefix = ""): Promise<string[]> {
  const lines: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const path = join(folder, name);
    const info = await Deno.lstat(path);
    const mode = ((info.mode ?? 0) & 0o7777).toString(8);
    const what = info.isSymlink
      ? `-> ${await Deno.readLink(path)}`
      : info.isFile
      ? createHash("sha256").update(await Deno.readFile(path)).digest("hex").slice(0, 16)
      : info.isDirectory
      ? "folder"
      : "other";
    lines.push(`${prefix}${name} ${mode} ${info.uid}:${info.gid} ${what}`);
    if (info.isDirectory) lines.push(...await snapshot(path, `${prefix}${name}/`));
  }
  return lines.sort();
}

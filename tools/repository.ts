/** Where this checkout is and which source files it has: all that tools and tidy rules know about the tree. */
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the root `deno.json`. */
export const ROOT: string = dirname(dirname(fileURLToPath(import.meta.url)));

/** Folders that hold no source of ours. */
const IGNORED = new Set([".git", ".zester", "dist", "node_modules"]);

/** Every TypeScript file below `folder`, as sorted paths relative to it. */
export async function sourceFiles(folder: string = ROOT): Promise<string[]> {
  const found: string[] = [];
  await collect(folder, found);
  return found.map((path) => relative(folder, path)).sort();
}

async function collect(folder: string, found: string[]): Promise<void> {
  for await (const entry of Deno.readDir(folder)) {
    if (IGNORED.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory) await collect(path, found);
    else if (entry.isFile && /\.tsx?$/.test(entry.name)) found.push(path);
  }
}

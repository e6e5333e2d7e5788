/** Files of the state tree, for `zester://` sources. Never outside of the tree, never through a link. */
import { ZesterError } from "../../../core/errors.ts";
import { isPlainPath } from "../../../core/module/grant.ts";
import type { ModuleTree } from "../catalog.ts";
import { listFolder, readFile, stat } from "./files.ts";

/** Content of one file of the tree; null when there is none. */
export async function treeFile(statesDir: string | null, path: string): Promise<Uint8Array | null> {
  return await readFile(await inTree(statesDir, path));
}

/** Paths of all regular files below a folder of the tree, relative to that folder, sorted. */
export async function treeList(statesDir: string | null, path: string): Promise<string[]> {
  return await filesBelow(await inTree(statesDir, path), "");
}

/** The part of the tree that holds custom modules. */
export function moduleTree(statesDir: string | null): ModuleTree {
  return {
    read: (path) => statesDir === null ? Promise.resolve(null) : treeFile(statesDir, path),
    list: (folder) => statesDir === null ? Promise.resolve([]) : treeList(statesDir, folder),
  };
}

async function inTree(statesDir: string | null, path: string): Promise<string> {
  if (statesDir === null) {
    throw new ZesterError("not_found", `zester://${path}: this peel has no state tree`);
  }
  const wanted = `${statesDir}/${path}`;
  if (!isPlainPath(wanted)) {
    throw new ZesterError("usage", `zester://${path}: not a plain path inside the state tree`);
  }
  await refuseLinks(statesDir, path);
  return wanted;
}

/** A tree holds files and folders; a link in it could lead anywhere. */
async function refuseLinks(statesDir: string, path: string): Promise<void> {
  let at = statesDir;
  for (const part of path.split("/")) {
    at = `${at}/${part}`;
    if ((await stat(at))?.kind === "link") {
      throw new ZesterError(
        "usage",
        `zester://${path}: ${part} is a link, which a state tree may not hold`,
      );
    }
  }
}

async function filesBelow(folder: string, prefix: string): Promise<string[]> {
  const paths: string[] = [];
  for (const { name, kind } of await listFolder(folder) ?? []) {
    if (kind === "file") paths.push(`${prefix}${name}`);
    if (kind === "folder") {
      paths.push(...await filesBelow(`${folder}/${name}`, `${prefix}${name}/`));
    }
  }
  return paths;
}

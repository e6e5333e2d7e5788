/** Walks through folders, bounded, never through a link. */
import { FILES_VISITED_MAX, type FolderEntry, type Host } from "../../core/module.ts";

export interface Visited {
  /** Path below the folder where the walk began. */
  readonly below: string;
  readonly kind: FolderEntry["kind"];
  /** 1 for what lies in that folder itself. */
  readonly depth: number;
}

/** All that lies below a folder, each folder before what is in it, sorted by name. A missing folder holds nothing. */
export async function* walk(
  host: Host,
  folder: string,
  { depthMax = Infinity }: { depthMax?: number } = {},
): AsyncGenerator<Visited> {
  let visited = 0;

  async function* into(path: string, prefix: string, depth: number): AsyncGenerator<Visited> {
    for (const { name, kind } of await host.listFolder(path) ?? []) {
      if (++visited > FILES_VISITED_MAX) {
        throw new Error(`${folder} holds more than ${FILES_VISITED_MAX} files and folders`);
      }
      const below = `${prefix}${name}`;
      yield { below, kind, depth };
      if (kind === "folder" && depth < depthMax) {
        yield* into(childOf(path, name), `${below}/`, depth + 1);
      }
    }
  }

  yield* into(folder, "", 1);
}

/** The path of something in a folder. */
export function childOf(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}

/** The path and all below it, as a grant spells them. */
export function wholeTree(folder: string): string[] {
  return [folder, folder === "/" ? "/**" : `${folder}/**`];
}

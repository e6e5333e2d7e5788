/** Finds modules by name: those that are shipped, and those that the state tree brings along below `_modules/`. */
import { ZesterError } from "../../core/errors.ts";
import type { Module } from "../../core/module.ts";
import { nearest } from "../../core/nearest.ts";
import { modules } from "../../modules/mod.ts";
import { customSource, modulePath, MODULES_FOLDER } from "./custom_source.ts";
import type { ModuleSource } from "./protocol.ts";

/** What a name stands for. A module of the tree is only text here: it is loaded in workers alone. */
export type Found =
  | { readonly from: "shipped"; readonly module: Module; readonly source: ModuleSource }
  | { readonly from: "tree"; readonly path: string; readonly source: ModuleSource };

/** The state tree as far as modules are looked for. */
export interface ModuleTree {
  /** Content of a file of the tree; null when there is none. */
  read(path: string): Promise<Uint8Array | null>;
  /** Paths of the files below a folder, relative to it; none when there is no such folder. */
  list(folder: string): Promise<string[]>;
}

/** A tree without modules. */
export const NO_TREE: ModuleTree = {
  read: () => Promise.resolve(null),
  list: () => Promise.resolve([]),
};

export interface Catalog {
  /** The module of that name; throws `unknown_function` with the nearest name, `bad_module` for a broken file. */
  find(name: string): Promise<Found>;
  /** Names of all functions, sorted. */
  names(): Promise<string[]>;
  /** Whether a function changes nothing. One that does not exist changes nothing either; one of the tree may change anything. */
  isReadOnly(name: string): Promise<boolean>;
}

const NAME = /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;

/** The modules of this peel. A shipped module cannot be replaced by one of the tree. */
export function openCatalog(tree: ModuleTree = NO_TREE): Catalog {
  async function fromTree(name: string): Promise<Found | null> {
    if (!NAME.test(name)) return null;
    const path = modulePath(name);
    const bytes = await tree.read(path);
    if (bytes === null) return null;
    const source = customSource(path, new TextDecoder().decode(bytes));
    return { from: "tree", path, source: { from: "tree", name, source } };
  }

  async function names(): Promise<string[]> {
    const custom = (await tree.list(MODULES_FOLDER))
      .map((path) => path.replace(/\.ts$/, "").replace("/", "."))
      .filter((name) => NAME.test(name) && !Object.hasOwn(modules, name));
    return [...Object.keys(modules), ...custom].sort();
  }

  return {
    async find(name) {
      const shipped = await findShipped(name);
      if (shipped !== null) return shipped;
      const custom = await fromTree(name);
      if (custom !== null) return custom;
      throw unknownFunction(name, await names());
    },
    names,
    async isReadOnly(name) {
      const shipped = await findShipped(name);
      if (shipped === null) return !(await names()).includes(name);
      return shipped.module.kind === "function" && shipped.module.isReadOnly;
    },
  };
}

async function findShipped(name: string): Promise<Found & { from: "shipped" } | null> {
  // Own names only: every object also answers to `constructor`.
  const load = Object.hasOwn(modules, name) ? modules[name] : undefined;
  if (load === undefined) return null;
  return { from: "shipped", module: (await load()).default, source: { from: "shipped", name } };
}

function unknownFunction(name: string, known: readonly string[]): ZesterError {
  const close = nearest(name, known);
  const hint = close === null ? "" : `: did you mean ${close}?`;
  return new ZesterError("unknown_function", `no function ${JSON.stringify(name)} here${hint}`, {
    fix: "zester doc lists the functions",
  });
}

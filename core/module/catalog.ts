/** What is known of the shipped modules without loading one: from the generated list, for the CLI and for masters. */
import catalog from "./catalog.json" with { type: "json" };
import type { ModuleDoc } from "./doc.ts";

/** Documentation of every shipped module, sorted by name. */
export const CATALOG: readonly ModuleDoc[] = catalog as readonly ModuleDoc[];

/** The module of that name; undefined when none is shipped. */
export function catalogEntry(name: string): ModuleDoc | undefined {
  return CATALOG.find((module) => module.name === name);
}

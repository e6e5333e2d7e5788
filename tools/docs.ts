/**
 * Writes the pages of `docs/` that are made from the code, or with `--check` fails if one of them is stale.
 *
 *     deno task docs [--check]
 */
import { join } from "node:path";
import { configurationPage } from "./docs/configuration_page.ts";
import { errorsPage } from "./docs/errors_page.ts";
import { metricsPage } from "./docs/metrics_page.ts";
import { modulePages } from "./docs/modules_page.ts";
import { protocolPage } from "./docs/protocol_page.ts";
import { ROOT } from "./repository.ts";

/** Generated pages by path, besides those of the modules. */
const FIXED: Readonly<Record<string, () => Promise<string>>> = {
  "docs/configuration.md": configurationPage,
  "docs/errors.md": errorsPage,
  "docs/metrics.md": metricsPage,
  "docs/protocol.md": protocolPage,
};

/** All generated pages by path. */
export async function generatedPages(): Promise<Readonly<Record<string, () => Promise<string>>>> {
  return { ...FIXED, ...await modulePages() };
}

/** Paths below `root` whose content is not `pages`. */
export async function stalePages(
  root: string,
  pages: Readonly<Record<string, string>>,
): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, wanted] of Object.entries(pages)) {
    if (await readIfThere(join(root, path)) !== wanted) stale.push(path);
  }
  return stale;
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function main(args: readonly string[]): Promise<number> {
  const isCheck = args[0] === "--check";
  if (args.length > (isCheck ? 1 : 0)) {
    console.error("usage: docs [--check]");
    return 2;
  }
  const made = await Promise.all(
    Object.entries(await generatedPages()).map(async ([path, make]) =>
      [path, await make()] as const
    ),
  );
  const pages = Object.fromEntries(made);
  const stale = await stalePages(ROOT, pages);
  if (isCheck) {
    for (const path of stale) console.error(`${path} is stale: run \`deno task docs\``);
    return stale.length === 0 ? 0 : 1;
  }
  for (const path of stale) {
    await Deno.writeTextFile(join(ROOT, path), pages[path]!);
    console.log(`wrote ${path}`);
  }
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));

/**
 * Turns a program into a folder of plain JavaScript that needs nothing but a Deno executable: own code and npm packages
 * bundled, split so that what is imported late is also loaded late, and every file that the code names by
 * `new URL("./x", import.meta.url)` (worker entries above all) beside it under a name that still resolves.
 */
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./run.ts";

/** Bundling downloads its bundler once; after that it takes a second. */
const BUNDLE_TIMEOUT_MS = 120_000;

export interface Bundle {
  /** Entry file, a key of `files`. */
  readonly main: string;
  /** Content by path relative to the bundle's folder. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Bundles the program at `main` (relative to `root`, whose `deno.json` applies). */
export async function bundleProgram(root: string, main: string): Promise<Bundle> {
  const references = await findReferences(root, join(root, main));
  const named = [...new Set(references.values())];
  const entries = [join(root, main), ...named.filter(isScript)];
  const outputs = await bundleEntries(root, entries);
  const assets = named.filter((path) => !isScript(path));
  const placed = new Map<string, string>([
    ...entries.map((path): [string, string] => [path, outputName(path, entries)]),
    ...assets.map((path): [string, string] => [path, join("assets", relative(root, path))]),
  ]);
  const files = new Map<string, Uint8Array>();
  for (const [name, text] of outputs) {
    const linked = lazyRequire(relink(text, (spelling) => {
      const target = placed.get(references.get(spelling) ?? "");
      return target === undefined ? undefined : relativeUrl(name, target);
    }));
    files.set(name, new TextEncoder().encode(linked));
  }
  for (const path of assets) files.set(placed.get(path)!, await Deno.readFile(path));
  return { main: placed.get(join(root, main))!, files };
}

/** Matches `new URL("./x", import.meta.url)` and `import.meta.resolve("./x")`. */
const REFERENCE =
  /new URL\(\s*(["'`])(\.{1,2}\/[^"'`$\n]+)\1,\s*import\.meta\.url,?\s*\)|import\.meta\.resolve\(\s*(["'`])(\.{1,2}\/[^"'`$\n]+)\3,?\s*\)/g;

/** Spellings of files named relative to a module, as they stand in `text`. */
export function referencesIn(text: string): string[] {
  return [...text.matchAll(REFERENCE)].map((match) => match[2] ?? match[4] ?? "");
}

/** Replaces each reference by what `target` says of its spelling; unknown ones stay as they are. */
export function relink(text: string, target: (spelling: string) => string | undefined): string {
  return text.replaceAll(REFERENCE, (whole, _quote, url, _otherQuote, resolved) => {
    const spelling: string = url ?? resolved;
    const found = target(spelling);
    return found === undefined ? whole : whole.replace(spelling, () => found);
  });
}

/**
 * The bundler loads `node:module` at the top of every program, which costs 10 ms of CPU even for `--help`. This makes
 * that load wait until a CommonJS package asks for a built-in.
 */
export function lazyRequire(text: string): string {
  const imported = /^import \{ createRequire as (\w+) \} from "node:module";\n/m.exec(text);
  if (imported === null) return text;
  const eager = `var __require = ${imported[1]}(import.meta.url);`;
  if (!text.includes(eager) || /\b__require\./.test(text)) return text;
  const lazy = "var __requireNow;\nvar __require = (id) => (__requireNow ??= " +
    'process.getBuiltinModule("node:module").createRequire(import.meta.url))(id);';
  return text.replace(imported[0], "").replace(eager, () => lazy);
}

/**
 * Files that the graph below `entry` names, by spelling. One spelling must mean one file in a program: bundling merges
 * modules, so afterwards only the spelling is left to tell them apart.
 */
async function findReferences(root: string, entry: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const waiting = [entry];
  const seen = new Set<string>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const path of await localModules(root, next)) {
      if (seen.has(path)) continue;
      seen.add(path);
      for (const spelling of referencesIn(await Deno.readTextFile(path))) {
        const target = resolve(dirname(path), spelling);
        if (!await isFile(target)) continue;
        const other = found.get(spelling);
        if (other !== undefined && other !== target) {
          throw new Error(
            `compile: "${spelling}" means ${other} and ${target}: rename one of the two files`,
          );
        }
        found.set(spelling, target);
        if (isScript(target)) waiting.push(target);
      }
    }
  }
  return found;
}

/** Files of ours in the module graph of `entry`. */
async function localModules(root: string, entry: string): Promise<string[]> {
  const { code, stdout, stderr } = await run(Deno.execPath(), ["info", "--json", entry], {
    cwd: root,
    timeoutMs: BUNDLE_TIMEOUT_MS,
  });
  if (code !== 0) throw new Error(`compile: deno info ${entry}: ${stderr.trim()}`);
  const graph: { modules: { specifier: string; error?: string }[] } = JSON.parse(stdout);
  const broken = graph.modules.find((module) => module.error !== undefined);
  if (broken !== undefined) throw new Error(`compile: ${broken.specifier}: ${broken.error}`);
  return graph.modules.map((module) => module.specifier)
    .filter((specifier) => specifier.startsWith("file:") && !specifier.includes("/node_modules/"))
    .map((specifier) => fileURLToPath(specifier));
}

async function bundleEntries(root: string, entries: string[]): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir({ prefix: "zester-bundle-" });
  try {
    const { code, stderr, timedOut } = await run(
      Deno.execPath(),
      ["bundle", "--platform", "deno", "--code-splitting", "--outdir", folder, ...entries],
      { cwd: root, timeoutMs: BUNDLE_TIMEOUT_MS },
    );
    if (code !== 0) {
      const why = timedOut ? `no end after ${BUNDLE_TIMEOUT_MS} ms` : stderr.trim();
      throw new Error(`compile: deno bundle ${entries.join(" ")}: ${why}`);
    }
    return await readTexts(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function readTexts(folder: string, below = ""): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const entry of Deno.readDir(join(folder, below))) {
    const name = join(below, entry.name);
    if (entry.isFile) found.set(name, await Deno.readTextFile(join(folder, name)));
    else for (const [path, text] of await readTexts(folder, name)) found.set(path, text);
  }
  return found;
}

/** The bundler keeps the folders below the deepest one that all entries share. */
function outputName(entry: string, entries: readonly string[]): string {
  let shared = dirname(entries[0]!);
  while (!entries.every((path) => path.startsWith(`${shared}/`))) shared = dirname(shared);
  return relative(shared, entry).replace(/\.tsx?$/, ".js");
}

function relativeUrl(from: string, to: string): string {
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

function isScript(path: string): boolean {
  return /\.[jt]sx?$/.test(path);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

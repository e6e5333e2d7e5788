/**
 * Makes the programs as single files in `dist/`: with `deno compile` where its base binary can be had, otherwise as
 * self-extracting files that hold this very Deno and the bundled program. Both kinds run with the flags of `deno.json`.
 *
 *     deno task compile [--only zester|zester-master|zester-peel] [--out FOLDER]
 */
import { parseArgs } from "node:util";
import { join } from "node:path";
import { type Bundle, bundleProgram } from "./compile/bundle.ts";
import { compileNatively } from "./compile/native.ts";
import { packProgram, packRuntime, type Part, selfExtracting } from "./compile/self_extracting.ts";
import { type Entrypoint, entrypointFlags, unstableFlags } from "./permissions.ts";
import { ROOT } from "./repository.ts";

/** The programs by file name. */
const PROGRAMS = {
  zester: "cli",
  "zester-master": "master",
  "zester-peel": "peel",
} as const satisfies Record<string, Entrypoint>;

type ProgramName = keyof typeof PROGRAMS;

/** A program to compile. Worker entries and modules need no mention: bundling finds what the code names. */
export interface CompileTarget {
  readonly name: string;
  /** Relative to the root. */
  readonly main: string;
  readonly flags: readonly string[];
}

export interface Compiled {
  readonly path: string;
  readonly bytes: number;
  readonly kind: "compiled" | "self-extracting";
}

interface Bundled {
  readonly target: CompileTarget;
  readonly bundle: Bundle;
}

/** Flags that keep a self-extracted program from looking at anything but its own files. */
const SEALED = ["--no-config", "--no-lock", "--no-remote", "--no-npm", "--cached-only"];

/** Bundles a target, whose `main` is relative to the root of the repository. */
export async function bundleTarget(target: CompileTarget): Promise<Bundled> {
  return { target, bundle: await bundleProgram(ROOT, target.main) };
}

/** Makes one self-extracting file in `folder`. */
export async function makeSelfExtracting(
  { target, bundle }: Bundled,
  options: { folder: string; runtime: Part },
): Promise<Compiled> {
  const content = selfExtracting({
    name: target.name,
    runtime: options.runtime,
    program: await packProgram(target.name, bundle),
    main: bundle.main,
    flags: [...SEALED, ...unstableFlags(), ...target.flags],
  });
  const path = join(options.folder, target.name);
  await replaceExecutable(path, content);
  return { path, bytes: content.length, kind: "self-extracting" };
}

/** Written beside and renamed: the old file may be running. */
async function replaceExecutable(path: string, content: Uint8Array): Promise<void> {
  const staged = `${path}.new`;
  await Deno.writeFile(staged, content, { mode: 0o755 });
  await Deno.rename(staged, path);
}

function targetOf(name: ProgramName): CompileTarget {
  return { name, ...entrypointFlags(PROGRAMS[name]) };
}

/** Makes all programs the same way: by `deno compile`, or, as soon as that fails once, self-extracting. */
async function compileAll(names: readonly ProgramName[], folder: string): Promise<Compiled[]> {
  const programs: Bundled[] = [];
  for (const name of names) programs.push(await bundleTarget(targetOf(name)));
  const made: Compiled[] = [];
  for (const { target, bundle } of programs) {
    const output = join(folder, target.name);
    const flags = [...unstableFlags(), ...target.flags];
    const failure = await compileNatively(bundle, { flags, output });
    if (failure !== null) {
      console.log(`Falling back to self-extracting files. ${failure}.`);
      console.log("(DENORT_BIN=<path of denort> makes deno compile work without a download.)");
      return await makeAllSelfExtracting(programs, folder);
    }
    made.push({ path: output, bytes: (await Deno.stat(output)).size, kind: "compiled" });
  }
  return made;
}

async function makeAllSelfExtracting(programs: Bundled[], folder: string): Promise<Compiled[]> {
  const runtime = await packRuntime(Deno.execPath());
  const made: Compiled[] = [];
  for (const program of programs) {
    made.push(await makeSelfExtracting(program, { folder, runtime }));
  }
  return made;
}

/** Which programs the `--only` options name; all without any. */
function chosen(only: readonly string[]): ProgramName[] {
  const all = Object.keys(PROGRAMS) as ProgramName[];
  const wrong = only.find((name) => !(all as string[]).includes(name));
  if (wrong !== undefined) throw new Error(`--only ${wrong}: there are ${all.join(", ")}`);
  return only.length === 0 ? all : all.filter((name) => only.includes(name));
}

async function main(args: string[]): Promise<number> {
  try {
    const { values } = parseArgs({
      args,
      options: { only: { type: "string", multiple: true }, out: { type: "string" } },
    });
    const folder = values.out ?? join(ROOT, "dist");
    const names = chosen(values.only ?? []);
    await Deno.mkdir(folder, { recursive: true });
    for (const { path, bytes, kind } of await compileAll(names, folder)) {
      console.log(`${path}  ${(bytes / 1e6).toFixed(1)} MB  ${kind}`);
    }
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));

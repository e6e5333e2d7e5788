/**
 * Packs a Deno executable and a bundled program into one file that any POSIX shell can start. The first run unpacks both
 * into the user's cache, each under the hash of its content; later runs go straight to `exec`.
 *
 * Invariants of the cache: a folder gets its final name by one rename, after its files were checked against the hashes in
 * the launcher, so a folder with that name is complete; and only folders owned by the user who runs it are used, because
 * whoever owns the cache decides what runs.
 */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Bundle } from "./bundle.ts";
import LAUNCHER from "./launcher.sh" with { type: "text" };

/** One folder of the cache, packed. */
export interface Part {
  /** Name of its folder in the cache: what it is, and the hash of what is in it. */
  readonly folder: string;
  /** `sha256sum -c` lines of its files. */
  readonly sums: string;
  /** Gzipped tar. */
  readonly archive: Uint8Array;
}

export interface Program {
  readonly name: string;
  readonly runtime: Part;
  readonly program: Part;
  /** Entry file inside the program part. */
  readonly main: string;
  /** Flags of `deno run`. */
  readonly flags: readonly string[];
}

/** The launcher is padded to this, so that offsets do not depend on its own length. */
const LAUNCHER_BYTES = 32_768;

/** Packs the Deno executable at `path`. Slow (it compresses some 90 MB): do it once for all programs. */
export async function packRuntime(path: string): Promise<Part> {
  return await pack("deno", new Map([["deno", await Deno.readFile(path)]]), 0o755);
}

/** Packs a bundled program. */
export async function packProgram(name: string, bundle: Bundle): Promise<Part> {
  return await pack(name, bundle.files, 0o644);
}

async function pack(
  name: string,
  files: ReadonlyMap<string, Uint8Array>,
  mode: number,
): Promise<Part> {
  const paths = [...files.keys()].sort();
  const sums = paths.map((path) => `${sha256(files.get(path)!)}  ${path}\n`).join("");
  const folder = `${name}-${sha256(new TextEncoder().encode(sums)).slice(0, 32)}`;
  const archive = await promisify(gzip)(tar(paths.map((path) => [path, files.get(path)!]), mode));
  return { folder, sums, archive };
}

/** The whole file: launcher, runtime, program. */
export function selfExtracting(program: Program): Uint8Array {
  const launcher = new TextEncoder().encode(launcherText(program));
  if (launcher.length > LAUNCHER_BYTES) {
    throw new Error(`compile: the launcher of ${program.name} has ${launcher.length} bytes`);
  }
  const { runtime, program: code } = program;
  const whole = new Uint8Array(LAUNCHER_BYTES + runtime.archive.length + code.archive.length);
  whole.fill("\n".charCodeAt(0), 0, LAUNCHER_BYTES);
  whole.set(launcher, 0);
  whole.set(runtime.archive, LAUNCHER_BYTES);
  whole.set(code.archive, LAUNCHER_BYTES + runtime.archive.length);
  return whole;
}

function launcherText(program: Program): string {
  const { runtime, program: code } = program;
  const values: Record<string, string> = {
    NAME: program.name,
    RUNTIME: runtime.folder,
    PROGRAM: code.folder,
    MAIN: program.main,
    RUNTIME_OFFSET: String(LAUNCHER_BYTES + 1),
    RUNTIME_BYTES: String(runtime.archive.length),
    RUNTIME_SUMS: runtime.sums.trimEnd(),
    PROGRAM_OFFSET: String(LAUNCHER_BYTES + runtime.archive.length + 1),
    PROGRAM_BYTES: String(code.archive.length),
    PROGRAM_SUMS: code.sums.trimEnd(),
    FLAGS: program.flags.map(quoted).join(" "),
  };
  return LAUNCHER.replaceAll(/@([A-Z_]+)@/g, (whole, key: string) => values[key] ?? whole);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

// ---- tar -----------------------------------------------------------------------------------------------------

const BLOCK_BYTES = 512;

/** A tar archive (ustar) with the folders that the paths need. Owner, group and time are zero: same files, same bytes. */
export function tar(files: readonly (readonly [string, Uint8Array])[], mode: number): Uint8Array {
  const folders = new Set(files.flatMap(([path]) => parents(path)));
  const blocks: Uint8Array[] = [...folders].sort().map((path) => header(`${path}/`, 0, 0o755, "5"));
  for (const [path, content] of files) {
    blocks.push(header(path, content.length, mode, "0"), content);
    blocks.push(new Uint8Array((BLOCK_BYTES - content.length % BLOCK_BYTES) % BLOCK_BYTES));
  }
  blocks.push(new Uint8Array(2 * BLOCK_BYTES));
  return concatenated(blocks);
}

function parents(path: string): string[] {
  const parent = dirname(path);
  return parent === "." ? [] : [...parents(parent), parent];
}

function header(path: string, bytes: number, mode: number, type: "0" | "5"): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  const put = (offset: number, text: string) => block.set(new TextEncoder().encode(text), offset);
  if (new TextEncoder().encode(path).length > 100) {
    throw new Error(`compile: path too long for the archive: ${path}`);
  }
  put(0, path);
  put(100, `${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`);
  put(124, `${octal(bytes, 11)}\0${octal(0, 11)}\0`);
  put(148, " ".repeat(8));
  put(156, type);
  put(257, "ustar\x0000");
  put(148, `${octal(block.reduce((sum, byte) => sum + byte, 0), 6)}\0 `);
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function concatenated(blocks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
  }
  return whole;
}

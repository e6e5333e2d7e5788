/**
 * Compiles with `deno compile`, which needs the base binary `denort`: from `DENORT_BIN`, Deno's cache or Deno's own site.
 * It is given the bundle, not the sources: Deno 2.9 overflows its stack on npm packages here (denoland/deno#36746), and a
 * bundle starts faster.
 */
import { dirname, join } from "node:path";
import type { Bundle } from "./bundle.ts";
import { run } from "./run.ts";

/** An attempt to reach Deno's site must not hold up the fallback. */
const ATTEMPT_MS = 20_000;

/** Null when the binary was made at `output`; otherwise why not, in one line. */
export async function compileNatively(
  bundle: Bundle,
  options: { flags: readonly string[]; output: string },
): Promise<string | null> {
  const folder = await Deno.makeTempDir({ prefix: "zester-compile-" });
  try {
    await writeFiles(folder, bundle);
    // The graph shows neither worker entries nor plain files.
    const includes = [...bundle.files.keys()].filter((path) => path !== bundle.main)
      .flatMap((path) => ["--include", path]);
    const args = ["compile", "--no-config", "--no-lock", "--no-check", ...options.flags];
    const { code, stderr, timedOut } = await run(
      Deno.execPath(),
      [...args, ...includes, "--output", options.output, bundle.main],
      { cwd: folder, timeoutMs: ATTEMPT_MS },
    );
    if (timedOut) return `deno compile: no end after ${ATTEMPT_MS / 1000} s`;
    return code === 0 ? null : `deno compile: ${lastCause(stderr)}`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function writeFiles(folder: string, bundle: Bundle): Promise<void> {
  for (const [path, content] of bundle.files) {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.writeFile(join(folder, path), content);
  }
}

/** What Deno's error text says first and what it says of the innermost cause. */
export function lastCause(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const end = lines.findIndex((line) => /^stack backtrace/i.test(line));
  const told = end === -1 ? lines : lines.slice(0, end);
  const error = told.find((line) => line.startsWith("error:"))?.replace(/^error:\s*/, "");
  const cause = told.findLast((line) => /^\d+: /.test(line))?.replace(/^\d+:\s*/, "");
  return [error ?? told.at(-1) ?? "no reason given", ...(cause === undefined ? [] : [cause])]
    .join(": ");
}

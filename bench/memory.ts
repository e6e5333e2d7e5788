/** Memory of a process: its proportional share of what it has mapped, from `/proc`. NaN on systems without it. */

const BYTES_PER_KIB = 1_024;

/** PSS in bytes. */
export function memoryOf(pid: number): number {
  return rollupOf(pid, /^Pss:\s+(\d+) kB/m);
}

/** RSS in bytes: what it would have if no other process ran the same program, as on a host with one peel. */
export function memoryAloneOf(pid: number): number {
  return rollupOf(pid, /^Rss:\s+(\d+) kB/m);
}

function rollupOf(pid: number, line: RegExp): number {
  try {
    const text = Deno.readTextFileSync(`/proc/${pid}/smaps_rollup`);
    return Number(line.exec(text)?.[1] ?? NaN) * BYTES_PER_KIB;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return NaN;
    throw error;
  }
}

/** In MiB, for people. */
export function renderBytes(bytes: number): string {
  return Number.isNaN(bytes) ? "–" : `${(bytes / BYTES_PER_KIB ** 2).toFixed(0)} MiB`;
}

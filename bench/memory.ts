/** Memory of a process: its proportional share of what it has mapped, from `/proc`. NaN on systems without it. */

const BYTES_PER_KIB = 1_024;

/** PSS in bytes. */
export function memoryOf(pid: number): number {
  try {
    const text = Deno.readTextFileSync(`/proc/${pid}/smaps_rollup`);
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? NaN) * BYTES_PER_KIB;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return NaN;
    throw error;
  }
}

/** In MiB, for people. */
export function renderBytes(bytes: number): string {
  return Number.isNaN(bytes) ? "–" : `${(bytes / BYTES_PER_KIB ** 2).toFixed(0)} MiB`;
}

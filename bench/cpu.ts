/** CPU time of processes, from `/proc`. NaN on systems without it. */

/** The kernel reports in ticks of this many a second, on every Linux that Deno runs on. */
const TICKS_PER_SECOND = 100;

/** User and system seconds that `pid` has used so far. */
export function cpuOf(pid: number | "self"): number {
  return ticks(pid, UTIME) / TICKS_PER_SECOND;
}

/**
 * User and system seconds of all children that this process has waited for. Exact over many children although ticks are
 * coarse: the kernel adds nanoseconds and rounds only when asked.
 */
export function cpuOfEndedChildren(): number {
  return ticks("self", CUTIME) / TICKS_PER_SECOND;
}

/** Positions after the program's name, which stands in parentheses and may hold blanks; system time follows user time. */
const UTIME = 11;
const CUTIME = 13;

function ticks(pid: number | "self", position: number): number {
  const text = readStat(pid);
  if (text === null) return NaN;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[position]) + Number(fields[position + 1]);
}

function readStat(pid: number | "self"): string | null {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/stat`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Nanoseconds stand in the first field. */
const NANOSECONDS = 1e9;

/** Seconds that the threads of `pid` have run so far, to the nanosecond: for programs that use less than ticks can tell. */
export function cpuOfThreads(pid: number): number {
  const threads = [...Deno.readDirSync(`/proc/${pid}/task`)];
  return threads.reduce((sum, { name }) => sum + ranOf(`/proc/${pid}/task/${name}/schedstat`), 0);
}

function ranOf(path: string): number {
  try {
    return Number(Deno.readTextFileSync(path).split(" ", 1)[0]) / NANOSECONDS;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0; // The thread has ended.
    throw error;
  }
}

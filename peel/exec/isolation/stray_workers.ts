/** Tells whether workers are left that were ended and run on: the runtime cannot stop code that never waits. */
import { readdirSync, readFileSync } from "node:fs";
import type { CheckResult } from "../../../core/health.ts";

/** A check of a peel. While functions run, their workers cannot be told from those that should be gone. */
export function strayWorkers(isIdle: () => boolean): CheckResult {
  const count = isIdle() ? workerThreads() : 0;
  if (count === 0) return { status: "ok" };
  const message = `${count} workers of functions that were ended still run: restart the peel`;
  return { status: "degraded", message };
}

/** Zero where it cannot be told. */
function workerThreads(): number {
  const folder = "/proc/self/task";
  try {
    return readdirSync(folder)
      .filter((thread) =>
        /^worker-\d+$/.test(readFileSync(`${folder}/${thread}/comm`, "utf8").trim())
      )
      .length;
  } catch {
    return 0; // A thread ended meanwhile, or this system has no such folder.
  }
}

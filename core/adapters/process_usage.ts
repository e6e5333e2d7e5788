/** What this process costs, for the metrics. */
import process from "node:process";
import type { ProcessUsage } from "../metrics.ts";

const MICROSECONDS_PER_SECOND = 1_000_000;

/** Memory and CPU time of this process. */
export function processUsage(): ProcessUsage {
  const { user, system } = process.cpuUsage();
  return {
    residentBytes: Deno.memoryUsage().rss,
    cpuSeconds: (user + system) / MICROSECONDS_PER_SECOND,
  };
}

/**
 * How long a job is without a master when its own is killed: two masters, a job that does not end by itself, kill -9. The limits
 * are those of the fleet: a heartbeat expires, then it has to be missed by two scans. Not part of `bench`: it takes a minute.
 *
 *     deno run --no-prompt --allow-all bench/reclaim.ts
 */
import type { Child } from "../tools/up/children.ts";
import { MASTER_HEARTBEAT_TTL_MS, ORPHAN_MISSES, ORPHAN_SCAN_MS } from "../core/limits.ts";
import { type EmulatedFleet, startEmulatedFleet } from "./emulated_fleet.ts";
import { renderSeconds } from "./summary.ts";

const LIMIT_MS = MASTER_HEARTBEAT_TTL_MS + ORPHAN_MISSES * ORPHAN_SCAN_MS;
/** Beyond the limit, for the scan itself and for a busy machine. */
const PATIENCE_MS = LIMIT_MS + 10_000;
const POLL_MS = 100;

/** Who logged that it goes by this id. */
async function processOf(masterId: string, masters: readonly Child[]): Promise<Child> {
  for (const child of masters) {
    if ((await Deno.readTextFile(child.log)).includes(masterId)) return child;
  }
  throw new Error(`no master is ${masterId}`);
}

async function untilReclaimed(fleet: EmulatedFleet, jid: string, owner: string): Promise<number> {
  const before = performance.now();
  for (;;) {
    const elapsedMs = performance.now() - before;
    if ((await fleet.read(jid)).owner !== owner) return elapsedMs;
    if (elapsedMs > PATIENCE_MS) throw new Error(`job ${jid} still belongs to ${owner}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

if (import.meta.main) {
  const fleet = await startEmulatedFleet({ peels: 20, silent: 1, masters: 2 });
  try {
    const { jid, master } = await fleet.start("*");
    (await processOf(master, fleet.masters)).kill("SIGKILL");
    const tookMs = await untilReclaimed(fleet, jid, master);
    const [took, limit] = [tookMs, LIMIT_MS].map((ms) => renderSeconds(ms / 1_000));
    console.log(`taken over ${took} after kill -9, at most ${limit} are allowed`);
  } finally {
    await fleet.stop();
  }
}

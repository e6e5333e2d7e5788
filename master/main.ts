/** Wires a master and stops it. All that happens is in the folders beside this file. */
import { type DaemonContext, runDaemon } from "../core/adapters/daemon.ts";
import { join, natsCheck, readTrust } from "../core/adapters/connect.ts";
import { readParsed } from "../core/adapters/secret_file.ts";
import { systemClock } from "../core/adapters/system_clock.ts";
import { systemRandom } from "../core/adapters/system_random.ts";
import { fleetKeysFrom } from "../core/crypto/fleet_keys.ts";
import { newMasterId, sanitizePeelId } from "../core/ids.ts";
import { GAUGE_POLL_MS } from "../core/limits.ts";
import { type FailPoints, NO_FAIL_POINTS } from "../core/ports.ts";
import { MASTER_CONFIG_PATH, MASTER_OPTIONS } from "./config.ts";
import { readGroups } from "./resolve/groups.ts";
import { type MasterServices, startServices } from "./services.ts";

/** Starts a master; tests give it fail points. */
export async function startMaster(
  { values, log, metrics, check }: DaemonContext<typeof MASTER_OPTIONS>,
  failPoints: FailPoints = NO_FAIL_POINTS,
): Promise<() => Promise<void>> {
  const clock = systemClock;
  const auth = values.auth_dir;
  const keys = await readParsed(`${auth}/account.seed`, "account seed", fleetKeysFrom);
  const trust = await readTrust(auth);
  const masterId = newMasterId(clock.now(), systemRandom);
  let services: MasterServices | undefined;
  const nats = await join(values, {
    role: "master",
    identity: nameOf(values),
    log,
    metrics,
    onChange: (connected) => connected && services?.connected(),
  });
  const { bus, store } = nats;
  const running = services = startServices({
    masterId,
    bus,
    store,
    clock,
    random: systemRandom,
    signer: keys.command,
    trust: () => trust,
    metrics,
    log,
    failPoints,
    groups: readGroups(values.target_groups),
  });
  check("nats", natsCheck(bus));
  check("peels", () => ({ status: running.peels.ready ? "ok" : "down" }));
  check("facts", () => ({ status: running.facts.ready ? "ok" : "down" }));
  check("heartbeat", () => {
    const message = running.jobs.alive.unfit();
    return message === null ? { status: "ok" } : { status: "down", message };
  });
  const gauges = clock.every(GAUGE_POLL_MS, () => {
    metrics.connectedPeels.set(running.presence.online());
    metrics.jobActive.set(running.jobs.watchers.held().length);
  });
  log.info("master started", { masterId, trustSerial: trust.serial });
  return async () => {
    gauges.cancel();
    await running.stop();
    await nats.close();
  };
}

function nameOf({ name }: { name: string | null }): string {
  return name ?? sanitizePeelId(Deno.hostname());
}

/** What `runDaemon` needs to run a master. */
export const MASTER_DAEMON = {
  component: "master",
  table: MASTER_OPTIONS,
  configPath: MASTER_CONFIG_PATH,
  id: nameOf,
} as const;

if (import.meta.main) {
  Deno.exit(await runDaemon({ ...MASTER_DAEMON, start: startMaster }, Deno.args));
}

/** Wires a master and stops it. All that happens is in the folders beside this file. */
import { type DaemonContext, runDaemon } from "../core/adapters/daemon.ts";
import { join, readTrust } from "../core/adapters/connect.ts";
import { readTextFile } from "../core/adapters/secret_file.ts";
import { systemClock } from "../core/adapters/system_clock.ts";
import { systemRandom } from "../core/adapters/system_random.ts";
import { fleetKeysFrom } from "../core/crypto/fleet_keys.ts";
import { newMasterId, sanitizePeelId } from "../core/ids.ts";
import { FIRST_GENERATION, keyringOf } from "../core/keyring.ts";
import { GAUGE_POLL_MS } from "../core/limits.ts";
import { voiceOf } from "../core/outgoing.ts";
import { builtInRoles } from "../core/roles.ts";
import { MASTER_CONFIG_PATH, MASTER_OPTIONS } from "./config.ts";
import { takeDispatches } from "./dispatch/service.ts";
import { followEnrollments, type PeelDirectory } from "./peels/directory.ts";
import { followHeartbeats } from "./peels/presence.ts";

async function startMaster(
  { values, log, metrics, check }: DaemonContext<typeof MASTER_OPTIONS>,
): Promise<() => Promise<void>> {
  const clock = systemClock;
  const auth = values.auth_dir;
  const keys = fleetKeysFrom(await readTextFile(`${auth}/account.seed`));
  const trust = await readTrust(auth);
  const masterId = newMasterId(clock.now(), systemRandom);
  let peels: PeelDirectory | undefined;
  const nats = await join(values, {
    role: "master",
    identity: nameOf(values),
    log,
    metrics,
    onChange: (connected) => connected && peels?.connected(),
  });
  const { bus, store } = nats;
  const voice = voiceOf({ signer: keys.command, generation: FIRST_GENERATION }, bus, clock);
  const directory = peels = followEnrollments(store, clock, log);
  const keyring = keyringOf(() => trust, directory.key);
  const presence = followHeartbeats({ bus, clock, keyring, metrics });
  const dispatcher = takeDispatches({
    masterId,
    bus,
    store,
    clock,
    voice,
    keyring,
    authorizer: builtInRoles,
    metrics,
    log,
    peelIds: directory.ids,
    peelKey: directory.key,
  });
  check("nats", () => ({ status: bus.connected ? "ok" : "down" }));
  check("peels", () => ({ status: directory.ready ? "ok" : "down" }));
  const gauges = clock.every(GAUGE_POLL_MS, () => {
    metrics.connectedPeels.set(presence.online());
    metrics.jobActive.set(dispatcher.active());
  });
  log.info("master started", { masterId, trustSerial: trust.serial });
  return async () => {
    gauges.cancel();
    await dispatcher.stop();
    presence.stop();
    directory.stop();
    await nats.close();
  };
}

function nameOf({ name }: { name: string | null }): string {
  return name ?? sanitizePeelId(Deno.hostname());
}

if (import.meta.main) {
  const spec = {
    component: "master",
    table: MASTER_OPTIONS,
    configPath: MASTER_CONFIG_PATH,
    id: nameOf,
    start: startMaster,
  } as const;
  Deno.exit(await runDaemon(spec, Deno.args));
}

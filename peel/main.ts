/** Wires a peel and stops it. All that happens is in the folders beside this file. */
import { join, natsCheck, readTrust } from "../core/adapters/connect.ts";
import { type DaemonContext, runDaemon } from "../core/adapters/daemon.ts";
import { readParsed } from "../core/adapters/secret_file.ts";
import { systemClock } from "../core/adapters/system_clock.ts";
import { systemFiles } from "../core/adapters/system_files.ts";
import { systemView } from "../core/adapters/system_facts.ts";
import { systemRandom } from "../core/adapters/system_random.ts";
import { nodeHash, signerFromSeed } from "../core/crypto/ed25519.ts";
import { decodeSeedNkey } from "../core/crypto/nkey.ts";
import { ZesterError } from "../core/errors.ts";
import { configuredPeelId, sanitizePeelId } from "../core/ids.ts";
import { keyringOf } from "../core/keyring.ts";
import { GAUGE_POLL_MS, JOB_TIMEOUT_MS } from "../core/limits.ts";
import { voiceOf } from "../core/outgoing.ts";
import { type FailPoints, NO_FAIL_POINTS } from "../core/ports.ts";
import { VERSION } from "../core/version.ts";
import { openJournal } from "./accept/journal.ts";
import { acceptCommands } from "./accept/service.ts";
import { PEEL_CONFIG_PATH, PEEL_OPTIONS } from "./config.ts";
import { execute } from "./exec/service.ts";
import { collectFacts } from "./facts/collect.ts";
import { publishFacts } from "./facts/publisher.ts";
import { startHeartbeat } from "./heartbeat.ts";

/** Starts a peel and gives the way to stop it. `failPoints`: where a test may end the process. */
export async function startPeel(
  { values, log, metrics, check }: DaemonContext<typeof PEEL_OPTIONS>,
  failPoints: FailPoints = NO_FAIL_POINTS,
): Promise<() => Promise<void>> {
  const clock = systemClock;
  const peelId = peelIdOf(values);
  const auth = values.auth_dir;
  const signer = await readParsed(
    `${auth}/${peelId}.seed`,
    "peel seed",
    (text) => signerFromSeed(decodeSeedNkey("user", text)),
  );
  const generation = await readParsed(`${auth}/generation`, "generation", parseGeneration);
  const trust = await readTrust(auth);
  const journal = await openJournal(`${values.data_dir}/journal`, systemFiles, clock);
  if (journal.completeSinceMs > 0) {
    log.error("the journal was lost or damaged: jobs issued before it was made anew are refused", {
      since: new Date(journal.completeSinceMs).toISOString(),
      why: journal.damage ?? "seen at an earlier start",
    });
  }
  const whenConnected: (() => void)[] = [];
  const nats = await join(values, {
    role: "peel",
    identity: peelId,
    log,
    metrics,
    onChange(connected) {
      metrics.peelConnected.set(connected ? 1 : 0);
      if (connected) whenConnected.forEach((each) => each());
    },
  });
  const { bus, store } = nats;
  const voice = voiceOf({ signer, generation }, bus, clock);
  const acceptor = acceptCommands({
    peelId,
    generation,
    bus,
    store,
    clock,
    voice,
    keyring: keyringOf(() => trust),
    journal,
    metrics,
    log,
    execute: (request, signal) =>
      execute(request, { clock, peelId, timeoutMs: JOB_TIMEOUT_MS }, signal),
    failPoints,
  });
  const heartbeat = startHeartbeat({ peelId, version: VERSION, bus, clock, voice });
  const facts = publishFacts({
    peelId,
    bus,
    clock,
    random: systemRandom,
    voice,
    keyring: keyringOf(() => trust),
    hash: nodeHash,
    log,
    collect: () => collectFacts({ peelId, version: VERSION, system: systemView }, log),
  });
  whenConnected.push(() => heartbeat.beat(), () => acceptor.wake(), () => facts.reconnected());
  check("journal", () => journal.health());
  check("nats", natsCheck(bus));
  const startedMs = clock.monotonic();
  const gauges = clock.every(GAUGE_POLL_MS, () => {
    metrics.peelUptimeSeconds.set((clock.monotonic() - startedMs) / 1_000);
  });
  log.info("peel started", { peelId, trustSerial: trust.serial });
  return async () => {
    gauges.cancel();
    heartbeat.timer.cancel();
    await facts.stop();
    await acceptor.stop();
    await nats.close();
  };
}

/** A peel that took garbage for its generation would start, and refuse everything. */
function parseGeneration(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new ZesterError("config_invalid", "not a whole number from 1 on");
}

function peelIdOf({ id }: { id: string | null }): string {
  return id === null ? sanitizePeelId(Deno.hostname()) : configuredPeelId(id);
}

if (import.meta.main) {
  const spec = {
    component: "peel",
    table: PEEL_OPTIONS,
    configPath: PEEL_CONFIG_PATH,
    id: peelIdOf,
    start: startPeel,
  } as const;
  Deno.exit(await runDaemon(spec, Deno.args));
}

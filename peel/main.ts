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
import { ingressGuard } from "../core/ingress_guard.ts";
import { keyringOf } from "../core/keyring.ts";
import { CONFIG_BYTES_MAX, FUNCTIONS_POLL_MS, GAUGE_POLL_MS } from "../core/limits.ts";
import { voiceOf } from "../core/outgoing.ts";
import { VERSION } from "../core/version.ts";
import { openJournal } from "./accept/journal.ts";
import { acceptCommands, type AcceptPorts } from "./accept/service.ts";
import { PEEL_CONFIG_PATH, PEEL_OPTIONS } from "./config.ts";
import { execute } from "./exec/service.ts";
import { openCatalog } from "./exec/catalog.ts";
import { sendEvent } from "./exec/events.ts";
import { type PeelServices, systemHost } from "./exec/host/system.ts";
import { moduleTree } from "./exec/host/tree.ts";
import { strayWorkers } from "./exec/isolation/stray_workers.ts";
import { DEFAULT_POLICY, type Policy, readPolicy } from "./exec/policy.ts";
import { answerQuestion } from "./exec/questions.ts";
import { modules } from "../modules/mod.ts";
import { abilityFacts } from "./facts/abilities.ts";
import { collectFacts, type FactValues } from "./facts/collect.ts";
import { customFacts } from "./facts/custom.ts";
import { publishFacts } from "./facts/publisher.ts";
import { startHeartbeat } from "./heartbeat.ts";

/** What a test puts in place of the real thing: where the process ends, and what it is that runs. */
export interface PeelStandIns
  extends Partial<Pick<AcceptPorts, "failPoints" | "execute" | "isReadOnly">> {
  /** Names of all functions, those of the state tree included. */
  readonly names?: () => Promise<string[]>;
}

/** Starts a peel and gives the way to stop it. */
export async function startPeel(
  { values, log, metrics, check }: DaemonContext<typeof PEEL_OPTIONS>,
  { names, ...standIns }: PeelStandIns = {},
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
  const custom = customFacts(values.facts_file, systemFiles);
  const policy = await policyOf(values.policy_file);
  const isolation = values.custom_isolation;
  const statesDir = values.states_dir;
  const catalog = openCatalog(moduleTree(statesDir));
  const abilities = () =>
    abilityFacts({
      names: names ?? catalog.names,
      isShipped: (name) => Object.hasOwn(modules, name),
      policy,
    });
  let known: FactValues | undefined;
  const collect = async () => {
    known = await collectFacts({
      peelId,
      version: VERSION,
      system: systemView,
      custom: custom.read,
      abilities,
    }, log);
    return known;
  };
  const factsNow = () => known ?? collect();
  const services: PeelServices = {
    sendEvent: (tag, data, depth) =>
      sendEvent({ tag, data, depth }, { peelId, store, voice, clock, random: systemRandom }),
    async setFact(key, value) {
      await custom.set(key, value);
      await collect();
      facts.reconnected();
    },
    catalog: (question) =>
      answerQuestion(question, { catalog, clock, policy, facts: factsNow, isolation }),
  };
  const acceptor = acceptCommands({
    peelId,
    generation,
    bus,
    store,
    clock,
    voice,
    keyring: keyringOf(() => trust, undefined, ingressGuard(clock)),
    journal,
    metrics,
    log,
    execute: (request, signal, timeoutMs) =>
      execute(request, {
        clock,
        peelId,
        timeoutMs,
        policy,
        catalog,
        facts: factsNow,
        isolation,
        hostOf: systemHost({ ...services, clock, statesDir, defaultTimeoutMs: timeoutMs }),
      }, signal),
    isReadOnly: catalog.isReadOnly,
    ...standIns,
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
    metrics,
    log,
    collect,
  });
  whenConnected.push(() => heartbeat.beat(), () => acceptor.wake(), () => facts.reconnected());
  check("journal", () => journal.health());
  check("nats", natsCheck(bus));
  check("workers", () => strayWorkers(() => acceptor.running().jobs.length === 0));
  const startedMs = clock.monotonic();
  const gauges = clock.every(GAUGE_POLL_MS, () => {
    metrics.peelUptimeSeconds.set((clock.monotonic() - startedMs) / 1_000);
  });
  // What was just added to the tree must be known before the next regular look: masters refuse what no peel has.
  const treeWatch = clock.every(FUNCTIONS_POLL_MS, async () => {
    const { custom_functions: now } = await abilities().catch(() => ({ custom_functions: null }));
    if (now !== null && String(now) !== String(known?.["custom_functions"])) facts.reconnected();
  });
  log.info("peel started", { peelId, trustSerial: trust.serial });
  return async () => {
    gauges.cancel();
    treeWatch.cancel();
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

async function policyOf(path: string): Promise<Policy> {
  const bytes = await systemFiles.read(path, CONFIG_BYTES_MAX);
  return bytes === null ? DEFAULT_POLICY : await readPolicy(path, new TextDecoder().decode(bytes));
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

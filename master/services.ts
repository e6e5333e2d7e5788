/** All services of a master over given ports: the same in production, in tests and in the simulation. */
import { ingressGuard } from "../core/ingress_guard.ts";
import { FIRST_GENERATION, keyringOf } from "../core/keyring.ts";
import type { Log } from "../core/log.ts";
import type { Metrics } from "../core/metrics.ts";
import { voiceOf } from "../core/outgoing.ts";
import type { Bus, Clock, FailPoints, Random, Signer, Store } from "../core/ports.ts";
import { builtInRoles } from "../core/roles.ts";
import type { TargetGroups } from "../core/target/parse.ts";
import type { Trust } from "../core/trust.ts";
import { type FactsDirectory, followFacts } from "./facts/directory.ts";
import { takeFacts } from "./facts/ingest.ts";
import { type Jobs, startJobs } from "./jobs/service.ts";
import { jobStore } from "./jobs/store.ts";
import { followEnrollments, type PeelDirectory } from "./peels/directory.ts";
import { followHeartbeats, type Presence } from "./peels/presence.ts";
import { type QueryService, takeQueries } from "./query/service.ts";
import { resolveTarget } from "./resolve/resolve.ts";
import { takeResolves } from "./resolve/service.ts";

export interface MasterPorts {
  readonly masterId: string;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** The fleet's command key. */
  readonly signer: Signer;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failPoints: FailPoints;
  /** Named targets; none when absent. */
  readonly groups?: TargetGroups;
  trust(): Trust;
}

export interface MasterServices {
  readonly peels: PeelDirectory;
  readonly facts: FactsDirectory;
  readonly presence: Presence;
  readonly jobs: Jobs;
  readonly queries: QueryService;
  /** Tells all of them that there is a connection (again). */
  connected(): void;
  stop(): Promise<void>;
}

/** Starts everything. */
export function startServices(ports: MasterPorts): MasterServices {
  const { bus, store, clock, log, metrics } = ports;
  const voice = voiceOf({ signer: ports.signer, generation: FIRST_GENERATION }, bus, clock);
  const peels = followEnrollments(store, clock, log);
  const facts = followFacts(ports);
  const keyring = keyringOf(ports.trust, peels.key, ingressGuard(clock));
  const presence = followHeartbeats({ bus, clock, keyring, metrics });
  const known = { directory: peels, facts, groups: ports.groups ?? new Map(), clock, metrics };
  const enrolled = () => peels.ids().length;
  const isUnheard = (peel: string) => presence.seen(peel).presence === "unknown";
  const queries = takeQueries({
    ...ports,
    enrolled,
    isUnheard,
    jobs: jobStore(store, clock, ports.random),
    voice,
    keyring,
    authorizer: builtInRoles,
    peelIds: peels.ids,
    seen: presence.seen,
    facts: (peel) => facts.index.facts(peel),
  });
  const jobs = startJobs({
    ...ports,
    voice,
    keyring,
    authorizer: builtInRoles,
    peelKey: peels.key,
    knowsPeels: () => peels.ready,
    enrolled,
    isUnheard,
    // A master that has just started cannot tell who is offline.
    isOnline: (peel) => presence.seen(peel).presence !== "offline",
    resolve: (target) => resolveTarget(target, known),
    facts: (peel) => facts.index.facts(peel),
    followElsewhere: queries.follow,
  });
  const signed = { ...ports, voice, keyring };
  const factsTaker = takeFacts({ ...signed, facts, knowsPeels: () => peels.ready });
  const resolver = takeResolves({ ...signed, ...known, authorizer: builtInRoles });
  return {
    peels,
    facts,
    presence,
    jobs,
    queries,
    connected() {
      peels.connected();
      facts.connected();
      jobs.connected();
    },
    async stop() {
      resolver.stop();
      await factsTaker.stop();
      await queries.stop();
      await jobs.stop();
      presence.stop();
      facts.stop();
      peels.stop();
    },
  };
}

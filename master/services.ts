/** All services of a master over given ports: the same in production, in tests and in the simulation. */
import { FIRST_GENERATION, keyringOf } from "../core/keyring.ts";
import type { Log } from "../core/log.ts";
import type { Metrics } from "../core/metrics.ts";
import { voiceOf } from "../core/outgoing.ts";
import type { Bus, Clock, FailPoints, Random, Signer, Store } from "../core/ports.ts";
import { builtInRoles } from "../core/roles.ts";
import { matchesPeelId } from "../core/target/glob.ts";
import type { Trust } from "../core/trust.ts";
import { type Jobs, startJobs } from "./jobs/service.ts";
import { jobStore } from "./jobs/store.ts";
import { followEnrollments, type PeelDirectory } from "./peels/directory.ts";
import { followHeartbeats, type Presence } from "./peels/presence.ts";
import { type QueryService, takeQueries } from "./query/service.ts";

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
  trust(): Trust;
}

export interface MasterServices {
  readonly peels: PeelDirectory;
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
  const keyring = keyringOf(ports.trust, peels.key);
  const presence = followHeartbeats({ bus, clock, keyring, metrics });
  const queries = takeQueries({
    ...ports,
    jobs: jobStore(store, clock, ports.random),
    voice,
    keyring,
    authorizer: builtInRoles,
    peelIds: peels.ids,
    seen: presence.seen,
  });
  const jobs = startJobs({
    ...ports,
    voice,
    keyring,
    authorizer: builtInRoles,
    peelKey: peels.key,
    isOnline: presence.isOnline,
    resolve: (target) => ({ targets: peels.ids().filter((peel) => matchesPeelId(target, peel)) }),
    followElsewhere: queries.follow,
  });
  return {
    peels,
    presence,
    jobs,
    queries,
    connected() {
      peels.connected();
      jobs.connected();
    },
    async stop() {
      await queries.stop();
      await jobs.stop();
      presence.stop();
      peels.stop();
    },
  };
}

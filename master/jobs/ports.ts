/** What everything that deals with jobs on a master is given. */
import type { Keyring } from "../../core/ingress.ts";
import type { PeelKey } from "../../core/keyring.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Voice } from "../../core/outgoing.ts";
import type { Bus, Clock, FailPoints, Store } from "../../core/ports.ts";
import type { JobStore } from "./store.ts";

export interface JobPorts {
  readonly masterId: string;
  readonly bus: Bus;
  readonly store: Store;
  readonly jobs: JobStore;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly keyring: Keyring;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failPoints: FailPoints;
  peelKey(peelId: string): PeelKey | undefined;
  /** How many peels are enrolled; absent where nobody knows. */
  enrolled?(): number;
  /** Whether this master cannot tell yet if a peel is there. */
  isUnheard?(peelId: string): boolean;
}

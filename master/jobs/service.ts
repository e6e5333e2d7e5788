/** All that a master does about jobs, put together: heartbeat, dispatch, watchers, orphans. */
import type { Random } from "../../core/ports.ts";
import type { Authorizer } from "../../core/roles.ts";
import { type Alive, startBeating } from "../alive/service.ts";
import { type DispatchPorts, takeDispatches } from "../dispatch/service.ts";
import { scanForOrphans } from "../orphans/service.ts";
import type { JobPorts } from "./ports.ts";
import { jobStore } from "./store.ts";
import { jobWatchers, type Watchers } from "./watchers.ts";

export interface JobsPorts extends Omit<JobPorts, "jobs"> {
  readonly random: Random;
  readonly authorizer: Authorizer;
  readonly isOnline: DispatchPorts["isOnline"];
  readonly resolve: DispatchPorts["resolve"];
  readonly facts?: NonNullable<DispatchPorts["facts"]>;
  readonly followElsewhere: DispatchPorts["followElsewhere"];
  /** False until this master has read who the peels are: what they said of a job would be refused. Default: true. */
  knowsPeels?(): boolean;
}

export interface Jobs {
  readonly watchers: Watchers;
  readonly alive: Alive;
  /** There is a connection (again): say that we live, and drop what others have taken meanwhile. */
  connected(): void;
  /** One scan for orphans now. */
  scan(): Promise<void>;
  /** Takes no more work and hands over what is under way. */
  stop(): Promise<void>;
}

/** Starts everything. */
export function startJobs(given: JobsPorts): Jobs {
  const ports: JobPorts = { ...given, jobs: jobStore(given.store, given.clock, given.random) };
  const watchers = jobWatchers(ports);
  const alive = startBeating({ ...ports, held: watchers.held });
  const dispatcher = takeDispatches({ ...given, ...ports, watchers, unfit: alive.unfit });
  const stranger = () =>
    given.knowsPeels?.() === false ? "it has not read yet who the peels are" : null;
  const orphans = scanForOrphans({
    ...ports,
    watchers,
    unfit: () => alive.unfit() ?? stranger(),
  });
  return {
    watchers,
    alive,
    connected() {
      void alive.beat();
      void watchers.verifyAll();
    },
    scan: orphans.scan,
    async stop() {
      await dispatcher.stop();
      await orphans.stop();
      await watchers.stop();
      await alive.stop(); // last: until then others must not take our jobs
    },
  };
}

/** The jobs that this master owns, each with its watcher: what the heartbeat names, cancels reach and a stop hands over. */
import { toZesterError } from "../../core/errors.ts";
import { ingest } from "../../core/ingress.ts";
import type { Subscription } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import type { FollowEvent } from "../../core/wire/follow.ts";
import type { Job } from "../../core/wire/job.ts";
import { type Watcher, watchJob, type WatchStart } from "../watch/service.ts";
import type { JobPorts } from "./ports.ts";
import { tellCancel } from "./tell_cancel.ts";

export interface Watchers {
  /** Jobs that are watched, or being dispatched or taken over right now. */
  held(): string[];
  isHeld(jid: string): boolean;
  /** Takes hold of a jid for a dispatch or a takeover; false if it is held already. */
  reserve(jid: string): boolean;
  unreserve(jid: string): void;
  start(start: WatchStart, tell?: (event: FollowEvent) => void): void;
  /** Has a watched job told to somebody more; false if it is not watched here. */
  follow(jid: string, tell: (event: FollowEvent) => void): boolean;
  /** After a loss of connection: drops the jobs that others have taken meanwhile, before anything is published. */
  verifyAll(): Promise<void>;
  /** Hands all jobs over. */
  stop(): Promise<void>;
}

/** An empty set of watchers that listens for cancels. */
export function jobWatchers(ports: JobPorts): Watchers {
  const watching = new Map<string, Watcher>();
  const reserved = new Set<string>();
  const cancels: Subscription = ports.bus.subscribe(subjects.jobCancel.filter(), (message) => {
    const door = ingest(message, {
      rule: subjects.jobCancel,
      keyring: ports.keyring,
      nowMs: ports.clock.now(),
    });
    if (door.ok) void cancel(door.fields.jid);
    else ports.metrics.ingressRefused.inc({ reason: door.reason });
  });

  /** The message says that there is something to look for; who asked for it is in the store. */
  async function cancel(jid: string): Promise<void> {
    const watcher = watching.get(jid);
    if (watcher === undefined) return;
    const by = await ports.jobs.cancelRequested(jid).catch((thrown) => {
      ports.log.warn("cancel not looked up", { jid, error: toZesterError(thrown, "cancel") });
      return "an operator";
    });
    watcher.cancel(by ?? "an operator");
  }

  return {
    held: () => [...new Set([...watching.keys(), ...reserved])].sort(),
    isHeld: (jid) => watching.has(jid) || reserved.has(jid),
    reserve(jid) {
      if (reserved.has(jid)) return false;
      reserved.add(jid);
      return true;
    },
    unreserve: (jid) => reserved.delete(jid),
    start(start, tell) {
      const watcher = watchJob(start, ports);
      watching.set(start.job.jid, watcher);
      if (tell !== undefined) watcher.follow(tell);
      watcher.done.finally(() => watching.delete(start.job.jid));
      void cancelIfAsked(start.job, watcher);
    },
    follow(jid, tell) {
      return watching.get(jid)?.follow(tell) ?? false;
    },
    async verifyAll() {
      await Promise.allSettled([...watching.values()].map((watcher) => watcher.verify()));
    },
    async stop() {
      cancels.unsubscribe();
      await Promise.allSettled([...watching.values()].map((watcher) => watcher.handOver()));
    },
  };

  /**
   * A cancel may have come while nobody owned the job: it was kept, and is found here. Whoever kept it may have died before
   * it told the peels.
   */
  async function cancelIfAsked(job: Job, watcher: Watcher): Promise<void> {
    const by = await ports.jobs.cancelRequested(job.jid).catch(() => null);
    if (by === null) return;
    watcher.cancel(by);
    await tellCancel(job, by, ports);
  }
}

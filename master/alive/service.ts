/**
 * The master's own heartbeat, and whether it may take work. A key that expires tells the others that this master is gone; so
 * one that could not write its key for a while stops taking work before they do.
 */
import { buckets } from "../../core/buckets.ts";
import { toZesterError } from "../../core/errors.ts";
import { MASTER_HEARTBEAT_MS, MASTER_UNFIT_MS } from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import type { Clock, Store } from "../../core/ports.ts";
import { encodeMasterHeartbeat } from "../../core/wire/heartbeat.ts";

export interface Alive {
  /** Why this master should take no work, or null. */
  unfit(): string | null;
  /** Beats now, as after a reconnect. */
  beat(): Promise<void>;
  /** Removes the key, so that the others need not wait for it to expire. */
  stop(): Promise<void>;
}

export interface AlivePorts {
  readonly masterId: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  held(): readonly string[];
}

/** Starts to beat. */
export function startBeating(ports: AlivePorts): Alive {
  const { masterId, store, clock, log } = ports;
  const bucket = store.bucket(buckets.masterHeartbeat.name);
  let writtenMs = -Infinity;
  let stopped = false;
  let beating = false;

  async function beat(): Promise<void> {
    if (stopped || beating) return;
    beating = true;
    const sentMs = clock.monotonic(); // the key lives from when it was sent, at the earliest
    try {
      const value = encodeMasterHeartbeat({
        masterId,
        activeJobs: ports.held(),
        timestampMs: clock.now(),
      });
      const written = await bucket.put(masterId, value);
      if (written.outcome === "ok") writtenMs = sentMs;
      else log.warn("heartbeat not written", { outcome: written.outcome });
    } catch (thrown) {
      const error = toZesterError(thrown, "heartbeat");
      log[error.code === "disconnected" ? "debug" : "warn"]("heartbeat not written", { error });
    } finally {
      beating = false;
    }
  }

  void beat();
  const timer = clock.every(MASTER_HEARTBEAT_MS, () => void beat());
  return {
    beat,
    unfit() {
      if (stopped) return "it is stopping";
      if (clock.monotonic() - writtenMs < MASTER_UNFIT_MS) return null;
      return writtenMs === -Infinity
        ? "it has not announced itself yet"
        : "its heartbeat cannot be written";
    },
    async stop() {
      stopped = true;
      timer.cancel();
      await bucket.delete(masterId).catch((thrown) => {
        log.debug("heartbeat not removed", { error: toZesterError(thrown, "heartbeat") });
      });
    },
  };
}

/** Ids of the masters that are alive. Throws when that cannot be read: no answer never means that all are dead. */
export async function liveMasters(store: Store): Promise<Set<string>> {
  return new Set(await store.bucket(buckets.masterHeartbeat.name).keys());
}

/** Which peels were heard from lately. Kept in memory: a heartbeat is not worth a disk. */
import { ingest, type Keyring } from "../../core/ingress.ts";
import { PEEL_OFFLINE_MS } from "../../core/limits.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Bus, Clock, Subscription } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";

export interface Presence {
  isOnline(peelId: string): boolean;
  online(): number;
  stop(): void;
}

/** Starts to listen for heartbeats. */
export function followHeartbeats(
  { bus, clock, keyring, metrics }: { bus: Bus; clock: Clock; keyring: Keyring; metrics: Metrics },
): Presence {
  const heardAt = new Map<string, number>();
  const subscription: Subscription = bus.subscribe(subjects.heartbeat.filter(), (message) => {
    const nowMs = clock.now();
    const door = ingest(message, { rule: subjects.heartbeat, keyring, nowMs });
    if (door.ok) heardAt.set(door.fields.peel, clock.monotonic());
    else metrics.ingressRefused.inc({ reason: door.reason });
  });
  function isOnline(peelId: string): boolean {
    const at = heardAt.get(peelId);
    return at !== undefined && clock.monotonic() - at < PEEL_OFFLINE_MS;
  }
  return {
    isOnline,
    online: () => [...heardAt.keys()].filter(isOnline).length,
    stop: () => subscription.unsubscribe(),
  };
}

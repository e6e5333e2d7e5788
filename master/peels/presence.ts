/** Which peels were heard from lately. Kept in memory: a heartbeat is not worth a disk. */
import { isZesterError } from "../../core/errors.ts";
import { ingest, type Keyring } from "../../core/ingress.ts";
import { PEEL_OFFLINE_MS } from "../../core/limits.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Bus, Clock, Subscription } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { decodePeelHeartbeat } from "../../core/wire/heartbeat.ts";
import type { PresenceWord } from "../../core/wire/query.ts";

/** What the heartbeats say of a peel. */
export interface SeenPeel {
  readonly presence: PresenceWord;
  /** By this master's clock. */
  readonly lastSeenMs?: number;
  readonly version?: string;
}

export interface Presence {
  isOnline(peelId: string): boolean;
  /** `unknown` for a peel that was not heard while this master has not listened long enough to tell. */
  seen(peelId: string): SeenPeel;
  online(): number;
  stop(): void;
}

/** Starts to listen for heartbeats. */
export function followHeartbeats(
  { bus, clock, keyring, metrics }: { bus: Bus; clock: Clock; keyring: Keyring; metrics: Metrics },
): Presence {
  const startedAt = clock.monotonic();
  const heard = new Map<string, { at: number; lastSeenMs: number; version: string }>();
  const subscription: Subscription = bus.subscribe(subjects.heartbeat.filter(), (message) => {
    const nowMs = clock.now();
    const door = ingest(message, { rule: subjects.heartbeat, keyring, nowMs });
    if (!door.ok) return metrics.ingressRefused.inc({ reason: door.reason });
    const version = versionIn(door.payload);
    heard.set(door.fields.peel, { at: clock.monotonic(), lastSeenMs: nowMs, version });
  });
  function isOnline(peelId: string): boolean {
    const at = heard.get(peelId)?.at;
    return at !== undefined && clock.monotonic() - at < PEEL_OFFLINE_MS;
  }
  function seen(peelId: string): SeenPeel {
    const last = heard.get(peelId);
    const listened = clock.monotonic() - startedAt >= PEEL_OFFLINE_MS;
    if (last === undefined) return { presence: listened ? "offline" : "unknown" };
    const { lastSeenMs, version } = last;
    return { presence: isOnline(peelId) ? "online" : "offline", lastSeenMs, version };
  }
  return {
    isOnline,
    seen,
    online: () => [...heard.keys()].filter(isOnline).length,
    stop: () => subscription.unsubscribe(),
  };
}

/** A heartbeat that cannot be read is one all the same: the peel lives. */
function versionIn(payload: Uint8Array): string {
  try {
    return decodePeelHeartbeat(payload).version;
  } catch (thrown) {
    if (!isZesterError(thrown)) throw thrown;
    return "";
  }
}

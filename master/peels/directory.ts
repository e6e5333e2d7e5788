/** The peels that are enrolled, with their keys: a copy in memory of the `enrollments` bucket, kept up to date by a watch. */
import { buckets } from "../../core/buckets.ts";
import { toZesterError } from "../../core/errors.ts";
import { type PeelKey, peelKeyOf } from "../../core/keyring.ts";
import { WATCH_RETRY_MS, WATCH_RETRY_MS_MAX } from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import type { Clock, Store, WatchEvent } from "../../core/ports.ts";
import { decodeEnrollment } from "../../core/wire/enrollment.ts";

export interface PeelDirectory {
  /** False until the bucket was read once: before that "unknown peel" means nothing. */
  readonly ready: boolean;
  key(peelId: string): PeelKey | undefined;
  /** Ids of all peels that may be given work, sorted. */
  ids(): string[];
  /** Tells it that there is a connection (again), so that it need not wait for its next try. */
  connected(): void;
  stop(): void;
}

/** States of an enrollment record in which its peel is part of the fleet. */
const MEMBER_STATES: ReadonlySet<string> = new Set(["issued", "active"]);

/** Starts to follow the enrollments. A watch that ends is begun again; what is known stays known meanwhile. */
export function followEnrollments(store: Store, clock: Clock, log: Log): PeelDirectory {
  const members = new Map<string, { peelId: string; key: PeelKey }>(); // by key in the bucket
  const byPeel = new Map<string, PeelKey>();
  const stopping = new AbortController();
  let ready = false;
  let wake = new AbortController();

  function reindex(): void {
    byPeel.clear();
    for (const { peelId, key } of members.values()) byPeel.set(peelId, key);
  }

  function take(event: WatchEvent): void {
    if (event.kind === "replayed") {
      ready = true;
      return;
    }
    const key = event.kind === "put" ? event.entry.key : event.key;
    if (!key.startsWith("enr-")) return;
    members.delete(key);
    if (event.kind === "put") {
      try {
        const record = decodeEnrollment(event.entry.value);
        if (MEMBER_STATES.has(record.state)) {
          members.set(key, { peelId: record.peelId, key: peelKeyOf(record) });
        }
      } catch (thrown) {
        // One bad record must not stop the others from being known.
        log.error("enrollment record ignored", {
          key,
          error: toZesterError(thrown, "enrollments"),
        });
      }
    }
    reindex();
  }

  async function follow(): Promise<void> {
    let waitMs = WATCH_RETRY_MS;
    while (!stopping.signal.aborted) {
      try {
        const watch = await store.bucket(buckets.enrollments.name).watch(">", take);
        stopping.signal.addEventListener("abort", () => watch.stop(), { once: true });
        waitMs = WATCH_RETRY_MS;
        const reason = await watch.ended;
        if (reason !== undefined) log.warn("enrollment watch ended", { error: reason });
      } catch (thrown) {
        log.warn("enrollment watch failed", { error: toZesterError(thrown, "enrollments") });
      }
      wake = new AbortController();
      await clock.sleep(waitMs, AbortSignal.any([stopping.signal, wake.signal])).catch(() => {});
      waitMs = Math.min(waitMs * 2, WATCH_RETRY_MS_MAX);
    }
  }

  follow();
  return {
    get ready() {
      return ready;
    },
    key: (peelId) => byPeel.get(peelId),
    ids: () => [...byPeel.keys()].sort(),
    connected: () => wake.abort(),
    stop: () => stopping.abort(),
  };
}

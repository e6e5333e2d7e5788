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

const RECORD_PREFIX = "enr-";

/** Records by their key in the bucket, and which of them is in force for each peel. */
class Members {
  readonly #records = new Map<string, { peelId: string; key: PeelKey }>();
  readonly #inForce = new Map<string, { record: string; key: PeelKey }>();

  put(record: string, peelId: string, key: PeelKey): void {
    this.remove(record);
    this.#records.set(record, { peelId, key });
    this.#offer(record, peelId, key);
  }

  remove(record: string): void {
    const old = this.#records.get(record);
    if (old === undefined) return;
    this.#records.delete(record);
    if (this.#inForce.get(old.peelId)?.record !== record) return;
    this.#inForce.delete(old.peelId);
    for (const [other, { peelId, key }] of this.#records) {
      if (peelId === old.peelId) this.#offer(other, peelId, key);
    }
  }

  /** The highest generation wins: an older record must not come back to life. */
  #offer(record: string, peelId: string, key: PeelKey): void {
    const current = this.#inForce.get(peelId);
    if (current === undefined || key.generation > current.key.generation) {
      this.#inForce.set(peelId, { record, key });
    }
  }

  key(peelId: string): PeelKey | undefined {
    return this.#inForce.get(peelId)?.key;
  }

  ids(): string[] {
    return [...this.#inForce.keys()].sort();
  }
}

/** Starts to follow the enrollments. A watch that ends is begun again; what is known stays known meanwhile. */
export function followEnrollments(store: Store, clock: Clock, log: Log): PeelDirectory {
  const stopping = new AbortController();
  let wake = new AbortController();
  let ready = false;
  let members = new Members();

  async function follow(): Promise<void> {
    let waitMs = WATCH_RETRY_MS;
    while (!stopping.signal.aborted) {
      try {
        const reason = await watchOnce();
        waitMs = WATCH_RETRY_MS;
        if (reason !== undefined) log.warn("enrollment watch ended", { error: reason });
      } catch (thrown) {
        log.warn("enrollment watch failed", { error: toZesterError(thrown, "enrollments") });
      }
      wake = new AbortController();
      await clock.sleep(waitMs, AbortSignal.any([stopping.signal, wake.signal])).catch(() => {});
      waitMs = Math.min(waitMs * 2, WATCH_RETRY_MS_MAX);
    }
  }

  /** What a new watch shows replaces what is known, once it has shown all: who is not in it has gone meanwhile. */
  async function watchOnce(): Promise<Error | undefined> {
    const shown = new Members();
    const watch = await store.bucket(buckets.enrollments.name).watch(">", (event) => {
      if (event.kind !== "replayed") return take(event, shown, log);
      members = shown;
      ready = true;
    });
    const stop = (): void => watch.stop();
    stopping.signal.addEventListener("abort", stop, { once: true });
    if (stopping.signal.aborted) stop();
    return await watch.ended.finally(() => stopping.signal.removeEventListener("abort", stop));
  }

  follow();
  return {
    get ready() {
      return ready;
    },
    key: (peelId) => members.key(peelId),
    ids: () => members.ids(),
    connected: () => wake.abort(),
    stop: () => stopping.abort(),
  };
}

function take(event: Exclude<WatchEvent, { kind: "replayed" }>, members: Members, log: Log): void {
  const key = event.kind === "put" ? event.entry.key : event.key;
  if (!key.startsWith(RECORD_PREFIX)) return;
  members.remove(key);
  if (event.kind === "delete") return;
  try {
    const record = decodeEnrollment(event.entry.value);
    if (MEMBER_STATES.has(record.state)) members.put(key, record.peelId, peelKeyOf(record));
  } catch (thrown) {
    // One bad record must not stop the others from being known.
    log.error("enrollment record ignored", { key, error: toZesterError(thrown, "enrollments") });
  }
}

/** A copy in memory of one bucket, kept up to date by a watch that is begun again whenever it ends. */
import { toZesterError } from "../core/errors.ts";
import { WATCH_RETRY_MS, WATCH_RETRY_MS_MAX } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import type { Clock, Store, WatchEvent } from "../core/ports.ts";

/** What a watch shows of a bucket. */
export type BucketChange = Exclude<WatchEvent, { kind: "replayed" }>;

/** What a watch fills. */
export interface Copy {
  take(event: BucketChange): void;
}

export interface Followed<C extends Copy> {
  /** Undefined until the bucket was read once; afterwards always there, be it a little behind. */
  readonly copy: C | undefined;
  /** Tells it that there is a connection (again), so that it need not wait for its next try. */
  connected(): void;
  stop(): void;
}

export interface FollowPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Starts to follow a bucket. What a new watch shows is put into a new copy, which replaces the old one once all was shown:
 * what is not in it has gone meanwhile, and nothing is forgotten before that.
 */
export function followBucket<C extends Copy>(
  bucket: string,
  newCopy: () => C,
  { store, clock, log }: FollowPorts,
): Followed<C> {
  const stopping = new AbortController();
  let wake = new AbortController();
  let copy: C | undefined;

  async function follow(): Promise<void> {
    let waitMs = WATCH_RETRY_MS;
    while (!stopping.signal.aborted) {
      try {
        const reason = await watchOnce();
        waitMs = WATCH_RETRY_MS;
        if (reason !== undefined) log.warn("watch ended", { bucket, error: reason });
      } catch (thrown) {
        const error = toZesterError(thrown, `watch ${bucket}`);
        // Without a connection there is nothing to tell that was not told already.
        log[error.code === "disconnected" ? "debug" : "warn"]("watch failed", { bucket, error });
      }
      wake = new AbortController();
      await clock.sleep(waitMs, AbortSignal.any([stopping.signal, wake.signal])).catch(() => {});
      waitMs = Math.min(waitMs * 2, WATCH_RETRY_MS_MAX);
    }
  }

  async function watchOnce(): Promise<Error | undefined> {
    const shown = newCopy();
    const watch = await store.bucket(bucket).watch(">", (event) => {
      if (event.kind === "replayed") copy = shown;
      else shown.take(event);
    });
    const stop = (): void => watch.stop();
    stopping.signal.addEventListener("abort", stop, { once: true });
    if (stopping.signal.aborted) stop();
    return await watch.ended.finally(() => stopping.signal.removeEventListener("abort", stop));
  }

  follow();
  return {
    get copy() {
      return copy;
    },
    connected: () => wake.abort(),
    stop: () => stopping.abort(),
  };
}

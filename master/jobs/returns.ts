/** What came back, one key per peel in `job-returns`: the source of truth for a job's results. */
import { buckets } from "../../core/buckets.ts";
import { toZesterError } from "../../core/errors.ts";
import {
  RETURN_READS_MAX,
  RETURN_WRITE_BYTES_MAX,
  RETURN_WRITES_MAX,
  STORE_RETRY_MS,
  WATCH_RETRY_MS_MAX,
} from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import type { Bucket, Clock, Store } from "../../core/ports.ts";
import { decodeReturn, encodeReturn, type Return } from "../../core/wire/return.ts";

/** Writes returns off the callback that brings them, several at a time, each until it is stored. */
export interface ReturnWriter {
  add(given: Return): void;
  /** Resolves when all that was added is stored; rejects when the signal aborts. */
  flush(signal?: AbortSignal): Promise<void>;
}

/** Key of a return. */
function keyOf({ jid, peelId }: Pick<Return, "jid" | "peelId">): string {
  return `${jid}.${peelId}`;
}

/** Starts a writer for one job. Later additions for the same peel win. */
export function returnWriter(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
): ReturnWriter {
  const returns = store.bucket(buckets.jobReturns.name);
  const waiting = new Map<string, Return>(); // by key: what is still to be written
  const writing = new Set<string>();
  let writingBytes = 0;
  let idle: (() => void)[] = [];

  function pump(): void {
    for (const [key, given] of waiting) {
      if (writing.size >= RETURN_WRITES_MAX || writingBytes >= RETURN_WRITE_BYTES_MAX) break;
      if (writing.has(key)) continue; // the newer one goes after the older one is done
      waiting.delete(key);
      const bytes = encodeReturn(given);
      writing.add(key);
      writingBytes += bytes.length;
      write(key, bytes).finally(() => {
        writing.delete(key);
        writingBytes -= bytes.length;
        pump();
      });
    }
    if (waiting.size === 0 && writing.size === 0) {
      const woken = idle;
      idle = [];
      for (const wake of woken) wake();
    }
  }

  async function write(key: string, bytes: Uint8Array): Promise<void> {
    for (let waitMs = STORE_RETRY_MS;; waitMs = Math.min(waitMs * 2, WATCH_RETRY_MS_MAX)) {
      const written = await returns.put(key, bytes).catch((thrown) => ({
        outcome: "unknown" as const,
        cause: toZesterError(thrown, "store return"),
      }));
      if (written.outcome === "ok") return;
      if (waiting.has(key)) return; // superseded meanwhile
      log.warn("return not stored yet", { key, retryMs: waitMs, outcome: written.outcome });
      await clock.sleep(waitMs);
    }
  }

  return {
    add(given) {
      waiting.set(keyOf(given), given);
      pump();
    },
    flush(signal) {
      if (waiting.size === 0 && writing.size === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        idle.push(resolve);
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
  };
}

/** All stored returns of a job. */
export async function storedReturns(jid: string, store: Store): Promise<Return[]> {
  const returns = store.bucket(buckets.jobReturns.name);
  const keys = await returns.keys(jid);
  const found = await mapLimited(keys, (key) => readReturn(returns, key));
  return found.filter((each) => each !== null);
}

async function readReturn(returns: Bucket, key: string): Promise<Return | null> {
  const entry = await returns.get(key);
  return entry === null ? null : decodeReturn(entry.value);
}

/** Maps with a bounded number under way. */
async function mapLimited<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  async function worker(): Promise<void> {
    for (let at = next++; at < items.length; at = next++) results[at] = await map(items[at] as T);
  }
  await Promise.all(Array.from({ length: Math.min(RETURN_READS_MAX, items.length) }, worker));
  return results;
}

/** What every peel says of itself: a copy in memory of the `facts` bucket, which targets are resolved against. */
import { buckets } from "../../core/buckets.ts";
import { toZesterError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { WatchEvent } from "../../core/ports.ts";
import { FactIndex } from "../../core/target/peel_index.ts";
import { decodeFactsRecord } from "../../core/wire/facts.ts";
import { type Copy, followBucket, type FollowPorts } from "../follow_bucket.ts";

/** Which facts of a peel are stored, and where. */
export interface StoredFacts {
  readonly boot: bigint;
  readonly sequence: bigint;
  readonly revision: bigint;
}

export interface FactsDirectory {
  /** False until the bucket was read once: before that "no facts" means nothing. */
  readonly ready: boolean;
  readonly index: FactIndex;
  /** What is stored for a peel, as far as is known here. It may be behind. */
  stored(peelId: string): StoredFacts | undefined;
  connected(): void;
  stop(): void;
}

class FactsCopy implements Copy {
  readonly index = new FactIndex();
  readonly stored = new Map<string, StoredFacts>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  take(event: Exclude<WatchEvent, { kind: "replayed" }>): void {
    const key = event.kind === "put" ? event.entry.key : event.key;
    if (event.kind === "delete") return this.#forget(key);
    const { value, revision } = event.entry;
    try {
      const { peelId, boot, sequence, facts } = decodeFactsRecord(value);
      if (peelId !== key) throw new Error(`the record is of ${peelId}`);
      this.index.put(peelId, facts);
      this.stored.set(peelId, { boot, sequence, revision });
    } catch (thrown) {
      // One bad record must not stop the others from being known. What it replaced is no longer true.
      this.#forget(key);
      this.#log.error("facts record ignored", { key, error: toZesterError(thrown, "facts") });
    }
  }

  #forget(peelId: string): void {
    this.index.remove(peelId);
    this.stored.delete(peelId);
  }
}

const NOTHING = new FactIndex();

/** Starts to follow the facts. */
export function followFacts(ports: FollowPorts): FactsDirectory {
  const followed = followBucket(buckets.facts.name, () => new FactsCopy(ports.log), ports);
  return {
    get ready() {
      return followed.copy !== undefined;
    },
    get index() {
      return followed.copy?.index ?? NOTHING;
    },
    stored: (peelId) => followed.copy?.stored.get(peelId),
    connected: () => followed.connected(),
    stop: () => followed.stop(),
  };
}

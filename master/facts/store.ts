/** Writes a peel's facts if they are newer than what is stored. The compare-and-set decides; an unknown outcome is looked up. */
import { buckets } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import {
  FACTS_BYTES_MAX,
  FACTS_MESSAGE_BYTES_MAX,
  FACTS_WRITE_ATTEMPTS_MAX,
} from "../../core/limits.ts";
import type { Bucket, Store } from "../../core/ports.ts";
import {
  compareAge,
  decodeFactsRecord,
  encodeFactsRecord,
  type FactsRecord,
} from "../../core/wire/facts.ts";
import type { StoredFacts } from "./directory.ts";

/** What became of facts: stored, or something at least as new was there. `stored` says what is there now. */
export interface FactsOutcome {
  readonly result: "stored" | "stale";
  readonly boot: bigint;
  readonly sequence: bigint;
}

/** `known` is what this master believes to be stored: a good guess for the first try, never the last word. */
export async function storeFacts(
  record: FactsRecord,
  known: StoredFacts | undefined,
  store: Store,
): Promise<FactsOutcome> {
  const bytes = encodedRecord(record);
  const bucket = store.bucket(buckets.facts.name);
  let current = known;
  let cause: ZesterError | undefined;
  for (let attempt = 0; attempt < FACTS_WRITE_ATTEMPTS_MAX; attempt++) {
    if (current !== undefined && compareAge(record, current) <= 0) return settled(record, current);
    const written = current === undefined
      ? await bucket.create(record.peelId, bytes)
      : await bucket.update(record.peelId, bytes, current.revision);
    if (written.outcome === "ok") return { result: "stored", ...ageOf(record) };
    // Lost to somebody, or not known: either way what is stored now says how to go on. Our own write that arrived is
    // found as "not newer than what is stored".
    if (written.outcome === "unknown") cause = written.cause;
    current = await storedNow(record.peelId, bucket);
  }
  throw new ZesterError(
    "timeout",
    `facts of ${record.peelId}: not stored after ${FACTS_WRITE_ATTEMPTS_MAX} tries`,
    { cause },
  );
}

function settled(record: FactsRecord, current: StoredFacts): FactsOutcome {
  return { result: compareAge(record, current) === 0 ? "stored" : "stale", ...ageOf(current) };
}

function ageOf({ boot, sequence }: { boot: bigint; sequence: bigint }) {
  return { boot, sequence };
}

/** Encoding may make facts larger than they came; what does not fit the bucket is refused here, with the limit. */
function encodedRecord(record: FactsRecord): Uint8Array {
  const bytes = encodeFactsRecord(record);
  if (bytes.length <= FACTS_BYTES_MAX - HEADROOM) return bytes;
  throw new ZesterError(
    "payload_too_large",
    `facts of ${record.peelId}: ${bytes.length} bytes, at most ${FACTS_MESSAGE_BYTES_MAX}`,
  );
}

/** The bucket counts the headers of a write too. */
const HEADROOM = (FACTS_BYTES_MAX - FACTS_MESSAGE_BYTES_MAX) / 2;

async function storedNow(peelId: string, bucket: Bucket): Promise<StoredFacts | undefined> {
  const entry = await bucket.get(peelId, { leader: true });
  if (entry === null) return undefined;
  try {
    const { boot, sequence } = decodeFactsRecord(entry.value);
    return { boot, sequence, revision: entry.revision };
  } catch {
    // Unreadable, so anything is newer.
    return { boot: -1n, sequence: 0n, revision: entry.revision };
  }
}

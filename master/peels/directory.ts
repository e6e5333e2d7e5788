/** The peels that are enrolled, with their keys: a copy in memory of the `enrollments` bucket, kept up to date by a watch. */
import { buckets } from "../../core/buckets.ts";
import { toZesterError, ZesterError } from "../../core/errors.ts";
import { type PeelKey, peelKeyOf } from "../../core/keyring.ts";
import type { Log } from "../../core/log.ts";
import type { Clock, Store } from "../../core/ports.ts";
import { decodeEnrollment } from "../../core/wire/enrollment.ts";
import { type BucketChange, followBucket } from "../follow_bucket.ts";

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
const INDEX_PREFIX = "peel.";

interface Member {
  readonly peelId: string;
  readonly key: PeelKey;
}

/**
 * Records by their key in the bucket, and which of them is in force for each peel: the one that the index names, and no
 * other. Without an entry there a peel is not enrolled, whatever older records are still around.
 */
class Members {
  readonly #records = new Map<string, Member>();
  readonly #inForce = new Map<string, string>();
  /** Kept until something changes: every dispatch asks, and a large fleet takes long to sort. */
  #sorted: string[] | undefined;

  put(record: string, member: Member): void {
    this.#records.set(record, member);
    this.#sorted = undefined;
  }

  remove(record: string): void {
    this.#records.delete(record);
    this.#sorted = undefined;
  }

  putInForce(peelId: string, record: string): void {
    this.#inForce.set(peelId, record);
    this.#sorted = undefined;
  }

  removeInForce(peelId: string): void {
    this.#inForce.delete(peelId);
    this.#sorted = undefined;
  }

  key(peelId: string): PeelKey | undefined {
    const member = this.#records.get(this.#inForce.get(peelId) ?? "");
    return member?.peelId === peelId ? member.key : undefined;
  }

  ids(): string[] {
    this.#sorted ??= [...this.#inForce.keys()]
      .filter((peelId) => this.key(peelId) !== undefined).sort();
    return [...this.#sorted];
  }
}

/** Starts to follow the enrollments. What is known stays known while a watch is begun again. */
export function followEnrollments(store: Store, clock: Clock, log: Log): PeelDirectory {
  const nobody = new Members();
  const followed = followBucket(buckets.enrollments.name, () => {
    const members = new Members();
    return { members, take: (event: BucketChange) => take(event, members, log) };
  }, { store, clock, log });
  const members = (): Members => followed.copy?.members ?? nobody;
  return {
    get ready() {
      return followed.copy !== undefined;
    },
    key: (peelId) => members().key(peelId),
    ids: () => members().ids(),
    connected: followed.connected,
    stop: followed.stop,
  };
}

function take(event: BucketChange, members: Members, log: Log): void {
  const key = event.kind === "put" ? event.entry.key : event.key;
  if (key.startsWith(INDEX_PREFIX)) takeIndex(event, key.slice(INDEX_PREFIX.length), members);
  else if (key.startsWith(RECORD_PREFIX)) takeRecord(event, key, members, log);
}

function takeIndex(event: BucketChange, peelId: string, members: Members): void {
  if (event.kind === "delete") members.removeInForce(peelId);
  else members.putInForce(peelId, new TextDecoder().decode(event.entry.value));
}

function takeRecord(event: BucketChange, key: string, members: Members, log: Log): void {
  members.remove(key);
  if (event.kind === "delete") return;
  try {
    const record = decodeEnrollment(event.entry.value);
    if (record.id !== key) {
      throw new ZesterError("trust_invalid", `enrollments: ${key} holds the record ${record.id}`);
    }
    if (!MEMBER_STATES.has(record.state)) return;
    members.put(key, { peelId: record.peelId, key: peelKeyOf(record) });
  } catch (thrown) {
    // One bad record must not stop the others from being known.
    log.error("enrollment record ignored", { key, error: toZesterError(thrown, "enrollments") });
  }
}

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

interface Member {
  readonly peelId: string;
  readonly key: PeelKey;
  /** False for one that was revoked: it has no key any more, but still outranks the older ones. */
  readonly isActive: boolean;
}

/** Records by their key in the bucket, and which of them counts for each peel. */
class Members {
  readonly #records = new Map<string, Member>();
  readonly #inForce = new Map<string, { record: string; member: Member }>();

  put(record: string, member: Member): void {
    this.remove(record);
    this.#records.set(record, member);
    this.#offer(record, member);
  }

  remove(record: string): void {
    const old = this.#records.get(record);
    if (old === undefined) return;
    this.#records.delete(record);
    if (this.#inForce.get(old.peelId)?.record !== record) return;
    this.#inForce.delete(old.peelId);
    for (const [other, member] of this.#records) {
      if (member.peelId === old.peelId) this.#offer(other, member);
    }
  }

  /** The highest generation wins: an older record must not come back to life. */
  #offer(record: string, member: Member): void {
    const current = this.#inForce.get(member.peelId)?.member;
    if (current === undefined || member.key.generation > current.key.generation) {
      this.#inForce.set(member.peelId, { record, member });
    }
  }

  key(peelId: string): PeelKey | undefined {
    const member = this.#inForce.get(peelId)?.member;
    return member?.isActive ? member.key : undefined;
  }

  ids(): string[] {
    return [...this.#inForce.keys()].filter((peelId) => this.key(peelId) !== undefined).sort();
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
  if (!key.startsWith(RECORD_PREFIX)) return;
  members.remove(key);
  if (event.kind === "delete") return;
  try {
    const record = decodeEnrollment(event.entry.value);
    if (record.id !== key) {
      throw new ZesterError("trust_invalid", `enrollments: ${key} holds the record ${record.id}`);
    }
    const isActive = MEMBER_STATES.has(record.state);
    // Only a revoked one outranks: whoever merely asks for an enrollment must not push out the peel that has one.
    if (!isActive && record.state !== "revoked") return;
    members.put(key, { peelId: record.peelId, key: peelKeyOf(record), isActive });
  } catch (thrown) {
    // One bad record must not stop the others from being known.
    log.error("enrollment record ignored", { key, error: toZesterError(thrown, "enrollments") });
  }
}

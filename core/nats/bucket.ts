/** The bucket port over a KV stream: reads by direct get, writes by publishing to the key with conditions in headers. */
import { ZesterError } from "../errors.ts";
import type { Bucket, Entry, HeaderField, StoredMessage, WriteResult } from "../ports.ts";
import { bucketStreamName, bucketSubject } from "../stream_config.ts";
import type { AppendOutcome, JetStreamApi } from "./api.ts";
import { conflictingSequence } from "./failures.ts";
import { list, startWatch } from "./listing.ts";
import { type DeliveryInfo, headerValue } from "./messages.ts";

const EXPECTED_SEQUENCE = "Nats-Expected-Last-Subject-Sequence";
const OPERATION = "KV-Operation";
const DELETED = ["DEL", "PURGE"];
const NOTHING = new Uint8Array();
const KEY = /^[-/_=a-zA-Z0-9]+(?:\.[-/_=a-zA-Z0-9]+)*$/;
const FILTER = /^(?:[-/_=a-zA-Z0-9]+|\*)(?:\.(?:[-/_=a-zA-Z0-9]+|\*))*(?:\.>)?$|^>$/;

/** A bucket on this connection. Nothing is sent before it is used. */
export function natsBucket(api: JetStreamApi, name: string): Bucket {
  const stream = bucketStreamName(name);
  const prefix = bucketSubject(name, "");

  function subjectOf(key: string): string {
    if (!KEY.test(key)) throw badKey(name, key);
    return prefix + key;
  }

  function entryOf(stored: StoredMessage): Entry {
    return {
      key: stored.subject.slice(prefix.length),
      value: stored.data,
      revision: stored.sequence,
      createdMs: stored.storedMs,
    };
  }

  async function read(key: string, fromLeader: boolean): Promise<StoredMessage | null> {
    const subject = subjectOf(key);
    return fromLeader
      ? await api.leaderGet(stream, JSON.stringify({ last_by_subj: subject }))
      : await api.directGet(stream, subject);
  }

  async function write(
    key: string,
    data: Uint8Array,
    headers: readonly HeaderField[],
  ): Promise<AppendOutcome> {
    return await api.append(stream, subjectOf(key), { data, headers });
  }

  /** The revision of the deletion that lies on this key, if that is what lies there. */
  async function deletionOf(key: string, conflicting: bigint | undefined): Promise<bigint | null> {
    let stored = await read(key, false);
    // A replica may be behind the leader that refused: then only the leader can tell.
    if (conflicting !== undefined && stored?.sequence !== conflicting) {
      stored = await read(key, true);
    }
    return stored !== null && isDeletion(stored.headers) ? stored.sequence : null;
  }

  return {
    async get(key, { leader = false } = {}) {
      const stored = await read(key, leader);
      return stored === null || isDeletion(stored.headers) ? null : entryOf(stored);
    },
    async create(key, value) {
      const first = await write(key, value, [[EXPECTED_SEQUENCE, "0"]]);
      if (first.outcome !== "conflict") return toWriteResult(first);
      const deletion = await deletionOf(key, conflictingSequence(first.error));
      if (deletion === null) return { outcome: "conflict" };
      return toWriteResult(await write(key, value, [[EXPECTED_SEQUENCE, `${deletion}`]]));
    },
    async update(key, value, revision) {
      return toWriteResult(await write(key, value, [[EXPECTED_SEQUENCE, `${revision}`]]));
    },
    async put(key, value) {
      return toWriteResult(await write(key, value, []));
    },
    async delete(key, { revision } = {}) {
      const condition: HeaderField[] = revision === undefined
        ? []
        : [[EXPECTED_SEQUENCE, `${revision}`]];
      return toWriteResult(await write(key, NOTHING, [[OPERATION, "DEL"], ...condition]));
    },
    async keys(below) {
      const keys: string[] = [];
      const filter = prefix + prefixFilter(name, below);
      const options = { stream, filter, deliver: "last_per_subject", headersOnly: true } as const;
      await list(api, options, ({ subject, headers }) => {
        if (!isDeletion(headers)) keys.push(subject.slice(prefix.length));
      });
      return [...new Set(keys)].sort();
    },
    async history(key) {
      const entries: Entry[] = [];
      const options = { stream, filter: subjectOf(key), deliver: "all" } as const;
      await list(api, options, (message, info) => {
        if (!isDeletion(message.headers)) entries.push(entryOf({ ...message, ...info }));
      });
      return entries;
    },
    async watch(filter, handler) {
      if (!FILTER.test(filter)) throw badKey(name, filter);
      const options = { stream, filter: prefix + filter, deliver: "last_per_subject" } as const;
      // Before the marker only values count; a deletion says something new only about a key that was shown already.
      let shown: Set<string> | null = new Set();
      return await startWatch(api, options, {
        receive: (message, info: DeliveryInfo) => {
          const entry = entryOf({ ...message, ...info });
          if (!isDeletion(message.headers)) {
            shown?.add(entry.key);
            handler({ kind: "put", entry });
          } else if (shown === null || shown.delete(entry.key)) {
            handler({ kind: "delete", key: entry.key, revision: entry.revision });
          }
        },
        replayed: () => {
          shown = null;
          handler({ kind: "replayed" });
        },
      });
    },
  };
}

/** Deleted by a client, or by the server when the value's time was up. */
function isDeletion(headers: readonly HeaderField[]): boolean {
  return DELETED.includes(headerValue(headers, OPERATION) ?? "") ||
    headerValue(headers, "Nats-Marker-Reason") !== undefined;
}

function toWriteResult(outcome: AppendOutcome): WriteResult {
  switch (outcome.outcome) {
    case "ok":
      return { outcome: "ok", revision: outcome.sequence };
    case "conflict":
      return { outcome: "conflict" };
    case "unknown":
      return outcome;
  }
}

function prefixFilter(bucket: string, below: string | undefined): string {
  if (below === undefined || below === ">") return ">";
  const filter = below.endsWith(".>") ? below : `${below}.>`;
  if (!FILTER.test(filter)) throw badKey(bucket, below);
  return filter;
}

function badKey(bucket: string, key: string): ZesterError {
  return new ZesterError(
    "bad_subject",
    `bucket ${bucket}: ${JSON.stringify(key.slice(0, 200))} is not a key`,
  );
}

/**
 * Masters and peels that are wrong on purpose, by ports that do something else than they say. Each must be caught by the checks of
 * the scenario, or the checks are worthless.
 */
import { buckets } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import { FIRST_GENERATION } from "../../core/keyring.ts";
import { sealed } from "../../core/outgoing.ts";
import type { Bucket, Bus, Clock, Message, Store, WriteResult } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeReturn, encodeReturn } from "../../core/wire/return.ts";
import type { JobsHistory } from "./jobs_history.ts";
import { type JobsVariant, peelSigner, withMethods } from "./jobs_nodes.ts";
import { jobsScenario } from "./jobs_scenario.ts";
import { RUN_BEGINS_MS } from "./node_clock.ts";
import type { Scenario } from "./world.ts";

const { jobs, jobReturns, masterHeartbeat } = buckets;

const jobBugs: Readonly<Record<string, JobsVariant>> = {
  "takes every request for a new one": {
    journal: (journal) => withMethods(journal, { entry: () => undefined }),
  },
  "forgets to flush its journal": {
    peelFiles: (files) => ({ ...files, appendDurably: () => Promise.resolve() }),
  },
  "forgets its tombstones": {
    journal: (journal) => withMethods(journal, { hasTombstone: () => false }),
  },
  "tells peels before the record says running": { masterStore: withBucket(jobs.name, hasty) },
  "skips the epoch check": { masterStore: withBucket(jobs.name, unfenced) },
  "trusts a read": { masterStore: withBucket(jobs.name, trusting) },
  "takes a time-out for a failure": { masterStore: withBucket(jobs.name, timeoutIsFailure) },
  "takes an unclear write of a return for done": {
    masterStore: withBucket(jobReturns.name, unclearIsDone),
  },
  "counts a non-target": { masterBus: countingStrangers },
  "reclaims on a read error": { masterStore: withBucket(masterHeartbeat.name, errorIsDeath) },
  "loses a cancel": { masterStore: withBucket(jobs.name, forgettingCancels) },
  "never looks for a cancel": { masterStore: withBucket(jobs.name, overlookingCancels) },
};

/** Every planted bug as a scenario, by what it does wrong. */
export const plantedJobBugs: readonly { bug: string; scenario: Scenario }[] = Object
  .entries(jobBugs).map(([bug, variant]) => ({ bug, scenario: jobsScenario(variant) }));

/** Replaces methods of one bucket. */
function withBucket(
  name: string,
  change: (bucket: Bucket, clock: Clock) => Partial<Bucket>,
): (store: Store, clock: Clock) => Store {
  return (store, clock) => ({
    ...store,
    bucket(each) {
      const bucket = store.bucket(each);
      return each === name ? withMethods(bucket, change(bucket, clock)) : bucket;
    },
  });
}

function hasty(bucket: Bucket): Partial<Bucket> {
  return {
    update(key, value, revision) {
      void bucket.update(key, value, revision).catch(() => {});
      return Promise.resolve({ outcome: "ok", revision: revision + 1n });
    },
  };
}

function unfenced(bucket: Bucket): Partial<Bucket> {
  return { update: (key, value) => bucket.put(key, value) };
}

function trusting(bucket: Bucket): Partial<Bucket> {
  return {
    async update(key, value, revision): Promise<WriteResult> {
      const entry = await bucket.get(key);
      return entry?.revision === revision ? await bucket.put(key, value) : { outcome: "conflict" };
    },
  };
}

/** The operator still listens when a second is over. */
function timeoutIsFailure(bucket: Bucket, clock: Clock): Partial<Bucket> {
  const failure = async (key: string) => {
    await clock.sleep(1_000);
    throw new ZesterError("store_refused", `${key}: the store has not taken it`);
  };
  return { create: (key, value) => Promise.race([bucket.create(key, value), failure(key)]) };
}

function unclearIsDone(bucket: Bucket): Partial<Bucket> {
  return {
    async put(key, value) {
      const written = await bucket.put(key, value);
      return written.outcome === "unknown" ? { outcome: "ok", revision: 0n } : written;
    },
  };
}

function errorIsDeath(bucket: Bucket): Partial<Bucket> {
  return { keys: (prefix) => bucket.keys(prefix).catch(() => []) };
}

/** The cancel is told to whoever listens, and then forgotten. */
function forgettingCancels(bucket: Bucket): Partial<Bucket> {
  return {
    put: (key, value) =>
      key.startsWith("cancel.")
        ? Promise.resolve({ outcome: "ok", revision: 1n })
        : bucket.put(key, value),
  };
}

function overlookingCancels(bucket: Bucket): Partial<Bucket> {
  return {
    get: (key, options) =>
      key.startsWith("cancel.") ? Promise.resolve(null) : bucket.get(key, options),
  };
}

/** What a stranger returns is taken for the return of a target that has not answered. */
function countingStrangers(inner: Bus, history: JobsHistory): Bus {
  return {
    publish: (subject, data, options) => inner.publish(subject, data, options),
    subscribe: (subject, handler, options) =>
      inner.subscribe(subject, (message) => handler(asTarget(message, history)), options),
    request: (subject, data, options) => inner.request(subject, data, options),
    flush: (timeoutMs) => inner.flush(timeoutMs),
    inbox: () => inner.inbox(),
    get connected() {
      return inner.connected;
    },
  };
}

function asTarget(message: Message, history: JobsHistory): Message {
  const about = subjects.return.parse(message.subject);
  const targets = history.last(about?.jid ?? "")?.job.targets ?? [];
  if (about === null || targets.includes(about.peel)) return message;
  const silent = targets.find((peel) => !history.finished.get(about.jid)?.has(peel));
  if (silent === undefined) return message;
  const subject = subjects.return.of({ jid: about.jid, peel: silent });
  const data = encodeReturn({ ...decodeReturn(message.data), peelId: silent });
  const identity = { signer: peelSigner(silent), generation: FIRST_GENERATION };
  const context = { domain: subjects.return.domain ?? "", subject };
  const headers = sealed(identity, context, data, RUN_BEGINS_MS + history.nowMs);
  return { ...message, subject, data, headers };
}

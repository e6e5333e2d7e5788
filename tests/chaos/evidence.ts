/** Reads what a run has left: records, index, stream, kept returns and the peels' own logs; and waits until it agrees. */
import assert from "node:assert/strict";
import { systemClock } from "../../core/adapters/system_clock.ts";
import { systemRandom } from "../../core/adapters/system_random.ts";
import { buckets, streams } from "../../core/buckets.ts";
import { REPLAY_BATCH, REPLAY_MS_MAX, REPLAY_WAIT_MS } from "../../core/limits.ts";
import type { Store, StoredMessage } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import type { Job } from "../../core/wire/job.ts";
import { decodeReturn, type Return } from "../../core/wire/return.ts";
import { type JobStore, jobStore } from "../../master/jobs/store.ts";
import { pause } from "../contract/target.ts";
import { compare, type Evidence, pairOf } from "./compare.ts";
import type { Lab } from "./lab.ts";
import type { Order } from "./operator.ts";

const POLL_MS = 500;
/** A replica that was away may still be behind when nothing moves any more. */
const REPLICAS_MS = 15_000;

/** All that there is about the jobs of this fleet. */
export async function readEvidence(lab: Lab, orders: readonly Order[]): Promise<Evidence> {
  const jobs = jobStore(lab.store, systemClock, systemRandom);
  const records = await readRecords(jobs);
  const messages = await readStream(lab.store);
  const index = await jobs.active();
  return {
    accepted: orders.filter(({ master }) => master !== null).map(({ job }) => job.jid),
    told: new Map(orders.flatMap(({ job, end }) => {
      return end?.kind === "done" ? [[job.jid, end.status]] : [];
    })),
    records,
    active: index.map(({ jid }) => jid).filter((jid) => records.has(jid)),
    dispatched: new Set(messages.flatMap(({ subject }) => {
      return subjects.jobDispatched.parse(subject)?.jid ?? [];
    })),
    kept: await readKept(lab.store),
    said: readSaid(messages),
    executions: await lab.executions(),
  };
}

async function readRecords(jobs: JobStore): Promise<Map<string, Job>> {
  const records = new Map<string, Job>();
  for (const jid of await jobs.jids()) {
    const job = await jobs.read(jid, { leader: true });
    if (job !== null) records.set(jid, { ...job, targets: [...await jobs.targets(job)] });
  }
  return records;
}

async function readKept(store: Store): Promise<Map<string, Return>> {
  const returns = store.bucket(buckets.jobReturns.name);
  const kept = new Map<string, Return>();
  for (const key of await returns.keys()) {
    const entry = await returns.get(key, { leader: true });
    if (entry === null) continue;
    const given = decodeReturn(entry.value);
    kept.set(pairOf(given.jid, given.peelId), given);
  }
  return kept;
}

async function readStream(store: Store): Promise<StoredMessage[]> {
  const consumer = await store.stream(streams.jobEvents.name).consumer({
    deliver: "all",
    ackWaitMs: REPLAY_MS_MAX * 2,
    maxAckPending: Number.MAX_SAFE_INTEGER,
    inactiveMs: REPLAY_MS_MAX,
  });
  try {
    const { pending } = await consumer.info();
    const messages: StoredMessage[] = [];
    while (messages.length < pending) {
      const some = await consumer.fetch({ max: REPLAY_BATCH, waitMs: REPLAY_WAIT_MS });
      if (some.length === 0) throw new Error(`${messages.length} of ${pending} messages came`);
      messages.push(...some);
    }
    return messages;
  } finally {
    await consumer.delete();
  }
}

function readSaid(messages: readonly StoredMessage[]): Map<string, Return[]> {
  const said = new Map<string, Return[]>();
  for (const { subject, data } of messages) {
    const from = subjects.return.parse(subject);
    if (from === null) continue;
    const pair = pairOf(from.jid, from.peel);
    said.set(pair, [...said.get(pair) ?? [], decodeReturn(data)]);
  }
  return said;
}

/**
 * Waits until everything has ended and agrees, then stops the fleet and looks again: what comes late must not undo it. Fails with
 * the findings that stay.
 */
export async function settle(
  lab: Lab,
  orders: readonly Order[],
  withinMs: number,
): Promise<Evidence> {
  await agreement(lab, orders, withinMs);
  await lab.stopMembers();
  const evidence = await agreement(lab, orders, REPLICAS_MS);
  assert.ok(!(evidence instanceof Error), String(evidence));
  assert.deepEqual(compare(evidence), []);
  return evidence;
}

/** The first evidence without findings; when the time is over, the last one, or why there is none. */
async function agreement(
  lab: Lab,
  orders: readonly Order[],
  withinMs: number,
): Promise<Evidence | Error> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    // A server that is just coming back may not answer: that is no verdict yet.
    const found = await readEvidence(lab, orders).catch((error: Error) => error);
    const agrees = !(found instanceof Error) && compare(found).length === 0;
    if (agrees || performance.now() > deadlineMs) return found;
    await pause(POLL_MS);
  }
}

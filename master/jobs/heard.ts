/** What was heard of a job before this master took it: stored returns first, then what only the stream has. */
import { streams } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import { REPLAY_BATCH, REPLAY_MS_MAX, REPLAY_WAIT_MS } from "../../core/limits.ts";
import type { Consumer, Delivery } from "../../core/ports.ts";
import { everythingAboutJob, subjects } from "../../core/subjects.ts";
import { decodeAck } from "../../core/wire/ack.ts";
import type { Return } from "../../core/wire/return.ts";
import type { HeardBefore } from "../watch/plan.ts";
import { type AnswerPorts, openAnswer } from "./answers.ts";
import { storedReturns } from "./returns.ts";
import type { Store } from "../../core/ports.ts";
import { decodePeelReturn } from "./peel_return.ts";

export interface HeardPorts extends AnswerPorts {
  readonly store: Store;
}

/** Acks and returns of a job, as far as they are stored anywhere. The first real return of each peel counts. */
export async function heardBefore(jid: string, ports: HeardPorts): Promise<HeardBefore> {
  const returns = new Map<string, Return>();
  const acked = new Set<string>();
  for (const given of await storedReturns(jid, ports.store)) returns.set(given.peelId, given);
  for (const message of await replay(jid, ports)) {
    const at = { ...ports, atMs: message.storedMs };
    if (subjects.ack.parse(message.subject) !== null) {
      const given = openAnswer(message, subjects.ack, decodeAck, at);
      if (given !== null) acked.add(given.peel);
    } else if (subjects.return.parse(message.subject) !== null) {
      const given = openAnswer(message, subjects.return, decodePeelReturn, at);
      if (given !== null && isNews(returns.get(given.peel))) returns.set(given.peel, given.value);
    }
  }
  return { acked: [...acked], returns: [...returns.values()] };
}

function isNews(known: Return | undefined): boolean {
  return known === undefined || known.unreachable === true;
}

/** All messages about the job in the stream, read through a consumer that goes away afterwards. */
async function replay(jid: string, { store, clock }: HeardPorts): Promise<Delivery[]> {
  const consumer = await store.stream(streams.jobEvents.name).consumer({
    filter: everythingAboutJob(jid),
    deliver: "all",
    ackWaitMs: REPLAY_MS_MAX * 2, // none comes twice while we read
    maxAckPending: Number.MAX_SAFE_INTEGER,
    inactiveMs: REPLAY_MS_MAX,
  });
  try {
    return await readAll(consumer, clock.monotonic() + REPLAY_MS_MAX, () => clock.monotonic());
  } finally {
    await consumer.delete().catch(() => {}); // it goes away by itself
  }
}

/** All or nothing: a fetch without answer looks like one without messages, and what it missed may be what counts. */
async function readAll(
  consumer: Consumer,
  untilMs: number,
  nowMs: () => number,
): Promise<Delivery[]> {
  const { pending } = await consumer.info();
  const messages: Delivery[] = [];
  while (messages.length < pending && nowMs() < untilMs) {
    const some = await consumer.fetch({ max: REPLAY_BATCH, waitMs: REPLAY_WAIT_MS });
    if (some.length === 0) break;
    messages.push(...some);
  }
  if (messages.length >= pending) return messages;
  throw new ZesterError(
    "timeout",
    `replay of a job: ${messages.length} of ${pending} messages came in time`,
  );
}

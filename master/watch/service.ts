/** Listens to the acks and returns of one job, passes them on to its operator, and ends it. */
import { isZesterError, toZesterError } from "../../core/errors.ts";
import { ingest, type Keyring } from "../../core/ingress.ts";
import { FOLLOW_BATCH_BYTES_MAX, FOLLOW_BATCH_MAX, FOLLOW_BATCH_MS } from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Bus, Clock, Message, Store, Timer } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeAck } from "../../core/wire/ack.ts";
import type { FollowEvent } from "../../core/wire/follow.ts";
import type { Job } from "../../core/wire/job.ts";
import { decodeReturn, type Return } from "../../core/wire/return.ts";
import { finishJob } from "../dispatch/claim.ts";
import { hearAck, hearReturn, isComplete, startWatch, verdict } from "./plan.ts";

export interface WatchPorts {
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface Watcher {
  /** Resolves when the job has ended here, or the watch was stopped. */
  readonly done: Promise<void>;
  /** Stops listening; the job stays as it is in the store. */
  stop(): void;
}

/** Starts to watch. Live before it returns, so nothing that is published afterwards is missed. */
export function watchJob(job: Job, tell: (event: FollowEvent) => void, ports: WatchPorts): Watcher {
  const { bus, clock } = ports;
  const { jid } = job;
  const state = startWatch(job.targets);
  const { promise: done, resolve: end } = Promise.withResolvers<void>();
  const acks = batcher<string>(clock, (peels) => tell({ kind: "acks", jid, peels }));
  const returns = batcher<Return>(clock, (some) => tell({ kind: "returns", jid, returns: some }));
  let over = false;

  function finish(finalize: boolean): void {
    if (over) return;
    over = true;
    for (const part of [ackSubscription, returnSubscription]) part.unsubscribe();
    deadline.cancel();
    acks.flush();
    returns.flush();
    if (finalize) conclude().finally(end);
    else end();
  }

  async function conclude(): Promise<void> {
    const { status, returnCount, successCount, missing } = verdict(state);
    tell({ kind: "done", jid, status, returnCount, successCount, missing });
    const record = { ...job, status, returnCount, successCount, updatedMs: clock.now() };
    const written = await finishJob(record, ports.store).catch((thrown) =>
      toZesterError(thrown, "finish")
    );
    if (written !== true) {
      ports.log.warn("end of job not stored", { jid, status, cause: written || "superseded" });
    }
  }

  const ackSubscription = bus.subscribe(subjects.ack.filter({ jid }), (message) => {
    const given = opened(message, subjects.ack, decodeAck, ports);
    if (given === null) return;
    const heard = hearAck(state, given.peel);
    if (heard === "first") acks.add(given.peel, given.peel.length);
    if (heard === "stranger") ports.metrics.returns.inc({ result: "stranger" });
  });
  const returnSubscription = bus.subscribe(subjects.return.filter({ jid }), (message) => {
    const given = opened(message, subjects.return, decodeReturn, ports);
    if (given === null) return;
    const heard = hearReturn(state, given.peel, given.value);
    ports.metrics.returns.inc({ result: heard });
    if (heard === "first") returns.add(given.value, message.data.length);
    if (isComplete(state)) finish(true);
  });
  const deadline = clock.after(
    Math.max(0, (job.deadlineMs ?? 0) - clock.now()),
    () => finish(true),
  );
  return { done, stop: () => finish(false) };
}

/** Verifies and decodes what a peel says about this job; its words must agree with the subject. */
function opened<T extends { jid: string; peelId: string }>(
  message: Message,
  rule: typeof subjects.ack | typeof subjects.return,
  decode: (bytes: Uint8Array) => T,
  { keyring, clock, metrics, log }: WatchPorts,
): { peel: string; value: T } | null {
  const door = ingest(message, { rule: rule as typeof subjects.ack, keyring, nowMs: clock.now() });
  if (!door.ok) {
    metrics.ingressRefused.inc({ reason: door.reason });
    log.warn("answer refused", { reason: door.reason, detail: door.detail });
    return null;
  }
  try {
    const value = decode(door.payload);
    const { jid, peel } = door.fields;
    if (value.jid === jid && value.peelId === peel) return { peel, value };
    metrics.ingressRefused.inc({ reason: "misaddressed" });
    log.warn("answer refused", { reason: "misaddressed", peel, claims: value.peelId });
  } catch (thrown) {
    if (!isZesterError(thrown)) throw thrown;
    metrics.ingressRefused.inc({ reason: "decode_failed" });
    log.warn("answer refused", { reason: "decode_failed", detail: thrown.message });
  }
  return null;
}

interface Batcher<T> {
  add(item: T, bytes: number): void;
  flush(): void;
}

/** Gathers what comes within a few milliseconds into one message: a large fleet then costs few. */
function batcher<T>(clock: Clock, send: (items: T[]) => void): Batcher<T> {
  let items: T[] = [];
  let bytes = 0;
  let timer: Timer | undefined;
  function flush(): void {
    timer?.cancel();
    timer = undefined;
    const ready = items;
    items = [];
    bytes = 0;
    if (ready.length > 0) send(ready);
  }
  return {
    flush,
    add(item, size) {
      if (bytes + size > FOLLOW_BATCH_BYTES_MAX) flush();
      items.push(item);
      bytes += size;
      if (items.length >= FOLLOW_BATCH_MAX) flush();
      else timer ??= clock.after(FOLLOW_BATCH_MS, flush);
    },
  };
}

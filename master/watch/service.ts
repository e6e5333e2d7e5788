/**
 * Watches one job that this master owns: tells peels, listens, stores what comes back, tells the operator, ends the job.
 * It owns the job at one epoch. When the store says that somebody else has written the record since, it stops in silence.
 */
import { streams } from "../../core/buckets.ts";
import { toZesterError } from "../../core/errors.ts";
import {
  ACK_HOLD_MS,
  ACKS_HELD_BYTES_MAX,
  ACKS_HELD_MAX,
  FOLLOW_ALIVE_MS,
  STORE_RETRY_MS,
  WATCH_RETRY_MS_MAX,
} from "../../core/limits.ts";
import type { Message, Timer } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeAck } from "../../core/wire/ack.ts";
import type { FollowEvent } from "../../core/wire/follow.ts";
import { encodeJobEvent } from "../../core/wire/job_event.ts";
import type { Job } from "../../core/wire/job.ts";
import { encodeReturn, type Return } from "../../core/wire/return.ts";
import { batcher, type BatchLimits } from "../jobs/batcher.ts";
import { openAnswer } from "../jobs/answers.ts";
import type { JobPorts } from "../jobs/ports.ts";
import { heardBefore } from "../jobs/heard.ts";
import { publishRequests } from "../jobs/requests.ts";
import { returnWriter } from "../jobs/returns.ts";
import {
  hasReturned,
  hearAck,
  type HeardBefore,
  hearReturn,
  recall,
  startWatch,
  step,
  type Verdict,
  verdict as verdictOf,
  type WatchAction,
} from "./plan.ts";
import { decodePeelReturn } from "../jobs/peel_return.ts";

export interface Watcher {
  readonly jid: string;
  /** Resolves when the job has ended here, was taken over by another master, or was handed over. */
  readonly done: Promise<void>;
  /** The operator wants it to end. */
  cancel(by: string): void;
  /** Adds somebody who is told what was heard and what happens from now on; false when the end was told already. */
  follow(tell: (event: FollowEvent) => void): boolean;
  /** After a loss of connection: whether the job is still ours. If not, the watch ends. */
  verify(): Promise<void>;
  /** Graceful stop: stores what came in and lets go, so that another master can go on. */
  handOver(): Promise<void>;
}

export interface WatchStart {
  readonly job: Job;
  readonly targets: readonly string[];
  /** For a job that was taken over: what was heard of it before. Read after we listen, so that nothing falls in between. */
  recall?(): Promise<HeardBefore>;
}

/** Bounded, since nothing of what is held was verified: whoever sends more has it looked at earlier. */
const HELD_ACKS: BatchLimits = {
  itemsMax: ACKS_HELD_MAX,
  bytesMax: ACKS_HELD_BYTES_MAX,
  waitMs: ACK_HOLD_MS,
};

function bytesOf({ data, headers }: Message): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length, data.length);
}

/** Starts to watch. It listens before it tells anybody, so that nothing is missed. */
export function watchJob({ job, targets, recall: before }: WatchStart, ports: JobPorts): Watcher {
  const { bus, clock, log, metrics, jobs } = ports;
  const { jid } = job;
  const state = startWatch(job, targets);
  const { promise: done, resolve: end } = Promise.withResolvers<void>();
  const followers = new Set<(event: FollowEvent) => void>();
  const tell = (event: FollowEvent): void => followers.forEach((each) => each(event));
  const acks = batcher<Message>(clock, hearAcks, HELD_ACKS);
  const returns = batcher<Return>(clock, (some) => tell({ kind: "returns", jid, returns: some }));
  const writer = returnWriter(ports);
  let timer: Timer | undefined;
  let phase: "recalling" | "watching" | "ending" | "over" = before === undefined
    ? "watching"
    : "recalling";
  let turn: Promise<void> = Promise.resolve();

  /** A job that was taken over starts with what is stored about it; until that could be read, nobody is told anything. */
  async function begin(load: () => Promise<HeardBefore>): Promise<void> {
    for (
      let waitMs = STORE_RETRY_MS;
      phase === "recalling";
      waitMs = Math.min(waitMs * 2, WATCH_RETRY_MS_MAX)
    ) {
      try {
        recall(state, await load(), clock.now());
        for (const given of state.returns.values()) writer.add(given);
        if (phase === "recalling") phase = "watching";
        return advance();
      } catch (thrown) {
        log.warn("what was heard before is not known yet", {
          jid,
          error: toZesterError(thrown, "recall"),
        });
        await clock.sleep(waitMs);
      }
    }
  }

  /** Somebody may be told again or given up now: not before all acks that came were heard. */
  function wake(): void {
    acks.flush();
    advance();
  }

  /** Acts one step after another: two may never publish or finish at the same time. */
  function advance(): void {
    if (phase !== "watching") return;
    const { actions, wakeMs } = step(state, jid, clock.now());
    timer?.cancel();
    if (wakeMs !== Infinity) timer = clock.after(Math.max(0, wakeMs - clock.now()), wake);
    if (actions.some((action) => action.do === "finish")) phase = "ending";
    turn = turn.then(() => perform(actions)).catch((thrown) => {
      log.error("watch failed", { jid, error: toZesterError(thrown, "watch") });
    });
  }

  async function perform(actions: readonly WatchAction[]): Promise<void> {
    for (const action of actions) {
      if (phase === "over") return;
      switch (action.do) {
        case "send":
          log.debug("job sent", { jid, peels: action.peels.length, why: action.why });
          await send(action.peels);
          break;
        case "give_up":
          log.warn("targets unreachable", { jid, peels: action.returns.length, why: action.why });
          // A real return may have come since this was decided: it stays.
          for (const given of action.returns) {
            if (state.returns.get(given.peelId) === given) keep(given);
          }
          break;
        case "finish":
          await finish(action.verdict);
          break;
      }
    }
  }

  let sentOnce = false;
  let endTold = false;

  /** The first time right after the record was written, the job is surely ours; later it is looked up first. */
  async function send(peels: readonly string[]): Promise<void> {
    if (sentOnce && !await isOurs()) return;
    sentOnce = true;
    await publishRequests(job, peels, { ...ports, isOver: () => phase === "over" });
  }

  /** Asks until the store answers: neither yes nor no may be assumed. */
  async function isOurs(): Promise<boolean> {
    for (
      let waitMs = STORE_RETRY_MS;
      phase !== "over";
      waitMs = Math.min(waitMs * 2, WATCH_RETRY_MS_MAX)
    ) {
      try {
        const found = await jobs.read(jid, { leader: true });
        if (found?.epoch === job.epoch) return true;
        log.warn("job was taken over", {
          jid,
          epoch: job.epoch,
          found: found?.epoch,
          owner: found?.owner,
        });
        close();
      } catch (thrown) {
        log.debug("owner not known yet", { jid, error: toZesterError(thrown, "verify") });
        await clock.sleep(waitMs);
      }
    }
    return false;
  }

  /** Tries until it works or the watch is over: these must not be left undone because the store is away for a moment. */
  async function untilDone(what: string, attempt: () => Promise<void>): Promise<void> {
    let waitMs = STORE_RETRY_MS;
    while (phase !== "over") {
      try {
        return await attempt();
      } catch (thrown) {
        log.warn(`${what}: not yet`, { jid, error: toZesterError(thrown, what) });
      }
      await clock.sleep(waitMs);
      waitMs = Math.min(waitMs * 2, WATCH_RETRY_MS_MAX);
    }
  }

  function keep(given: Return): void {
    writer.add(given);
    returns.add(given, encodeReturn(given).length);
  }

  /** Takes in acks that waited a moment. Those whose verified return has come since are dropped unopened: it says more. */
  function hearAcks(held: readonly Message[]): void {
    const peels: string[] = [];
    for (const message of held) {
      const { peel = "" } = subjects.ack.parse(message.subject) ?? {};
      if (hasReturned(state, peel)) continue;
      const given = openAnswer(message, subjects.ack, decodeAck, ports);
      if (given === null) continue;
      const heard = hearAck(state, given.peel, clock.now());
      if (heard === "first") peels.push(given.peel);
      if (heard === "stranger") metrics.returns.inc({ result: "stranger" });
    }
    if (peels.length > 0) tell({ kind: "acks", jid, peels });
  }

  /**
   * What we did not hear may be stored all the same: a cancel, or a return, since a peel is content once the stream has it. So
   * whoever was cut off, or is about to say that somebody did not answer, looks there first.
   */
  async function catchUp(): Promise<void> {
    state.canceledBy ??= await jobs.cancelRequested(jid);
    const { acked, returns: stored } = await heardBefore(jid, ports);
    for (const peel of acked) hearAck(state, peel, clock.now());
    for (const given of stored) {
      if (given.unreachable || hearReturn(state, given.peelId, given, clock.now()) !== "first") {
        continue;
      }
      keep(given);
    }
  }

  function isShort(): boolean {
    return [...state.targets].some((peel) => !hasReturned(state, peel));
  }

  async function finish(early: Verdict): Promise<void> {
    if (isShort()) await untilDone("look for stored returns", catchUp);
    stopListening();
    acks.flush();
    returns.flush();
    const verdict = verdictOf(state, early.reason);
    await writer.flush();
    await ports.failPoints.hit("watch.before_finish");
    const written = await storeEnd(verdict);
    if (!written) return close();
    const { status, returnCount, successCount, missing } = verdict;
    tell({ kind: "done", jid, status, returnCount, successCount, missing });
    endTold = true;
    await ports.failPoints.hit("watch.finished");
    await jobs.unindex(jid).catch((thrown) => { // the scan removes it
      log.debug("index not cleared", { jid, error: toZesterError(thrown, "unindex") });
    });
    metrics.jobs.inc({ status });
    metrics.jobSeconds.observe((clock.now() - job.createdMs) / 1_000);
    await publishStatus(job, verdict, ports);
    close();
  }

  /** Until the store has it or says that the job is not ours: an end that was told must be an end that is kept. */
  async function storeEnd(
    { status, returnCount, successCount, reason }: Verdict,
  ): Promise<boolean> {
    const metadata = { ...job.metadata, ended_because: reason };
    const record: Job = {
      ...job,
      status,
      returnCount,
      successCount,
      metadata,
      updatedMs: clock.now(),
    };
    for (let waitMs = STORE_RETRY_MS;; waitMs = Math.min(waitMs * 2, WATCH_RETRY_MS_MAX)) {
      if (phase === "over") return false;
      try {
        return (await jobs.commit(record)).ours;
      } catch (thrown) {
        log.warn("end of job not stored yet", { jid, error: toZesterError(thrown, "finish") });
      }
      await clock.sleep(waitMs);
    }
  }

  function stopListening(): void {
    timer?.cancel();
    for (const part of listening) part.unsubscribe();
  }

  function close(): void {
    if (phase === "over") return;
    phase = "over";
    stopListening();
    alive.cancel();
    followers.clear();
    end();
  }

  const listening = [
    bus.subscribe(
      subjects.ack.filter({ jid }),
      (message) => acks.add(message, bytesOf(message)),
    ),
    bus.subscribe(subjects.return.filter({ jid }), (message) => {
      const given = openAnswer(message, subjects.return, decodePeelReturn, ports);
      if (given === null || phase === "ending" || phase === "over") return;
      const heard = hearReturn(state, given.peel, given.value, clock.now());
      metrics.returns.inc({ result: heard });
      if (heard !== "first") return;
      writer.add(given.value);
      returns.add(given.value, message.data.length);
      if (state.pace !== null || state.returns.size >= state.targets.size) advance();
    }),
  ];
  const alive = clock.every(FOLLOW_ALIVE_MS, () => tell({ kind: "alive", jid }));
  if (before === undefined) advance();
  else void begin(before);

  return {
    jid,
    done,
    cancel(by) {
      state.canceledBy ??= by;
      advance();
    },
    follow(listener) {
      if (endTold || phase === "over") return false;
      const missed = batcher<Return>(
        clock,
        (some) => listener({ kind: "returns", jid, returns: some }),
      );
      if (state.acked.size > 0) listener({ kind: "acks", jid, peels: [...state.acked] });
      for (const given of state.returns.values()) missed.add(given, encodeReturn(given).length);
      missed.flush();
      followers.add(listener);
      return true;
    },
    async verify() {
      if (phase !== "watching" && phase !== "recalling") return;
      if (!await isOurs() || phase !== "watching") return;
      await untilDone("look for stored returns", catchUp);
      advance();
    },
    async handOver() {
      if (phase === "ending" || phase === "over") return await done;
      stopListening();
      acks.flush();
      returns.flush();
      await turn;
      await writer.flush();
      if (phase === "watching" || phase === "recalling") await release(job, ports);
      close();
    },
  };
}

/** Gives the job back: a record without an owner is taken over at the next scan of any master, without waiting. */
async function release(job: Job, { jobs, clock, log }: JobPorts): Promise<void> {
  const { owner: _, ...ownerless } = job;
  const released = await jobs.commit({ ...ownerless, updatedMs: clock.now() });
  if (released.ours) await jobs.index(job.jid, undefined);
  log.info("job handed over", { jid: job.jid, ours: released.ours });
}

/** For the record, and for whoever follows the job elsewhere. Best effort: the stored record is what counts. */
async function publishStatus(job: Job, verdict: Verdict, ports: JobPorts): Promise<void> {
  const { status, returnCount, successCount, reason } = verdict;
  const subject = subjects.jobStatus.of({ jid: job.jid });
  const payload = encodeJobEvent({
    jid: job.jid,
    type: status === "failed" || status === "canceled" || status === "timeout"
      ? status
      : "completed",
    data: { status, returns: returnCount, successes: successCount, reason },
    timestampMs: ports.clock.now(),
  });
  const headers = ports.voice.headers(subjects.jobStatus, subject, payload);
  const stored = await ports.store.stream(streams.jobEvents.name)
    .append(subject, payload, { headers, messageId: `${job.jid}.status.${job.epoch}` })
    .catch((thrown) => ({ outcome: toZesterError(thrown, "status").code }));
  if (stored.outcome !== "ok") {
    ports.log.warn("status event not stored", { jid: job.jid, outcome: stored.outcome });
  }
}

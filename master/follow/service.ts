/**
 * Follows a job for an operator, whoever owns it: what is stored, what only the stream has, what comes in, and how it ended. It
 * decides nothing about the job; its owner does.
 */
import { toZesterError, ZesterError } from "../../core/errors.ts";
import { ingest } from "../../core/ingress.ts";
import { FOLLOW_ALIVE_MS, FOLLOW_OVERDUE_MS, FOLLOW_POLL_MS } from "../../core/limits.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeAck } from "../../core/wire/ack.ts";
import type { FollowEvent } from "../../core/wire/follow.ts";
import { isTerminal, type Job } from "../../core/wire/job.ts";
import type { Return } from "../../core/wire/return.ts";
import { tellAccepted } from "../jobs/accepted.ts";
import { openAnswer } from "../jobs/answers.ts";
import { batcher } from "../jobs/batcher.ts";
import { heardBefore } from "../jobs/heard.ts";
import type { JobPorts } from "../jobs/ports.ts";
import { fitting, type TargetPorts, targetStates } from "./target_state.ts";
import { decodePeelReturn } from "../jobs/peel_return.ts";

export type FollowPorts =
  & TargetPorts
  & Pick<JobPorts, "masterId" | "bus" | "enrolled" | "isUnheard">;

export interface JobFollower {
  /** Resolves when the end was told, or the follow was stopped. */
  readonly done: Promise<void>;
  stop(): void;
}

/** Starts to follow. The first word is `accepted` or `refused`, the last `done` or `refused`. */
export function followJob(
  jid: string,
  tell: (event: FollowEvent) => void,
  ports: FollowPorts,
): JobFollower {
  const { bus, clock, log } = ports;
  const { promise: done, resolve: end } = Promise.withResolvers<void>();
  const acked = new Set<string>();
  /** Peels whose return was told: whether it was made up by a master, and whether it is a success. */
  const told = new Map<string, { kind: "real" | "unreachable"; success: boolean }>();
  const acks = batcher<string>(clock, (peels) => tell({ kind: "acks", jid, peels }));
  const returns = batcher<Return>(clock, (some) => tell({ kind: "returns", jid, returns: some }));
  /** Null until the record was read: what comes before waits. */
  let targets: ReadonlySet<string> | null = null;
  const early: (() => void)[] = [];
  let looking = false;
  let lookAgain = false;
  let answeredBefore = false;
  let over = false;

  function whenKnown(take: () => void): void {
    if (targets === null) early.push(take);
    else take();
  }

  function hearAck(peel: string): void {
    if (over || !targets?.has(peel) || acked.has(peel)) return;
    acked.add(peel);
    acks.add(peel, peel.length);
  }

  function hearReturn(given: Return, bytes: number): void {
    const { peelId } = given;
    const kind = given.unreachable ? "unreachable" : "real";
    const before = told.get(peelId)?.kind;
    if (over || !targets?.has(peelId) || before === "real" || before === kind) return;
    told.set(peelId, { kind, success: given.success && given.error === undefined });
    returns.add(fitting(given), bytes);
  }

  function finish(last: FollowEvent | null): void {
    if (over) return;
    acks.flush();
    returns.flush();
    over = true;
    for (const part of listening) part.unsubscribe();
    for (const timer of timers) timer.cancel();
    if (last !== null) tell(last);
    end();
  }

  function fail(thrown: unknown): void {
    const { code, message, fix } = toZesterError(thrown, `follow job ${jid}`);
    finish({ kind: "refused", jid, code, message, ...(fix === undefined ? {} : { fix }) });
  }

  async function begin(): Promise<void> {
    const job = await ports.jobs.find(jid);
    if (job === null) throw new ZesterError("job_unknown", `no job ${jid}`);
    const all = await ports.jobs.targets(job);
    targets = new Set(all);
    tellAccepted(job, all, ports, tell);
    for (const take of early.splice(0)) take();
    if (isTerminal(job.status)) return await conclude(job);
    const before = await heardBefore(jid, ports);
    before.acked.forEach(hearAck);
    for (const given of before.returns) hearReturn(given, sizeOf(given));
    await look();
  }

  /** Looks at the record; one at a time, and once more if somebody asked meanwhile. */
  async function look(): Promise<void> {
    if (targets === null || over) return;
    if (looking) return void (lookAgain = true);
    looking = true;
    try {
      do {
        lookAgain = false;
        await lookOnce();
      } while (lookAgain && !over);
    } catch (thrown) {
      log.debug("followed job not read", { jid, error: toZesterError(thrown, "follow") });
    } finally {
      looking = false;
    }
  }

  async function lookOnce(): Promise<void> {
    const job = await ports.jobs.find(jid);
    if (over) return;
    if (job === null) return fail(new ZesterError("job_unknown", `job ${jid} is gone`));
    if (isTerminal(job.status)) return await conclude(job);
    const deadlineMs = job.deadlineMs ?? job.createdMs + job.timeoutMs;
    // In time only: once its time is over, the end may be stored without those that came late.
    if (allHaveAnswered() && clock.now() < deadlineMs) {
      if (answeredBefore) return concludeWithoutOwner();
      answeredBefore = true; // its owner, if there is one, has until the next look to store the end
    }
    if (clock.now() < deadlineMs + FOLLOW_OVERDUE_MS) return;
    fail(
      new ZesterError("timeout", `job ${jid}: its time is over, and no master has stored its end`),
    );
  }

  function allHaveAnswered(): boolean {
    const real = [...told.values()].filter(({ kind }) => kind === "real").length;
    return targets !== null && real === targets.size;
  }

  /** Once every target has answered, how the job ends follows from that, also while nobody owns it. */
  function concludeWithoutOwner(): void {
    const returnCount = told.size;
    const successCount = [...told.values()].filter(({ success }) => success).length;
    const status = successCount === returnCount ? "complete" : "failed";
    finish({ kind: "done", jid, status, returnCount, successCount, missing: [] });
  }

  /** The stored end counts; what was not heard on the way is looked up for each target. */
  async function conclude(job: Job): Promise<void> {
    const open = [...targets ?? []].filter((peel) => told.get(peel)?.kind !== "real");
    const states = await targetStates(job, open, ports);
    if (over) return;
    for (const { return: given } of states) {
      if (given !== undefined) hearReturn(given, sizeOf(given));
    }
    const missing = states.filter((each) => each.return === undefined)
      .map(({ peel, reason = "no answer" }) => ({ peel, reason }));
    const { status, returnCount = 0, successCount = 0 } = job;
    finish({ kind: "done", jid, status, returnCount, successCount, missing });
  }

  const listening = [
    bus.subscribe(subjects.ack.filter({ jid }), (message) => {
      const given = openAnswer(message, subjects.ack, decodeAck, ports);
      if (given !== null) whenKnown(() => hearAck(given.peel));
    }),
    bus.subscribe(subjects.return.filter({ jid }), (message) => {
      const given = openAnswer(message, subjects.return, decodePeelReturn, ports);
      if (given === null || given.value.unreachable) return; // only masters make those up, and they store them
      whenKnown(() => hearReturn(given.value, message.data.length));
    }),
    bus.subscribe(subjects.jobStatus.filter({ jid }), (message) => {
      const rule = subjects.jobStatus;
      // Only a hint to look at the record now; the record is what counts.
      if (ingest(message, { rule, keyring: ports.keyring, nowMs: clock.now() }).ok) look();
    }),
  ];
  const timers = [
    clock.every(FOLLOW_ALIVE_MS, () => tell({ kind: "alive", jid })),
    clock.every(FOLLOW_POLL_MS, () => void look()),
  ];
  begin().catch(fail);
  return { done, stop: () => finish(null) };
}

/** About the size on the wire, without encoding it again. */
function sizeOf(given: Return): number {
  return JSON.stringify(given.returnData?.results ?? []).length + (given.error?.length ?? 0);
}

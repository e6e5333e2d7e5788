/**
 * The promises that jobs are held to, each as a checker, with the numbers of the specification. The last one, I8, that all is
 * settled some time after the faults have ended, is what `settled` of the scenario says.
 */
import { MASTER_HEARTBEAT_TTL_MS, ORPHAN_MISSES, ORPHAN_SCAN_MS } from "../../core/limits.ts";
import { isTerminal, type Job } from "../../core/wire/job.ts";
import type { Return } from "../../core/wire/return.ts";
import type { JobsChecker, JobsEvent, JobsHistory } from "./jobs_history.ts";
import { RUN_BEGINS_MS } from "./node_clock.ts";
import { DRIFT_MAX } from "./world.ts";

/** All of them, fresh for one run. */
export function jobsCheckers(): JobsChecker[] {
  return [new EffectOnce(), new NeverLost(), new OneOwner(), new NoMoreThanKnown()];
}

type On<K extends JobsEvent["on"]> = Extract<JobsEvent, { on: K }>;

function violated(how: string): never {
  throw new Error(how);
}

/** At most once on a peel, whatever the epoch; and not at all once the peel has kept that it was canceled. */
class EffectOnce implements JobsChecker {
  readonly name = "I1 a job runs at most once on a peel";

  see(event: JobsEvent, history: JobsHistory): void {
    if (event.on !== "ran") return;
    const { jid, peel } = event;
    if (history.runsOf(jid).has(peel)) violated(`${peel} ran ${jid} again`);
    if (history.tombstones.get(jid)?.has(peel)) {
      violated(`${peel} began ${jid} after it had kept its cancel`);
    }
  }
}

/** How late a job may end after its deadline, or after a successor could take it over. */
const END_GRACE_MS = 60_000;
/** How long the owner of a job may be busy with storing another end than the one that was wished for. */
const CANCEL_GRACE_MS = 30_000;
const TAKEOVER_MS = MASTER_HEARTBEAT_TTL_MS + ORPHAN_MISSES * ORPHAN_SCAN_MS;

/** What was acknowledged, dispatch or cancel, takes its course. */
class NeverLost implements JobsChecker {
  readonly name = "I2 what was acknowledged is never lost";
  readonly #accepted = new Set<string>();
  readonly #canceled = new Set<string>();

  see(event: JobsEvent, history: JobsHistory): void {
    if (event.on === "accepted") this.#seeAccepted(event, history);
    if (event.on === "cancelAnswered") this.#seeCancel(event, history);
    if (event.on === "stored" && isTerminal(event.job.status)) this.#seeEnd(event, history);
  }

  #seeAccepted({ jid }: On<"accepted">, history: JobsHistory): void {
    this.#accepted.add(jid);
    const status = history.last(jid)?.job.status;
    if (status === undefined || status === "claimed") {
      violated(`${jid} was acknowledged while its record said ${status}`);
    }
  }

  #seeCancel({ jid, status }: On<"cancelAnswered">, history: JobsHistory): void {
    if (isTerminal(status)) return;
    this.#canceled.add(jid);
    if (!history.wishedMs.has(jid)) violated(`the cancel of ${jid} was taken, and is not stored`);
  }

  #seeEnd({ jid, job }: On<"stored">, history: JobsHistory): void {
    const lateMs = history.nowMs - latestEndMs(job, history);
    if (lateMs > 0) violated(`${jid} ended ${lateMs.toFixed(0)} ms too late, as ${job.status}`);
    if (job.status === "canceled") history.world.saw("cancel took effect");
    // Whoever has decided how a job ends may still be storing that: the wish then came too late.
    const knownMs = history.nowMs - (history.wishedMs.get(jid) ?? Infinity);
    if (this.#canceled.has(jid) && knownMs > CANCEL_GRACE_MS && !endsAsCanceled(job)) {
      violated(`${jid} was canceled ${knownMs.toFixed(0)} ms ago, and ended as ${job.status}`);
    }
  }

  atEnd(history: JobsHistory): void {
    for (const jid of [...this.#accepted, ...this.#canceled]) {
      const status = history.last(jid)?.job.status;
      if (status === undefined || !isTerminal(status)) violated(`${jid} is ${status} in the end`);
    }
  }
}

/** A job that all have answered, or that nobody was told of, has ended before its cancel could end it. */
function endsAsCanceled({ status, returnCount = 0, targets }: Job): boolean {
  return status === "canceled" || status === "not_sent" || returnCount >= targets.length;
}

/** By when a job must have ended, in true time. Its deadline is a time on clocks that are wrong, and faults excuse. */
function latestEndMs({ deadlineMs = 0 }: Job, { world }: JobsHistory): number {
  const skews = world.nodes.filter(({ spec }) => spec.role === "master")
    .map(({ clockErrors }) => clockErrors.skewMs);
  const dueMs = (deadlineMs - RUN_BEGINS_MS - Math.min(...skews)) * (1 + 2 * DRIFT_MAX);
  return Math.max(dueMs, (world.healedMs ?? Infinity) + TAKEOVER_MS) + END_GRACE_MS;
}

/** Whoever writes a record or commands a peel does so as the owner, at the revision that made it the owner. */
class OneOwner implements JobsChecker {
  readonly name = "I3 one owner at any revision";
  /** Of each master: which masters it has seen each time that it looked. */
  readonly #looks = new Map<string, ReadonlySet<string>[]>();

  see(event: JobsEvent, history: JobsHistory): void {
    if (event.on === "looked") {
      const before = this.#looks.get(event.master) ?? [];
      this.#looks.set(event.master, [event.live, ...before].slice(0, ORPHAN_MISSES));
    }
    if (event.on === "stored") this.#seeRecord(event, history);
    if (event.on === "commanded" || event.on === "ran") seeCommand(event, history);
  }

  #seeRecord({ jid, job, revision }: On<"stored">, history: JobsHistory): void {
    const before = history.last(jid);
    // A record names the revision that it was written over.
    if (job.epoch !== (before?.revision ?? 0n)) {
      violated(
        `${jid} at ${revision}: ${before?.revision} overwritten by one who knew ${job.epoch}`,
      );
    }
    if (before === undefined) {
      if (job.status !== "claimed") violated(`${jid} began as ${job.status}`);
      return;
    }
    const { status, owner } = before.job;
    if (isTerminal(status)) violated(`${jid} was ${status}, then ${job.status}`);
    if (status === "running" && job.status === "claimed") violated(`${jid} went back to claimed`);
    if (owner !== undefined && job.owner !== undefined && owner !== job.owner) {
      this.#seeTakeover(jid, owner, job.owner);
    }
  }

  /** Only from one that was missing each time that the new owner looked; what could not be read is no absence. */
  #seeTakeover(jid: string, from: string, by: string): void {
    const looks = this.#looks.get(by) ?? [];
    const isMissing = looks.length === ORPHAN_MISSES && looks.every((live) => !live.has(from));
    if (!isMissing) violated(`${by} took ${jid} from ${from}, which it had not missed`);
  }
}

function seeCommand(event: On<"commanded" | "ran">, history: JobsHistory): void {
  const { jid, epoch, peel } = event;
  const at = history.records.get(jid)?.find(({ revision }) => revision === epoch)?.job;
  if (at?.status !== "running") violated(`${peel} was told ${jid} at ${epoch}, not running then`);
  if (!at.targets.includes(peel)) violated(`${peel} was told ${jid}, which is not for it`);
  if (event.on === "commanded" && at.owner !== event.master) {
    violated(`${event.master} commands ${jid} at ${epoch}, which made ${at.owner} its owner`);
  }
}

/** The jobs of a run are in order; only the clocks may not be. */
const CLOCK_REFUSALS: ReadonlySet<string> = new Set(["clock_skew", "expired"]);

/** Nothing is stored or told that did not happen. */
class NoMoreThanKnown implements JobsChecker {
  readonly name = "I7 no status claims more than is known";
  readonly #done: On<"done">[] = [];
  readonly #refused = new Map<string, string>();

  see(event: JobsEvent, history: JobsHistory): void {
    switch (event.on) {
      case "kept":
        return seeReturn(event.given, "stored", history);
      case "returns":
        return event.returns.forEach((given) => seeReturn(given, "told", history));
      case "stored":
        if (this.#refused.has(event.jid)) violated(`${event.jid} was refused, and is stored`);
        return seeStatus(event.job, history);
      case "accepted":
        return seeTargets(event.jid, event.targets, history);
      case "done":
        this.#done.push(event);
        return seeCounts(event, history);
      case "refused":
        this.#refused.set(event.jid, event.code);
        if (history.records.has(event.jid)) {
          violated(`${event.jid} is stored, and was refused: ${event.code}`);
        }
    }
  }

  atEnd(history: JobsHistory): void {
    for (const [jid, code] of this.#refused) {
      if (!CLOCK_REFUSALS.has(code)) violated(`${jid}, which is right, was refused: ${code}`);
    }
    for (const { jid, status } of this.#done) {
      const stored = history.last(jid)?.job;
      // Whoever heard all answers may say so before, or without, a master that stores it: it is what happened.
      const isAll = history.successes(jid) === stored?.targets.length;
      if (stored?.status === status || (status === "complete" && isAll)) continue;
      violated(`the operator was told ${status} about ${jid}, stored is ${stored?.status}`);
    }
    for (const [jid, revisions] of history.records) seeEnd(jid, revisions.at(-1)?.job, history);
  }
}

function seeReturn(given: Return, how: string, history: JobsHistory): void {
  const { jid, peelId, success } = given;
  if (!history.last(jid)?.job.targets.includes(peelId)) {
    violated(`a return of ${peelId} was ${how} for ${jid}, which is not for it`);
  }
  if (success && history.finished.get(jid)?.get(peelId) !== true) {
    violated(`a success of ${peelId} was ${how} for ${jid}, which it never had`);
  }
}

function seeStatus(job: Job, history: JobsHistory): void {
  const { jid, status } = job;
  if ((status === "claimed" || status === "not_sent") && history.runsOf(jid).size > 0) {
    violated(`${jid} is ${status}, but a peel has run it`);
  }
  if (status === "canceled" && !history.wishedMs.has(jid)) {
    violated(`${jid} is canceled, and nobody wished it`);
  }
  seeTargets(jid, job.targets, history);
  seeCounts(job, history);
}

function seeCounts(
  job: Pick<Job, "jid" | "status" | "returnCount" | "successCount">,
  history: JobsHistory,
): void {
  const { jid, status, returnCount = 0, successCount = 0 } = job;
  const targets = history.asked.get(jid)?.targets.length ?? 0;
  const happened = history.successes(jid);
  if (returnCount > targets) violated(`${jid} has ${returnCount} returns of ${targets} targets`);
  if (successCount > happened) violated(`${jid} says ${successCount} successes, had ${happened}`);
  if (status === "complete" && successCount < targets) {
    violated(`${jid} is complete with ${successCount} successes of ${targets}`);
  }
}

function seeTargets(jid: string, targets: readonly string[], { asked }: JobsHistory): void {
  const wanted = asked.get(jid)?.targets.toSorted().join();
  const found = targets.toSorted().join();
  if (found !== wanted) violated(`${jid} is for ${found}, asked for was ${wanted}`);
}

/** What a record says in the end is what is stored beside it. */
function seeEnd(jid: string, job: Job | undefined, history: JobsHistory): void {
  const { status, successCount = 0, returnCount = 0 } = job ?? {};
  const kept = [...history.kept.get(jid)?.values() ?? []];
  const successes = kept.filter((given) => given.success).length;
  if (successCount > successes) {
    violated(`${jid} says ${successCount} successes, kept ${successes}`);
  }
  if (returnCount > kept.length) {
    violated(`${jid} says ${returnCount} returns, kept ${kept.length}`);
  }
  if (status === "not_sent" && history.runsOf(jid).size > 0) {
    violated(`${jid} is not_sent, and ran`);
  }
}

/**
 * Takes requests of operators: verify, decode, decide, claim, log, mark as running, and hand the job to its watcher, which tells
 * the peels. At each await the process may die: what is then in the store says what the next master does (`master/orphans/`).
 */
import { streams } from "../../core/buckets.ts";
import { isZesterError, toZesterError, ZesterError } from "../../core/errors.ts";
import { type Accepted, ingest, type Refused } from "../../core/ingress.ts";
import { CLAIM_WINDOW_MS } from "../../core/limits.ts";
import type { Message } from "../../core/ports.ts";
import type { Authorizer } from "../../core/roles.ts";
import { isInboxOf, subjects } from "../../core/subjects.ts";
import { encodeFollow, type FollowEvent } from "../../core/wire/follow.ts";
import { encodeJobEvent } from "../../core/wire/job_event.ts";
import { decodeJob, type Job } from "../../core/wire/job.ts";
import { versionProblem } from "../../core/wire/version.ts";
import { tellAccepted } from "../jobs/accepted.ts";
import type { JobPorts } from "../jobs/ports.ts";
import type { Watchers } from "../jobs/watchers.ts";
import { planDispatch, planExisting, type Refusal } from "./plan.ts";

export interface DispatchPorts extends JobPorts {
  readonly watchers: Watchers;
  readonly authorizer: Authorizer;
  /** Why this master should take no work now, or null. */
  unfit(): string | null;
  isOnline(peel: string): boolean;
  /** What a peel says of itself, if it has said anything; absent where nobody knows. */
  facts?(peel: string): Readonly<Record<string, unknown>> | undefined;
  /** Who matches a target, or why that cannot be said. */
  resolve(target: string): { targets: readonly string[] } | { refusal: Refusal };
  /** Follows a job that somebody else may own. */
  followElsewhere(jid: string, tell: (event: FollowEvent) => void): void;
}

export interface Dispatcher {
  /** Takes no more requests, and waits for those under way. */
  stop(): Promise<void>;
}

/** Starts to take requests, together with all other masters in the queue group. */
export function takeDispatches(ports: DispatchPorts): Dispatcher {
  const running = new Set<Promise<void>>();
  const { queue = "" } = subjects.dispatch;
  const subscription = ports.bus.subscribe(subjects.dispatch.filter(), (message) => {
    const work = handle(message, ports).catch((thrown) => {
      ports.log.error("dispatch failed", { error: toZesterError(thrown, "dispatch") });
    });
    running.add(work);
    work.finally(() => running.delete(work));
  }, { queue });
  return {
    async stop() {
      subscription.unsubscribe();
      await Promise.allSettled(running);
    },
  };
}

type Verified = Accepted<typeof subjects.dispatch.pattern>;

/**
 * Nobody is told whose signature is not good: the reply subject is theirs to choose. An operator whose clock is wrong is told,
 * or it would wait for nothing.
 */
function tellRefused(
  { reply }: Message,
  { sender, reason, detail }: Refused,
  ports: DispatchPorts,
) {
  if (sender === undefined || !isInboxOf(reply, "operator", sender.identity)) return;
  teller(reply, ports)({ kind: "refused", code: reason, message: detail });
}

async function handle(message: Message, ports: DispatchPorts): Promise<void> {
  const { keyring, clock, metrics, log } = ports;
  const door = ingest(message, { rule: subjects.dispatch, keyring, nowMs: clock.now() });
  if (!door.ok) {
    metrics.ingressRefused.inc({ reason: door.reason });
    if (door.isNews) log.warn("request refused", { reason: door.reason, detail: door.detail });
    return tellRefused(message, door, ports);
  }
  // Only to the sender's own inbox: otherwise we would carry its words to whoever it names.
  if (!isInboxOf(message.reply, "operator", door.sender.identity)) {
    metrics.ingressRefused.inc({ reason: "misaddressed" });
    return log.warn("request refused", { reason: "misaddressed", operator: door.sender.identity });
  }
  const tell = teller(message.reply, ports);
  try {
    await dispatch(door, tell, ports);
    metrics.dispatch.inc({ result: "accepted" });
  } catch (thrown) {
    const error = toZesterError(thrown, "dispatch");
    metrics.dispatch.inc({ result: "refused" });
    log.warn("dispatch refused", { operator: door.sender.identity, error });
    const { code, message, fix } = error;
    tell({ kind: "refused", code, message, ...(fix === undefined ? {} : { fix }) });
  }
}

async function dispatch(
  door: Verified,
  tell: (event: FollowEvent) => void,
  ports: DispatchPorts,
): Promise<void> {
  const asked = decodeJob(door.payload);
  const problem = versionProblem(asked);
  if (problem !== null) throw new ZesterError("decode_failed", `job ${asked.jid}: ${problem}`);
  const { jid } = asked;
  const operator = { name: door.sender.identity, role: door.sender.grantedRole };
  if (!ports.watchers.reserve(jid)) {
    throw new ZesterError(
      "claim_pending",
      `job ${jid} is being dispatched by this master right now`,
    );
  }
  try {
    const existing = await ports.jobs.read(jid);
    if (existing !== null) return await takeExisting(asked, operator.name, existing, tell, ports);
    const unfit = ports.unfit();
    if (unfit !== null) {
      throw new ZesterError("claim_pending", `this master takes no work: ${unfit}`);
    }
    const claimed = await claim(asked, operator, ports);
    if ("found" in claimed) {
      return await takeExisting(asked, operator.name, claimed.found, tell, ports);
    }
    await run(claimed.job, claimed.targets, tell, ports);
  } finally {
    ports.watchers.unreserve(jid);
  }
}

/** Steps 1 to 3: decide, put into the index, store as `claimed`. */
async function claim(
  asked: Job,
  operator: { name: string; role: string | undefined },
  ports: DispatchPorts,
): Promise<{ job: Job; targets: readonly string[] } | { found: Job | null }> {
  const resolved = ports.resolve(asked.targetExpr ?? "");
  if ("refusal" in resolved) throw refusalError(resolved.refusal);
  const { masterId, clock, jobs, failPoints } = ports;
  const view = {
    job: asked,
    operator,
    matched: resolved.targets,
    masterId,
    nowMs: clock.now(),
    isOnline: ports.isOnline,
    factsOf: (peel: string) => ports.facts?.(peel),
  };
  const decision = planDispatch(view, ports.authorizer);
  if (decision.do === "refuse") throw refusalError(decision.refusal);
  const { job, targets } = decision;
  await failPoints.hit("dispatch.planned");
  const indexedMs = clock.monotonic();
  await jobs.index(job.jid, masterId);
  await failPoints.hit("dispatch.indexed");
  const chunks = job.targets.length === targets.length
    ? 0
    : await jobs.saveTargets(job.jid, targets);
  // A record whose index entry is gone would be one that nobody finds: better to start again.
  if (clock.monotonic() - indexedMs > CLAIM_WINDOW_MS) {
    throw new ZesterError(
      "claim_pending",
      `job ${job.jid}: this master was held up before its claim`,
    );
  }
  const written = await jobs.commit(chunks === 0 ? job : { ...job, targetChunks: chunks });
  if (!written.ours) return { found: written.found };
  await failPoints.hit("dispatch.claimed");
  return { job: written.job, targets };
}

/** Steps 4 to 7: log, mark as running, and let the watcher tell the peels. Also how an interrupted claim goes on. */
export async function run(
  claimed: Job,
  targets: readonly string[],
  tell: (event: FollowEvent) => void,
  ports: JobPorts & { watchers: Watchers },
): Promise<void> {
  const { jid } = claimed;
  await logDispatch(claimed, ports);
  await ports.failPoints.hit("dispatch.logged");
  const written = await ports.jobs.commit({
    ...claimed,
    status: "running",
    updatedMs: ports.clock.now(),
  });
  if (!written.ours) {
    throw new ZesterError(
      "claim_pending",
      `job ${jid} was taken over by ${written.found?.owner ?? "nobody"}`,
    );
  }
  const { job } = written;
  await ports.failPoints.hit("dispatch.running");
  ports.log.info("dispatch request received", {
    jid,
    user: job.user,
    function: job.function,
    targets: targets.length,
  });
  tellAccepted(job, targets, ports, tell);
  ports.watchers.start({ job, targets }, tell);
}

/** Somebody was here before: go on with our own claim, or follow the job that exists. */
async function takeExisting(
  asked: Job,
  operator: string,
  found: Job | null,
  tell: (event: FollowEvent) => void,
  ports: DispatchPorts,
): Promise<void> {
  const decision = planExisting(asked, operator, found, ports.masterId);
  if (decision.do === "refuse") throw refusalError(decision.refusal);
  if (found === null) return;
  ports.log.info("dispatch of a known job", { jid: asked.jid, do: decision.do, why: decision.why });
  const targets = await ports.jobs.targets(found);
  if (decision.do === "resume") return await run(found, targets, tell, ports);
  tellAccepted(found, targets, ports, tell);
  if (!ports.watchers.follow(found.jid, tell)) ports.followElsewhere(found.jid, tell);
}

/** The dispatch in the stream, before any peel is told: a job that left no trace must not run. */
async function logDispatch(job: Job, { store, clock, voice }: JobPorts): Promise<void> {
  const subject = subjects.jobDispatched.of({ jid: job.jid });
  const { user = "", targetExpr = "", owner = "" } = job;
  const payload = encodeJobEvent({
    jid: job.jid,
    type: "dispatched",
    // Without the arguments, which may be large and sensitive; the record has them.
    data: { function: job.function, user, target: targetExpr, owner },
    timestampMs: clock.now(),
  });
  const headers = voice.headers(subjects.jobDispatched, subject, payload);
  const messageId = `${job.jid}.dispatch.${job.epoch}`;
  const stored = await store.stream(streams.jobEvents.name).append(subject, payload, {
    headers,
    messageId,
  });
  if (stored.outcome === "ok") return;
  throw new ZesterError("claim_pending", `job ${job.jid}: its dispatch could not be logged`, {
    ...("cause" in stored ? { cause: stored.cause } : {}),
  });
}

function refusalError({ code, message, fix }: Refusal): ZesterError {
  return new ZesterError(code, message, fix === undefined ? {} : { fix });
}

/** Sends to the operator what happens. If it cannot, the job goes on: it belongs to the masters. */
function teller(inbox: string, { voice, log }: DispatchPorts): (event: FollowEvent) => void {
  return (event) => {
    try {
      voice.answer(inbox, encodeFollow(event));
    } catch (thrown) {
      if (!isZesterError(thrown)) throw thrown;
      log.warn("operator not told", { kind: event.kind, error: thrown });
    }
  };
}

/** Takes requests of operators: verify, decode, decide, claim, publish, then hand the job to its watcher. */
import { isZesterError, toZesterError, type ZesterError } from "../../core/errors.ts";
import { type Accepted, ingest, type Keyring } from "../../core/ingress.ts";
import type { PeelKey } from "../../core/keyring.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Voice } from "../../core/outgoing.ts";
import type { Bus, Clock, Message, Store } from "../../core/ports.ts";
import type { Authorizer } from "../../core/roles.ts";
import { isInboxOf, subjects } from "../../core/subjects.ts";
import { encodeExecRequest } from "../../core/wire/exec.ts";
import { encodeFollow, type FollowEvent } from "../../core/wire/follow.ts";
import { decodeJob, type Job } from "../../core/wire/job.ts";
import { claimJob } from "./claim.ts";
import { planDispatch } from "./plan.ts";
import { type Watcher, watchJob } from "../watch/service.ts";

export interface DispatchPorts {
  readonly masterId: string;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly keyring: Keyring;
  readonly authorizer: Authorizer;
  readonly metrics: Metrics;
  readonly log: Log;
  peelIds(): string[];
  peelKey(peelId: string): PeelKey | undefined;
}

export interface Dispatcher {
  /** Jobs under way here. */
  active(): number;
  /** Takes no more requests and ends the watches. */
  stop(): Promise<void>;
}

/** Starts to take requests, together with all other masters in the queue group. */
export function takeDispatches(ports: DispatchPorts): Dispatcher {
  const watchers = new Map<string, Watcher>();
  const running = new Set<Promise<void>>();
  const { pattern: _, queue = "" } = subjects.dispatch;
  const subscription = ports.bus.subscribe(subjects.dispatch.filter(), (message) => {
    const work = handle(message, ports, watchers).catch((thrown) => {
      ports.log.error("dispatch failed", { error: toZesterError(thrown, "dispatch") });
    });
    running.add(work);
    work.finally(() => running.delete(work));
  }, { queue });
  return {
    active: () => watchers.size,
    async stop() {
      subscription.unsubscribe();
      await Promise.allSettled(running);
      for (const watcher of watchers.values()) watcher.stop();
    },
  };
}

type Verified = Accepted<typeof subjects.dispatch.pattern>;

async function handle(
  message: Message,
  ports: DispatchPorts,
  watchers: Map<string, Watcher>,
): Promise<void> {
  const { keyring, clock, metrics, log } = ports;
  const door = ingest(message, { rule: subjects.dispatch, keyring, nowMs: clock.now() });
  if (!door.ok) {
    metrics.ingressRefused.inc({ reason: door.reason });
    log.warn("request refused", { reason: door.reason, detail: door.detail });
    return; // whoever it was cannot be told: the reply subject is theirs to choose
  }
  // Only to the sender's own inbox: otherwise we would carry its words to whoever it names.
  if (!isInboxOf(message.reply, "operator", door.sender.identity)) {
    metrics.ingressRefused.inc({ reason: "misaddressed" });
    return log.warn("request refused", { reason: "misaddressed", operator: door.sender.identity });
  }
  const tell = teller(message.reply, ports);
  try {
    await dispatch(door, tell, ports, watchers);
    metrics.dispatch.inc({ result: "accepted" });
  } catch (thrown) {
    const error = toZesterError(thrown, "dispatch");
    metrics.dispatch.inc({ result: "refused" });
    log.warn("dispatch refused", { operator: door.sender.identity, error });
    tell(refusal(error));
  }
}

async function dispatch(
  door: Verified,
  tell: (event: FollowEvent) => void,
  ports: DispatchPorts,
  watchers: Map<string, Watcher>,
): Promise<void> {
  const { masterId, clock, store, log } = ports;
  const operator = { name: door.sender.identity, role: door.sender.grantedRole };
  const view = {
    job: decodeJob(door.payload),
    operator,
    peels: ports.peelIds(),
    masterId,
    nowMs: clock.now(),
  };
  const decision = planDispatch(view, ports.authorizer);
  if (decision.do === "refuse") {
    return tell({ kind: "refused", jid: view.job.jid, ...refusedFields(decision) });
  }
  const job = await claimJob(decision.job, store);
  const { jid, targets } = job;
  log.info("dispatch request received", {
    jid,
    user: job.user,
    function: job.function,
    targets: targets.length,
  });
  const watcher = watchJob(job, tell, ports); // listens before anything is published
  watchers.set(jid, watcher);
  watcher.done.finally(() => watchers.delete(jid));
  tell({ kind: "accepted", jid, targets, master: masterId });
  publishRequests(job, door.claims.firstIssuedMs, ports);
}

function refusedFields(
  { code, why, fix }: { code: ZesterError["code"]; why: string; fix?: string },
): { code: ZesterError["code"]; message: string; fix?: string } {
  return { code, message: why, ...(fix === undefined ? {} : { fix }) };
}

function refusal(error: ZesterError): FollowEvent {
  const { code, message, fix } = error;
  return { kind: "refused", code, message, ...(fix === undefined ? {} : { fix }) };
}

/** One signed request per target. A peel that cannot be told does not keep the others from it. */
function publishRequests(job: Job, firstIssuedMs: number, ports: DispatchPorts): void {
  const { voice, clock, log } = ports;
  const payload = encodeExecRequest({
    jid: job.jid,
    module: job.function,
    id: job.stateId ?? "",
    args: job.args,
    epoch: job.epoch,
    reactorDepth: 0,
  });
  for (const peel of job.targets) {
    const audience = ports.peelKey(peel)?.generation ?? 0;
    const times = {
      firstIssuedMs: Math.min(firstIssuedMs, clock.now()),
      expiresMs: Math.max(job.deadlineMs ?? 0, clock.now()),
    };
    try {
      voice.say(subjects.command, subjects.command.of({ peel }), payload, { audience, ...times });
    } catch (thrown) {
      log.warn("request not sent", { jid: job.jid, peel, error: toZesterError(thrown, "publish") });
    }
  }
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

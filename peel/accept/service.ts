/**
 * Takes commands: verify, decode, look into the journal, flush, ack, wait for the turn, run, flush the result, return it until
 * the stream has it. What cannot be verified is counted and not answered; all else ends in exactly one return, whatever
 * crashes in between.
 */
import { streams } from "../../core/buckets.ts";
import { assertNever, isZesterError, toZesterError } from "../../core/errors.ts";
import { ingest, type IngressReason, type Keyring } from "../../core/ingress.ts";
import {
  EXECUTION_QUEUE_MAX,
  REPEAT_ANSWER_MS_MIN,
  RETURN_DRAIN_MS,
  WORK_DRAIN_MS,
} from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Voice } from "../../core/outgoing.ts";
import {
  type Bus,
  type Clock,
  type FailPoints,
  type Message,
  NO_FAIL_POINTS,
  type Store,
} from "../../core/ports.ts";
import { reasonText } from "../../core/return_reason.ts";
import { type Authorizer, directRoles } from "../../core/roles.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeAck } from "../../core/wire/ack.ts";
import {
  decodeExecRequest,
  encodeExecResponse,
  type ExecRequest,
  type ExecResponse,
} from "../../core/wire/exec.ts";
import { decodeReturn } from "../../core/wire/return.ts";
import { versionProblem } from "../../core/wire/version.ts";
import { takeCancels } from "../cancel/service.ts";
import { directAudit } from "../direct/audit.ts";
import { planDirect } from "../direct/plan.ts";
import { type ExecutionQueue, executionQueue } from "../exec/queue.ts";
import { openCatalog } from "../exec/catalog.ts";
import { notDone, type Outcome, returnBytes } from "./answer.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import { openOutbox, type Outbox } from "./outbox.ts";
import { planAccept } from "./plan.ts";
import { timeLeftMs, timeLimitMs } from "./time_limit.ts";

export interface AcceptPorts {
  readonly peelId: string;
  readonly generation: number;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly keyring: Keyring;
  readonly journal: Journal;
  readonly metrics: Metrics;
  readonly log: Log;
  /**
   * Runs a function, for no longer than `timeoutMs`. The signal aborts when it is canceled or the peel stops; then it must
   * end soon.
   */
  execute(request: ExecRequest, signal: AbortSignal, timeoutMs: number): Promise<ExecResponse>;
  /** Whether a function changes nothing, and so may run beside others. Default: what its module says. */
  isReadOnly?(name: string): Promise<boolean>;
  /** Who may use direct mode. Default: the built-in role. */
  readonly directAuthorizer?: Authorizer;
  readonly failPoints?: FailPoints;
}

/** What a peel is doing. */
export interface RunningJobs {
  readonly jobs: readonly {
    readonly jid: string;
    readonly function: string;
    /** Since when it runs; for one that waits, since when it does. */
    readonly sinceMs: number;
    readonly isWaiting: boolean;
  }[];
  /** How many wait for their turn. */
  readonly queueLength: number;
  /** Returns that the stream does not have yet. */
  readonly unstored: number;
}

export interface Acceptor {
  running(): RunningJobs;
  /** Sends at once what waits to be sent: the connection is back. */
  wake(): void;
  /** Takes no more commands, lets what runs end within the drain limit, and ends the rest as interrupted. */
  stop(): Promise<void>;
}

/** One job in hand. */
interface Work {
  readonly jid: string;
  readonly function: string;
  sinceMs: number;
  isWaiting: boolean;
  readonly controller: AbortController;
}

/** A verified request. */
interface Command {
  readonly request: ExecRequest;
  readonly firstIssuedMs: number;
  /** When its time is over, by the monotonic clock. */
  readonly untilMs: number;
  /** Direct mode: who asked, and where the answer goes. */
  readonly direct: { readonly operator: string; readonly inbox: string } | undefined;
}

/** All that the steps below share. */
interface Desk extends Required<AcceptPorts> {
  readonly works: Map<string, Work>;
  readonly queue: ExecutionQueue;
  readonly outbox: Outbox;
  /** When a finished job was last answered again, by the monotonic clock. */
  readonly repeatedMs: Map<string, number>;
}

/** Starts to take commands and cancels, after having settled what a former life left behind. */
export function acceptCommands(ports: AcceptPorts): Acceptor {
  const desk = openDesk(ports);
  const { clock, works, queue, outbox, log } = desk;
  const tasks = new Set<Promise<void>>();
  function track(task: Promise<void>): void {
    const settled = task.catch((thrown) => {
      log.error("command failed", { error: toZesterError(thrown, "accept") });
    });
    tasks.add(settled);
    settled.finally(() => tasks.delete(settled));
  }
  settleFormerLife(desk, track);
  const commands = ports.bus.subscribe(
    subjects.command.of({ peel: ports.peelId }),
    (message) => track(handle(message, desk)),
  );
  const cancels = takeCancels(desk, (jid, issuedMs) => cancel(jid, issuedMs, desk));
  return {
    running: () => ({
      jobs: [...works.values()].map(({ controller: _, ...job }) => job),
      queueLength: queue.waiting,
      unstored: outbox.size,
    }),
    wake: () => outbox.wake(),
    async stop() {
      commands.unsubscribe();
      cancels.unsubscribe();
      queue.close();
      await within(clock, WORK_DRAIN_MS, Promise.allSettled(tasks));
      for (const { controller } of works.values()) controller.abort(STOPPED);
      await within(clock, RETURN_DRAIN_MS, Promise.allSettled(tasks));
      await within(clock, RETURN_DRAIN_MS, outbox.stop());
      await desk.journal.close().catch((thrown) => {
        log.error("journal not closed", { error: toZesterError(thrown, "journal") });
      });
    },
  };
}

function openDesk(ports: AcceptPorts): Desk {
  const desk: Desk = {
    ...ports,
    execute: (...given) => ports.execute(...given),
    isReadOnly: ports.isReadOnly ?? openCatalog().isReadOnly,
    directAuthorizer: ports.directAuthorizer ?? directRoles,
    failPoints: ports.failPoints ?? NO_FAIL_POINTS,
    works: new Map(),
    queue: executionQueue(EXECUTION_QUEUE_MAX),
    outbox: openOutbox({
      clock: ports.clock,
      send: (jid, nextMs) => sendReturn(jid, nextMs, desk),
    }),
    repeatedMs: new Map(),
  };
  return desk;
}

/** Waits for it, but no longer than this. */
async function within(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  await Promise.race([work, clock.sleep(limitMs, done.signal).catch(() => {})]);
  done.abort();
}

// ---- the door ------------------------------------------------------------------------------------------------

async function handle(message: Message, desk: Desk): Promise<void> {
  const command = admitted(message, desk);
  if (command === null) return;
  const { journal, works } = desk;
  const { request: { jid, module }, firstIssuedMs } = command;
  await desk.failPoints.hit("accept.verified");
  const runsBeside = await desk.isReadOnly(module);
  // From this look to the mark in the journal nothing is awaited, or a second copy of the request could slip past.
  const decision = planAccept({
    firstIssuedMs,
    entry: journal.entry(jid),
    isLive: works.has(jid),
    hasTombstone: journal.hasTombstone(jid),
    completeSinceMs: journal.completeSinceMs,
    forgottenMs: journal.forgottenMs,
  });
  switch (decision.do) {
    case "run":
      return await run(command, runsBeside, desk);
    case "acknowledge":
    case "answer":
      return repeat(command, decision.do, desk);
    case "close":
      count(desk, "replayed", jid);
      return await conclude(jid, notDone({ peelId: desk.peelId, jid }, decision.error), desk);
    case "refuse":
      count(desk, decision.reason, decision.error);
      return await turnAway(command, decision.error, desk);
    default:
      assertNever(decision);
  }
}

function admitted(message: Message, desk: Desk): Command | null {
  const { peelId: peel, generation: audience, keyring, clock } = desk;
  const nowMs = clock.now();
  const door = ingest(message, { rule: subjects.command, own: { peel }, audience, keyring, nowMs });
  if (!door.ok) return count(desk, door.reason, door.detail, door.isNews);
  const request = decoded(door.payload, desk);
  if (request === null) return null;
  const { sender, claims } = door;
  if (sender.role === "master") desk.journal.confirmTime(claims.issuedMs);
  const { firstIssuedMs } = claims;
  const untilMs = clock.monotonic() + timeLeftMs(claims, nowMs);
  const addressed = { sender, reply: message.reply, function: request.module, peelId: peel };
  const kind = planDirect(addressed, desk.directAuthorizer);
  if (kind.kind === "job") return { request, firstIssuedMs, untilMs, direct: undefined };
  if (kind.kind === "direct") return { request, firstIssuedMs, untilMs, direct: kind };
  if (kind.inbox !== undefined) {
    const error = reasonText("refused", kind.why);
    answerDirect(kind.inbox, notDone({ peelId: peel, jid: request.jid }, error).response, desk);
  }
  return count(desk, kind.reason, kind.why);
}

type RefusalReason =
  | IngressReason
  | "replayed"
  | "journal_lost"
  | "canceled"
  | "decode_failed"
  | "permission_denied";

function count(
  { metrics, log }: Desk,
  reason: RefusalReason,
  detail: string,
  isNews = true,
): null {
  metrics.ingressRefused.inc({ reason });
  if (isNews) log.warn("command refused", { reason, detail });
  return null;
}

function decoded(payload: Uint8Array, desk: Desk): ExecRequest | null {
  try {
    const request = decodeExecRequest(payload);
    const problem = versionProblem(request);
    return problem === null ? request : count(desk, "decode_failed", problem);
  } catch (thrown) {
    if (!isZesterError(thrown)) throw thrown;
    return count(desk, "decode_failed", thrown.message);
  }
}

/** A known jid: whoever asks again did not hear us, or repeats what somebody else said. Both are answered, neither runs. */
function repeat(command: Command, how: "acknowledge" | "answer", desk: Desk): void {
  const { journal, clock, outbox, repeatedMs } = desk;
  const { jid } = command.request;
  count(desk, "replayed", `job ${jid} was accepted here before`);
  const entry = journal.entry(jid);
  const nowMs = clock.monotonic();
  const lastMs = repeatedMs.get(jid) ?? -Infinity;
  if (entry === undefined || nowMs - lastMs < REPEAT_ANSWER_MS_MIN) return;
  for (const [each, atMs] of repeatedMs) {
    if (nowMs - atMs >= REPEAT_ANSWER_MS_MIN) repeatedMs.delete(each);
  }
  repeatedMs.set(jid, nowMs);
  if (command.direct === undefined) acknowledge(entry, desk);
  if (how === "acknowledge" || entry.result === undefined) return;
  if (command.direct === undefined) outbox.add(jid);
  else answerDirect(command.direct.inbox, responseIn(entry.result), desk);
}

// ---- running -------------------------------------------------------------------------------------------------

const CANCELED = "canceled";
const STOPPED = "stopped";

async function run(command: Command, runsBeside: boolean, desk: Desk): Promise<void> {
  const { works, clock, peelId } = desk;
  const { jid, module } = command.request;
  const work: Work = {
    jid,
    function: module,
    sinceMs: clock.now(),
    isWaiting: true,
    controller: new AbortController(),
  };
  works.set(jid, work);
  try {
    const outcome = await perform(command, work, runsBeside, desk).catch((thrown) => {
      const error = toZesterError(thrown, "run");
      desk.log.error("job failed inside the peel", { jid, error });
      return notDone({ peelId, jid }, error.message);
    });
    await conclude(jid, outcome, desk, command.direct?.inbox);
  } finally {
    works.delete(jid);
  }
}

async function perform(
  command: Command,
  work: Work,
  runsBeside: boolean,
  desk: Desk,
): Promise<Outcome> {
  const { journal, failPoints, queue } = desk;
  const { signal } = work.controller;
  // Before the ack and before anything runs: from here on no copy of this request runs again, whatever crashes.
  const unwritten = await unlessWritten(
    journal.accept(jobOf(command, desk), { isStarted: runsBeside }),
    work,
    desk,
  );
  if (unwritten !== null) return unwritten;
  await failPoints.hit("accept.journaled");
  const entry = journal.entry(work.jid);
  if (command.direct === undefined && entry !== undefined) acknowledge(entry, desk);
  await failPoints.hit("accept.acked");
  if (runsBeside) return await execute(command, work, desk);
  const turn = await queue.enter(signal);
  if (turn === "ended") return ended(work, desk);
  if (turn === "full") {
    return notDone(aboutOf(work, desk), reasonText("busy", "execution queue full"));
  }
  try {
    return await unlessWritten(journal.start(work.jid), work, desk) ??
      await execute(command, work, desk);
  } finally {
    queue.leave();
  }
}

/** A job whose journal entry is not on disk is not run. */
async function unlessWritten(
  written: Promise<void>,
  work: Work,
  desk: Desk,
): Promise<Outcome | null> {
  try {
    await written;
    return null;
  } catch (thrown) {
    const { message } = toZesterError(thrown, "journal");
    desk.log.error("journal not written, job not run", { jid: work.jid, why: message });
    return notDone(
      aboutOf(work, desk),
      reasonText("refused", `not run, since the peel cannot write its journal: ${message}`),
    );
  }
}

async function execute({ request, untilMs }: Command, work: Work, desk: Desk): Promise<Outcome> {
  const { clock, failPoints } = desk;
  const { signal } = work.controller;
  await failPoints.hit("exec.started");
  if (signal.aborted) return ended(work, desk);
  const timeoutMs = timeLimitMs(request, untilMs - clock.monotonic());
  if (timeoutMs <= 0) {
    return notDone(
      aboutOf(work, desk),
      reasonText("refused", "not run, since its time was over before its turn came"),
    );
  }
  work.isWaiting = false;
  work.sinceMs = clock.now();
  const startedMs = clock.monotonic();
  const response = await desk.execute(request, signal, timeoutMs);
  const durationMs = clock.monotonic() - startedMs;
  await failPoints.hit("exec.finished");
  if (!signal.aborted || response.success) return { response, durationMs };
  const { error } = ended(work, desk).response;
  return { response: { ...response, ...(error === undefined ? {} : { error }) }, durationMs };
}

/** Somebody ended it: who, and how far it had come. */
function ended(work: Work, desk: Desk): Outcome {
  const began = work.isWaiting ? "before it began" : "while it ran";
  const error = work.controller.signal.reason === CANCELED
    ? reasonText("canceled", began)
    : reasonText("interrupted", `the peel was stopped ${began}`);
  return notDone(aboutOf(work, desk), error);
}

function aboutOf({ jid }: Work, { peelId }: Desk): { peelId: string; jid: string } {
  return { peelId, jid };
}

function jobOf({ request, firstIssuedMs, direct }: Command, { clock }: Desk) {
  return {
    jid: request.jid,
    epoch: request.epoch,
    function: request.module,
    firstIssuedMs,
    acceptedMs: clock.now(),
    ...(direct === undefined ? {} : { operator: direct.operator }),
  };
}

/** Ends what is in hand; else leaves a mark, so that a request that comes late is not run. */
async function cancel(
  jid: string,
  issuedMs: number,
  { journal, works, log, failPoints }: Desk,
): Promise<void> {
  journal.confirmTime(issuedMs);
  await failPoints.hit("cancel.heard"); // before the look: what it finds must still hold when it is acted upon
  const entry = journal.entry(jid);
  if (entry?.state === "finished" || entry?.state === "stored") return;
  if (journal.hasTombstone(jid)) return;
  log.info("canceled", { jid, seen: entry !== undefined });
  works.get(jid)?.controller.abort(CANCELED);
  await journal.cancel(jid, issuedMs);
  await failPoints.hit("cancel.journaled");
}

// ---- what came of it -----------------------------------------------------------------------------------------

/** A job that is not run. It is journaled all the same, so that it is returned until somebody has it. */
async function turnAway(command: Command, error: string, desk: Desk): Promise<void> {
  const { jid } = command.request;
  const { peelId, journal, log } = desk;
  journal.accept(jobOf(command, desk)).catch((thrown) => {
    log.error("journal not written", { jid, error: toZesterError(thrown, "journal") });
  });
  await conclude(jid, notDone({ peelId, jid }, error), desk, command.direct?.inbox);
}

/** Journals the outcome and sends it. A journal that cannot be written must not swallow a result. */
async function conclude(
  jid: string,
  outcome: Outcome,
  desk: Desk,
  inbox?: string,
): Promise<void> {
  const { peelId, journal, clock, metrics, outbox, log, failPoints } = desk;
  const result = returnBytes({ peelId, jid }, outcome, clock.now());
  metrics.exec.inc({ result: outcome.response.success ? "success" : "error" });
  await journal.finish(jid, result).catch((thrown) => {
    log.error("result not journaled", { jid, error: toZesterError(thrown, "journal") });
  });
  await failPoints.hit("return.journaled");
  if (inbox !== undefined) answerDirect(inbox, responseIn(result), desk);
  outbox.add(jid);
}

function responseIn(result: Uint8Array): ExecResponse {
  const { jid, peelId, error, returnData } = decodeReturn(result);
  return returnData ?? notDone({ jid, peelId }, error ?? "").response;
}

/** Best effort: the ack is a sign of delivery, not part of the result. A repeated one tells when the first was said. */
function acknowledge(entry: JournalEntry, { peelId, voice, log }: Desk): void {
  const { jid, acceptedMs } = entry;
  const subject = subjects.ack.of({ jid, peel: peelId });
  try {
    voice.say(subjects.ack, subject, encodeAck({ jid, peelId, timestampMs: acceptedMs }));
  } catch (thrown) {
    log.debug("ack not sent", { jid, error: toZesterError(thrown, "ack") });
  }
}

/** Best effort, too: whoever does not hear it can ask again under the same jid. */
function answerDirect(inbox: string, response: ExecResponse, { voice, log }: Desk): void {
  try {
    voice.answer(inbox, encodeExecResponse(response));
  } catch (thrown) {
    log.warn("answer not sent", { jid: response.jid, error: toZesterError(thrown, "answer") });
  }
}

/** Tries to have the return stored, so that it survives even with every master down. Signed anew at each try. */
async function sendReturn(jid: string, nextTryMs: number, desk: Desk): Promise<boolean> {
  const { journal, voice, store, log, failPoints } = desk;
  const entry = journal.entry(jid);
  if (entry?.result === undefined) return true; // past its time, or stored long ago
  const { stream, rule, subject, payload } = parcelOf(entry, entry.result, desk);
  try {
    const headers = voice.headers(rule, subject, payload);
    const stored = await store.stream(stream).append(subject, payload, { headers });
    if (stored.outcome === "ok") {
      await failPoints.hit("return.stored");
      journal.store(jid);
      return true;
    }
    log.warn("return not stored yet", { jid, outcome: stored.outcome, nextTryMs });
  } catch (thrown) {
    log.warn("return not stored yet", { jid, error: toZesterError(thrown, "return"), nextTryMs });
  }
  return false;
}

/** What has to be stored: the return of a job; of a direct run, the event that tells of it. */
function parcelOf(entry: JournalEntry, result: Uint8Array, { peelId }: Desk) {
  if (entry.operator === undefined) {
    const subject = subjects.return.of({ jid: entry.jid, peel: peelId });
    return { stream: streams.jobEvents.name, rule: subjects.return, subject, payload: result };
  }
  const event = directAudit(entry, decodeReturn(result));
  return { stream: streams.events.name, rule: subjects.eventSend, ...event };
}

/** What was accepted before this start and never finished is returned as interrupted; what nobody has is sent again. */
function settleFormerLife(desk: Desk, track: (task: Promise<void>) => void): void {
  const { journal, peelId, outbox, log } = desk;
  for (const entry of journal.entries()) {
    const { jid, firstIssuedMs, state } = entry;
    const view = { entry, firstIssuedMs, isLive: false, hasTombstone: false };
    const decision = planAccept({ ...view, completeSinceMs: 0, forgottenMs: 0 });
    if (decision.do === "close") {
      log.warn("job cut off by the last stop", { jid, function: entry.function, state });
      track(conclude(jid, notDone({ peelId, jid }, decision.error), desk));
    } else if (state === "finished") outbox.add(jid);
  }
}

/**
 * An operator's side of the masters: sends a job and follows it, asks questions, cancels. A job belongs to the masters: when the one
 * that answers falls silent, another is asked, and the follow goes on.
 */
import { type ErrorCode, ERRORS, isZesterError, ZesterError } from "./errors.ts";
import { ingest, type Keyring, replyRule } from "./ingress.ts";
import {
  ASK_RETRY_MS,
  ASK_RETRY_MS_MAX,
  FOLLOW_GRACE_MS,
  FOLLOW_SILENCE_MS,
  JOB_TIMEOUT_MS_MAX,
  REQUEST_TIMEOUT_MS,
} from "./limits.ts";
import type { Voice } from "./outgoing.ts";
import type { Bus, Clock, Message, Timer } from "./ports.ts";
import { type Subject, subjects } from "./subjects.ts";
import { decodeFollow, type FollowEvent } from "./wire/follow.ts";
import { encodeJob, type Job } from "./wire/job.ts";
import {
  decodeReply,
  encodeJobRequest,
  encodeQuery,
  type Query,
  type Reply,
  type ReplyKinds,
  type ReplyOf,
} from "./wire/query.ts";

export type { FollowEvent } from "./wire/follow.ts";

export interface ClientPorts {
  readonly operator: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly keyring: Keyring;
  /** Aborted when the connection is gone for good: nothing is heard from then on. */
  readonly lost?: AbortSignal;
}

/** What happens to the follow itself, for the operator to see. */
export type FollowNotice =
  | { readonly kind: "silence"; readonly master: string | null; readonly afterMs: number }
  | { readonly kind: "nobody"; readonly retryMs: number }
  | { readonly kind: "pending"; readonly why: string; readonly retryMs: number };

export interface FollowOptions {
  /** What to wait for: the end, or only that a master has taken the job. */
  readonly until?: "done" | "accepted";
  onNotice?(notice: FollowNotice): void;
  /** Stops to follow; the job goes on. */
  readonly signal?: AbortSignal;
}

// ---- follow --------------------------------------------------------------------------------------------------

/**
 * Sends the job and hands each event to `onEvent` as it comes; resolves after `done` or `refused`. A master that falls silent is
 * replaced; what was heard before is not told again. Throws `no_responders` when no master is there to take it; `disconnected` when the
 * connection is lost and `timeout` when its time and some grace have passed without an end: what happened is then unknown.
 */
export async function dispatchAndFollow(
  job: Job,
  onEvent: (event: FollowEvent) => void,
  ports: ClientPorts,
  options: FollowOptions = {},
): Promise<void> {
  // In a rolling run the timeout is that of each peel: only the masters know when it must be over.
  const patienceMs = job.batchSize === undefined
    ? job.timeoutMs + FOLLOW_GRACE_MS
    : JOB_TIMEOUT_MS_MAX;
  const request = { rule: subjects.dispatch, payload: encodeJob(job) } as const;
  await follow({ jid: job.jid, request, patienceMs }, onEvent, ports, options);
}

/** Follows a job that exists, whoever sent it. Throws as `dispatchAndFollow` does. */
export async function followExisting(
  jid: string,
  onEvent: (event: FollowEvent) => void,
  ports: ClientPorts,
  options: FollowOptions = {},
): Promise<void> {
  await follow({ jid, request: null, patienceMs: JOB_TIMEOUT_MS_MAX }, onEvent, ports, options);
}

interface Followed {
  readonly jid: string;
  /** What makes the job; null for one that exists. */
  readonly request: { rule: typeof subjects.dispatch; payload: Uint8Array } | null;
  /** From the moment a master takes it until nobody waits any more. */
  readonly patienceMs: number;
}

/** How one attempt ended that did not end the follow. */
type Interruption =
  | { readonly kind: "silent" }
  | { readonly kind: "nobody"; readonly error: ZesterError }
  | { readonly kind: "retry"; readonly why: string }
  | { readonly kind: "gap" }
  | { readonly kind: "lost" };

async function follow(
  followed: Followed,
  onEvent: (event: FollowEvent) => void,
  ports: ClientPorts,
  { until = "done", onNotice, signal }: FollowOptions,
): Promise<void> {
  const { clock } = ports;
  const heard = new Heard(onEvent);
  let deadlineMs = clock.monotonic() + followed.patienceMs + REQUEST_TIMEOUT_MS;
  let waitMs = ASK_RETRY_MS;
  for (let attempt = 1;; attempt++) {
    const wasAccepted = heard.master !== null;
    const leftMs = deadlineMs - clock.monotonic();
    if (leftMs <= 0) throw unknownEnd(followed, heard);
    const end = await oneAttempt(followed, heard, ports, { until, leftMs, signal });
    if (end === "over") return;
    if (!wasAccepted && heard.master !== null) {
      deadlineMs = clock.monotonic() + followed.patienceMs;
    }
    switch (end.kind) {
      case "gap":
        break; // ask again at once: the stored returns fill it
      case "lost":
        throw connectionLost(followed, heard);
      case "silent":
        if (clock.monotonic() >= deadlineMs) break;
        onNotice?.({ kind: "silence", master: heard.master, afterMs: heard.silenceMs });
        break;
      case "nobody":
        // The first time nothing was sent to anybody. Later a master may have it, and others may come.
        if (attempt === 1) throw end.error;
        onNotice?.({ kind: "nobody", retryMs: waitMs });
        await clock.sleep(waitMs, signal);
        break;
      case "retry":
        onNotice?.({ kind: "pending", why: end.why, retryMs: waitMs });
        await clock.sleep(waitMs, signal);
        break;
    }
    waitMs = Math.min(waitMs * 2, ASK_RETRY_MS_MAX);
    heard.isUnsure = true;
  }
}

interface AttemptOptions {
  readonly until: "done" | "accepted";
  readonly leftMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Asks one master and listens to it. As long as no master is known to have the job, the job itself is sent, again and again the same:
 * its id makes that harmless. Later only a question is, which starts nothing.
 */
async function oneAttempt(
  followed: Followed,
  heard: Heard,
  ports: ClientPorts,
  { until, leftMs, signal }: AttemptOptions,
): Promise<"over" | Interruption> {
  const { bus, clock } = ports;
  if (ports.lost?.aborted) return { kind: "lost" };
  const inbox = bus.inbox();
  const { promise, resolve, reject } = Promise.withResolvers<"over" | Interruption>();
  let patience: Timer | undefined;
  let isAnswered = false;
  const listenMs = heard.master === null ? REQUEST_TIMEOUT_MS : FOLLOW_SILENCE_MS;
  function expect(withinMs: number): void {
    heard.silenceMs = withinMs;
    patience?.cancel();
    patience = clock.after(withinMs, () => resolve({ kind: "silent" }));
  }
  const subscription = bus.subscribe(inbox, (message) => {
    if (isAnswered && message.status !== undefined) return; // a server's word is nothing against a master's
    try {
      const event = decodeFollow(opened(message, inbox, ports));
      isAnswered = true;
      expect(FOLLOW_SILENCE_MS);
      const end = heard.take(event, until);
      if (end !== null) resolve(end);
    } catch (thrown) {
      if (isZesterError(thrown, "no_responders")) resolve({ kind: "nobody", error: thrown });
      else reject(thrown);
    }
  });
  const deadline = clock.after(leftMs, () => resolve({ kind: "silent" }));
  const aborted = whenAborted(signal, () => resolve("over"));
  const lost = whenAborted(ports.lost, () => resolve({ kind: "lost" }));
  expect(listenMs);
  try {
    ask(followed, heard, inbox, ports);
    return await promise;
  } catch (thrown) {
    if (ports.lost?.aborted) return { kind: "lost" };
    // A connection that is away right now may come back; what was asked before goes on without us.
    if (heard.master !== null && isZesterError(thrown, "disconnected")) {
      return { kind: "nobody", error: thrown };
    }
    throw thrown;
  } finally {
    patience?.cancel();
    deadline.cancel();
    aborted.stop();
    lost.stop();
    subscription.unsubscribe();
  }
}

/** Calls back once, at once if it has happened already; until stopped. */
function whenAborted(signal: AbortSignal | undefined, happened: () => void): { stop(): void } {
  if (signal?.aborted) happened();
  signal?.addEventListener("abort", happened, { once: true });
  return { stop: () => signal?.removeEventListener("abort", happened) };
}

function ask(
  { jid, request }: Followed,
  heard: Heard,
  inbox: string,
  { voice, operator }: ClientPorts,
): void {
  if (request !== null && heard.master === null) {
    const { rule, payload } = request;
    return voice.say(rule, rule.of({ operator }), payload, { reply: inbox });
  }
  const subject = subjects.query.of({ operator, query: "follow" });
  voice.say(subjects.query, subject, encodeQuery({ jid }), { reply: inbox });
}

/** What was told already. Several masters may tell the same: only news is passed on. */
class Heard {
  /** Who answered last; null while nobody is known to have the job. */
  master: string | null = null;
  /** How long was waited for the last word. */
  silenceMs = 0;
  /** Whether a request was made before, of which nobody said for good what became of it: a master may have the job. */
  isUnsure = false;
  readonly #onEvent: (event: FollowEvent) => void;
  readonly #acked = new Set<string>();
  /** Peels that have answered, and whether a master made that up. */
  readonly #returned = new Map<string, "real" | "unreachable">();
  #filledGap = false;

  constructor(onEvent: (event: FollowEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Passes on what is new; says whether, and how, the attempt is over. */
  take(event: FollowEvent, until: "done" | "accepted"): "over" | Interruption | null {
    switch (event.kind) {
      case "accepted":
        this.master = event.master;
        this.#onEvent(event);
        return until === "accepted" ? "over" : null;
      case "alive":
        return null;
      case "acks":
        this.#pass({ ...event, peels: event.peels.filter((peel) => this.#isNewAck(peel)) });
        return null;
      case "returns":
        this.#pass({
          ...event,
          returns: event.returns.filter((each) => this.#isNews(each.peelId, !!each.unreachable)),
        });
        return null;
      case "done":
        // Without its beginning we do not know who was meant, so its end would say nothing.
        if (this.master === null) return { kind: "retry", why: "its beginning was not heard" };
        // Messages to an inbox can be lost; then some returns are missing here that the masters have.
        if (this.#returned.size < event.returnCount && !this.#filledGap) {
          this.#filledGap = true;
          return { kind: "gap" };
        }
        this.#onEvent(event);
        return "over";
      case "refused":
        if (isWorthRetrying(event.code) || (this.#mayBeTaken && ONE_MASTERS_VIEW.has(event.code))) {
          return { kind: "retry", why: event.message };
        }
        this.#onEvent(event);
        return "over";
    }
  }

  get #mayBeTaken(): boolean {
    return this.isUnsure || this.master !== null;
  }

  #pass(event: Extract<FollowEvent, { kind: "acks" | "returns" }>): void {
    if ((event.kind === "acks" ? event.peels : event.returns).length > 0) this.#onEvent(event);
  }

  #isNewAck(peel: string): boolean {
    if (this.#acked.has(peel)) return false;
    this.#acked.add(peel);
    return true;
  }

  #isNews(peel: string, unreachable: boolean): boolean {
    const before = this.#returned.get(peel);
    if (before === "real" || (before === "unreachable" && unreachable)) return false;
    this.#returned.set(peel, unreachable ? "unreachable" : "real");
    return true;
  }
}

/** Refusals by a master whose clock differs from ours: another one may have taken the job before, and still answer. */
const ONE_MASTERS_VIEW: ReadonlySet<string> = new Set<ErrorCode>(["clock_skew", "expired"]);

function isWorthRetrying(code: string): boolean {
  return Object.hasOwn(ERRORS, code) && ERRORS[code as ErrorCode].remedy === "retry";
}

function unknownEnd({ jid, request }: Followed, { master }: Heard): ZesterError {
  const what = master === null && request !== null
    ? "no master said that it took it"
    : "its end was not heard in time";
  return new ZesterError("timeout", `job ${jid}: ${what}; unknown: it may have run`, {
    fix: `zester job show ${jid}`,
  });
}

/** What was heard before is on the screen; what comes after is for whoever looks later. */
function connectionLost({ jid, request }: Followed, { master }: Heard): ZesterError {
  const known = master === null && request !== null
    ? `job     ${jid}: it is not known whether a master took it`
    : `job     ${jid} goes on without us, as far as that is possible without the broker`;
  return new ZesterError("disconnected", `the connection to the broker was lost\n${known}`, {
    fix: `zester job show ${jid}     once the broker is back`,
  });
}

// ---- questions -----------------------------------------------------------------------------------------------

/** Asks the masters one question. Throws what they refuse with, or `no_responders` or `timeout`. */
export async function query<N extends keyof ReplyKinds>(
  name: N,
  asked: Query,
  ports: ClientPorts,
): Promise<ReplyOf<ReplyKinds[N]>> {
  const subject = subjects.query.of({ operator: ports.operator, query: name });
  const reply = await askOnce(subjects.query, subject, encodeQuery(asked), ports);
  return reply as ReplyOf<ReplyKinds[N]>;
}

/** Asks for a job to be canceled; a shortened id will do. The answer says how the job stood. */
export async function cancelJob(jid: string, ports: ClientPorts): Promise<ReplyOf<"cancel">> {
  const subject = subjects.adminJob.of({ operator: ports.operator, verb: "cancel" });
  const reply = await askOnce(subjects.adminJob, subject, encodeJobRequest({ jid }), ports);
  return reply as ReplyOf<"cancel">;
}

async function askOnce(
  rule: Subject,
  subject: string,
  payload: Uint8Array,
  ports: ClientPorts,
): Promise<Reply> {
  const { bus, clock, voice } = ports;
  const inbox = bus.inbox();
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const subscription = bus.subscribe(inbox, (message) => {
    try {
      resolve(decodeReply(opened(message, inbox, ports)));
    } catch (thrown) {
      reject(thrown);
    }
  });
  const patience = clock.after(REQUEST_TIMEOUT_MS, () => reject(noAnswer()));
  const lost = whenAborted(ports.lost, () => reject(lostWhileAsking()));
  try {
    voice.say(rule, subject, payload, { reply: inbox });
    const reply = await promise;
    if (reply.kind === "refused") throw refusalError(reply);
    return reply;
  } finally {
    patience.cancel();
    lost.stop();
    subscription.unsubscribe();
  }
}

function lostWhileAsking(): ZesterError {
  return new ZesterError("disconnected", "the connection to the broker was lost", {
    fix: "ask again once the broker is back",
  });
}

function noAnswer(): ZesterError {
  return new ZesterError("timeout", "a master took the question and did not answer", {
    fix: "ask again: another master may answer",
  });
}

/** What a master refused with, as an error. A code that this version does not know still has its message. */
export function refusalError(
  { code, message, fix }: { code: string; message: string; fix?: string | undefined },
): ZesterError {
  const known = Object.hasOwn(ERRORS, code) ? code as ErrorCode : "internal";
  return new ZesterError(known, message, fix === undefined ? {} : { fix });
}

function opened(message: Message, inbox: string, { keyring, clock }: ClientPorts): Uint8Array {
  if (message.status === 503) {
    throw new ZesterError("no_responders", "no master answers", {
      fix: "start a master, or check that this context names the right fleet",
    });
  }
  const door = ingest(message, { rule: replyRule(inbox), keyring, nowMs: clock.now() });
  if (!door.ok) throw new ZesterError(door.reason, `answer refused: ${door.detail}`);
  return door.payload;
}

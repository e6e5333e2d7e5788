/**
 * Decides when one contender takes, renews, gives up and releases a leader lease.
 *
 * Invariants:
 * - Only the answer to a compare-and-set gives or keeps leadership. A read does so in one case: a `create` whose answer
 *   was lost, when a leader read shows the nonce of that very `create`.
 * - Leadership ends, by the holder's own monotonic clock, one TTL after the last successful write was *sent*. The store
 *   counts from when it took the write, which is later, so a successor cannot begin before the holder has stopped
 *   (but for clocks that run at different speeds, and for work that was already on its way: it must be fenced).
 * - A release deletes only the holder's own revision.
 */
import type { WriteResult } from "../../core/ports.ts";
import { LEASE_RELEASE_MS, LEASE_RENEW_MS, LEASE_TTL_MS } from "../../core/limits.ts";
import { assertNever } from "../../core/errors.ts";

/** What a lease key holds: who has it, and which acquisition of theirs it is. */
export interface LeaseValue {
  readonly holder: string;
  readonly nonce: string;
}

/** Leadership: the revision that won it, the one that keeps it, and when the last successful write was sent. */
export interface Tenure {
  readonly acquired: bigint;
  readonly revision: bigint;
  readonly renewedMs: number;
}

/** Where the contender stands. `attempt` numbers the calls to the store, so that late answers are told apart. */
export type LeaseState =
  & {
    readonly holder: string;
    /** Random, chosen once per run of the loop; with `attempt` it makes the nonce of each `create`. */
    readonly runNonce: string;
    readonly attempt: number;
  }
  & Phase;

type Phase =
  | { readonly at: "resting"; readonly doubt?: Doubt }
  | { readonly at: "creating"; readonly nonce: string; readonly sentMs: number }
  | { readonly at: "looking"; readonly doubt: Doubt }
  | { readonly at: "held"; readonly nonce: string; readonly tenure: Tenure }
  | {
    readonly at: "renewing";
    readonly nonce: string;
    readonly tenure: Tenure;
    readonly sentMs: number;
  }
  /** Asked to stop while a call is out: its answer says what is left to release. */
  | { readonly at: "stopping"; readonly nonce: string; readonly deadlineMs: number }
  | { readonly at: "releasing" }
  | { readonly at: "ended" };

/** A `create` whose answer was lost: it may have happened. */
interface Doubt {
  readonly nonce: string;
  readonly sentMs: number;
}

/** What the store said, or that it could not be asked. */
export type Answer = WriteResult | { outcome: "failed"; message: string };

/** What a leader read found, or that it could not be made. */
export type Sight =
  | { found: "value"; value: LeaseValue; revision: bigint }
  | { found: "nothing" }
  | { found: "failed"; message: string };

/** What happened, when, and the chance (in [0, 1)) to use for the next wait. */
export type LeaseEvent =
  & { readonly nowMs: number; readonly chance: number }
  & (
    | { readonly on: "due" }
    | { readonly on: "stop" }
    | { readonly on: "written"; readonly attempt: number; readonly answer: Answer }
    | { readonly on: "seen"; readonly attempt: number; readonly sight: Sight }
  );

/** What the service has to do. A `wait` replaces the one before; when it is over, the event is `due`. */
export type LeaseAction =
  | { do: "create"; attempt: number; value: LeaseValue; why: string }
  | { do: "look"; attempt: number; why: string }
  | { do: "renew"; attempt: number; value: LeaseValue; revision: bigint; why: string }
  | { do: "release"; attempt: number; revision: bigint; why: string }
  | { do: "wait"; ms: number; why: string }
  | { do: "acquired"; revision: bigint; why: string }
  | { do: "lost"; why: string }
  | { do: "end"; why: string };

export interface Step {
  state: LeaseState;
  actions: LeaseAction[];
}

/** The function that decides: `next`, or a broken variant of it in the simulation. */
export type LeasePlan = (state: LeaseState, event: LeaseEvent) => Step;

/** Where a contender begins: the first `due` makes it try. */
export function begin(holder: string, runNonce: string): LeaseState {
  return { holder, runNonce, attempt: 0, at: "resting" };
}

/** The tenure that this state believes in at this moment, or null. */
export function tenureOf(state: LeaseState, nowMs: number): Tenure | null {
  if (state.at !== "held" && state.at !== "renewing") return null;
  return nowMs - state.tenure.renewedMs < LEASE_TTL_MS ? state.tenure : null;
}

/** Decides the next step of one contender. */
export function next(state: LeaseState, event: LeaseEvent): Step {
  switch (event.on) {
    case "due":
      return onDue(state, event);
    case "stop":
      return onStop(state, event);
    case "written":
      return event.attempt === state.attempt ? onWritten(state, event) : stay(state);
    case "seen":
      return event.attempt === state.attempt ? onSeen(state, event) : stay(state);
    default:
      return assertNever(event);
  }
}

function onDue(state: LeaseState, event: LeaseEvent): Step {
  switch (state.at) {
    case "resting":
      return isOpen(state.doubt, event.nowMs)
        ? look(state, state.doubt, "the answer to the last create is still missing")
        : create(state, event.nowMs);
    case "held":
      return isOver(state.tenure, event.nowMs)
        ? lose(state, event, "not renewed for one TTL: this process was stopped or starved")
        : renew(state, state.nonce, state.tenure, event.nowMs);
    case "renewing":
      return lose(state, event, "the renewal was not answered within one TTL");
    case "stopping":
    case "releasing":
      return end(state, "no answer in time: the key expires by itself");
    case "creating":
    case "looking":
    case "ended":
      return stay(state);
    default:
      return assertNever(state);
  }
}

function onWritten(
  state: LeaseState,
  event: LeaseEvent & { on: "written" },
): Step {
  const { answer } = event;
  switch (state.at) {
    case "creating":
      return onCreated(state, event);
    case "renewing":
      if (answer.outcome !== "ok") return lose(state, event, `renewal: ${reasonOf(answer)}`);
      return hold(state, event, {
        ...state.tenure,
        revision: answer.revision,
        renewedMs: state.sentMs,
      });
    case "stopping":
      return answer.outcome === "ok"
        ? release(state, answer.revision, state.deadlineMs - event.nowMs)
        : end(state, `not released: ${reasonOf(answer)}`);
    case "releasing":
      return end(state, answer.outcome === "ok" ? "released" : `release: ${reasonOf(answer)}`);
    case "resting":
    case "looking":
    case "held":
    case "ended":
      return stay(state);
    default:
      return assertNever(state);
  }
}

function onCreated(
  state: LeaseState & { at: "creating" },
  event: LeaseEvent & { on: "written" },
): Step {
  const { answer } = event;
  const { nonce, sentMs } = state;
  switch (answer.outcome) {
    case "ok":
      return acquire(state, event, {
        acquired: answer.revision,
        revision: answer.revision,
        renewedMs: sentMs,
      });
    case "unknown":
      return look(state, { nonce, sentMs }, `create: ${reasonOf(answer)}`);
    case "conflict":
    case "failed":
      return rest(state, event, `create: ${reasonOf(answer)}`);
    default:
      return assertNever(answer);
  }
}

function onSeen(state: LeaseState, event: LeaseEvent & { on: "seen" }): Step {
  const { sight } = event;
  const doubt = state.at === "looking" ? state.doubt : undefined;
  const own = sight.found === "value" && isOwn(state, sight.value);
  if (state.at === "stopping") {
    return own
      ? release(state, sight.revision, state.deadlineMs - event.nowMs)
      : end(state, "not released: no key of ours was seen");
  }
  if (doubt === undefined) return stay(state);
  if (own) {
    return acquire({ ...state, at: "creating", ...doubt }, event, {
      acquired: sight.revision,
      revision: sight.revision,
      renewedMs: doubt.sentMs,
    });
  }
  if (sight.found === "failed") return rest(state, event, `look: ${sight.message}`, doubt);
  // The lost create may still be under way. If it lands, nobody holds that key, and it expires by itself.
  return rest(state, event, "our create is not there");
}

function onStop(state: LeaseState, event: LeaseEvent): Step {
  switch (state.at) {
    case "resting":
      return end(state, "stopped while waiting");
    case "held":
      return lost("stopped", release(state, state.tenure.revision, LEASE_RELEASE_MS));
    case "renewing":
      return lost("stopped", awaitAnswer(state, state.nonce, event.nowMs));
    case "creating":
      return awaitAnswer(state, state.nonce, event.nowMs);
    case "looking":
      return awaitAnswer(state, state.doubt.nonce, event.nowMs);
    case "stopping":
    case "releasing":
      return stay(state);
    case "ended":
      return end(state, "already stopped");
    default:
      return assertNever(state);
  }
}

function create(state: LeaseState, nowMs: number): Step {
  const attempt = state.attempt + 1;
  const nonce = `${state.runNonce}-${attempt}`;
  return {
    state: { ...base(state), attempt, at: "creating", nonce, sentMs: nowMs },
    actions: [{
      do: "create",
      attempt,
      value: { holder: state.holder, nonce },
      why: "time to try",
    }],
  };
}

function look(state: LeaseState, doubt: Doubt, why: string): Step {
  const attempt = state.attempt + 1;
  return {
    state: { ...base(state), attempt, at: "looking", doubt },
    actions: [{ do: "look", attempt, why }],
  };
}

function renew(state: LeaseState, nonce: string, tenure: Tenure, nowMs: number): Step {
  const attempt = state.attempt + 1;
  const value = { holder: state.holder, nonce };
  return {
    state: { ...base(state), attempt, at: "renewing", nonce, tenure, sentMs: nowMs },
    actions: [
      { do: "renew", attempt, value, revision: tenure.revision, why: "time to renew" },
      {
        do: "wait",
        ms: tenure.renewedMs + LEASE_TTL_MS - nowMs,
        why: "without an answer leadership ends with the TTL",
      },
    ],
  };
}

function release(state: LeaseState, revision: bigint, limitMs: number): Step {
  const attempt = state.attempt + 1;
  return {
    state: { ...base(state), attempt, at: "releasing" },
    actions: [
      { do: "release", attempt, revision, why: "stopped" },
      { do: "wait", ms: Math.max(0, limitMs), why: "a release must not hold up the stop" },
    ],
  };
}

/** A store that answered late gives a tenure that is already over: then it never began. */
function acquire(
  state: LeaseState & { at: "creating" },
  event: LeaseEvent,
  tenure: Tenure,
): Step {
  if (isOver(tenure, event.nowMs)) return rest(state, event, "created, but too long ago to hold");
  const { state: held, actions } = hold(state, event, tenure);
  const why = `created revision ${tenure.acquired}`;
  return { state: held, actions: [{ do: "acquired", revision: tenure.acquired, why }, ...actions] };
}

function hold(
  state: LeaseState & { nonce: string },
  event: LeaseEvent,
  tenure: Tenure,
): Step {
  const ms = Math.max(0, tenure.renewedMs + LEASE_RENEW_MS - event.nowMs);
  return {
    state: { ...base(state), at: "held", nonce: state.nonce, tenure },
    actions: [{ do: "wait", ms, why: `holding revision ${tenure.revision}` }],
  };
}

function lose(state: LeaseState, event: LeaseEvent, why: string): Step {
  return lost(why, rest(state, event, why));
}

function lost(why: string, { state, actions }: Step): Step {
  return { state, actions: [{ do: "lost", why }, ...actions] };
}

/** Waits between TTL/3 and TTL/2, so that contenders do not try at one instant. */
function rest(state: LeaseState, event: LeaseEvent, why: string, doubt?: Doubt): Step {
  const ms = Math.round(LEASE_TTL_MS / 3 + event.chance * (LEASE_TTL_MS / 6));
  return {
    state: { ...base(state), at: "resting", ...(doubt ? { doubt } : {}) },
    actions: [{ do: "wait", ms, why }],
  };
}

function awaitAnswer(state: LeaseState, nonce: string, nowMs: number): Step {
  return {
    state: { ...base(state), at: "stopping", nonce, deadlineMs: nowMs + LEASE_RELEASE_MS },
    actions: [{ do: "wait", ms: LEASE_RELEASE_MS, why: "a call is out: its answer may be ours" }],
  };
}

function end(state: LeaseState, why: string): Step {
  return { state: { ...base(state), at: "ended" }, actions: [{ do: "end", why }] };
}

function stay(state: LeaseState): Step {
  return { state, actions: [] };
}

function base({ holder, runNonce, attempt }: LeaseState) {
  return { holder, runNonce, attempt };
}

function isOver(tenure: Tenure, nowMs: number): boolean {
  return nowMs - tenure.renewedMs >= LEASE_TTL_MS;
}

/** A key that was created longer ago than one TTL is gone, or is not ours any more: nothing to look for. */
function isOpen(doubt: Doubt | undefined, nowMs: number): doubt is Doubt {
  return doubt !== undefined && nowMs - doubt.sentMs < LEASE_TTL_MS;
}

function isOwn(state: LeaseState, value: LeaseValue): boolean {
  const nonce = state.at === "looking" ? state.doubt.nonce : "nonce" in state ? state.nonce : null;
  return value.holder === state.holder && value.nonce === nonce;
}

function reasonOf(answer: Answer): string {
  switch (answer.outcome) {
    case "ok":
      return `revision ${answer.revision}`;
    case "conflict":
      return "somebody else holds it";
    case "unknown":
      return `outcome unknown (${answer.cause.message})`;
    case "failed":
      return answer.message;
    default:
      return assertNever(answer);
  }
}

/** The text of a lease key. Holder ids hold no blanks, so it reads back without doubt. */
export function encodeLease({ holder, nonce }: LeaseValue): Uint8Array {
  return new TextEncoder().encode(`${holder} ${nonce}`);
}

/** Reads what `encodeLease` wrote; of anything else, the holder is all of it and the nonce is empty. */
export function decodeLease(bytes: Uint8Array): LeaseValue {
  const text = new TextDecoder().decode(bytes);
  const blank = text.lastIndexOf(" ");
  return blank < 0
    ? { holder: text, nonce: "" }
    : { holder: text.slice(0, blank), nonce: text.slice(blank + 1) };
}

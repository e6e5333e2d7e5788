/** Leases that are wrong on purpose. Each must be caught by the checks of its scenario, or the checks are worthless. */
import type { Bucket, Clock } from "../../core/ports.ts";
import { type LeaseEvent, type LeaseState, next, type Step } from "../../master/lease/plan.ts";
import { leaseScenario, type LeaseVariant } from "./lease_scenario.ts";
import type { Scenario } from "./world.ts";

const leaseBugs: Readonly<Record<string, LeaseVariant>> = {
  "takes a free key for its own after a read": { bucket: trustingRead },
  "takes an unknown create for a success": { bucket: unknownCreateIsOk },
  "takes an unknown renewal for a success": { plan: unknownRenewalIsOk },
  "repeats an unknown renewal and takes the conflict for its own write": { plan: refusedIsOwn },
  "counts the TTL from when it looked, not from when it wrote": { plan: countsFromLook },
  "counts time by ticks, which stop when the process does": { clock: tickingClock },
  "releases whatever revision is there": { bucket: unfencedDelete },
  "does not fence the work by revision": { fenceless: true },
};

/** Every planted bug as a scenario, by what it does wrong. */
export const planted: readonly { bug: string; scenario: Scenario }[] = Object.entries(leaseBugs)
  .map(([bug, variant]) => ({ bug, scenario: leaseScenario(variant) }));

/** The methods of a bucket as they are, for a variant that changes one. */
function methodsOf(inner: Bucket): Bucket {
  return {
    get: (key, options) => inner.get(key, options),
    create: (key, value) => inner.create(key, value),
    update: (key, value, revision) => inner.update(key, value, revision),
    put: (key, value) => inner.put(key, value),
    delete: (key, options) => inner.delete(key, options),
    keys: (prefix) => inner.keys(prefix),
    history: (key) => inner.history(key),
    watch: (filter, handler) => inner.watch(filter, handler),
  };
}

function trustingRead(inner: Bucket): Bucket {
  return {
    ...methodsOf(inner),
    async create(key, value) {
      return await inner.get(key) === null ? await inner.put(key, value) : { outcome: "conflict" };
    },
  };
}

function unknownCreateIsOk(inner: Bucket): Bucket {
  return {
    ...methodsOf(inner),
    async create(key, value) {
      const result = await inner.create(key, value);
      if (result.outcome !== "unknown") return result;
      const entry = await inner.get(key, { leader: true });
      return entry === null ? result : { outcome: "ok", revision: entry.revision };
    },
  };
}

function unfencedDelete(inner: Bucket): Bucket {
  return { ...methodsOf(inner), delete: (key) => inner.delete(key) };
}

function unknownRenewalIsOk(state: LeaseState, event: LeaseEvent): Step {
  return next(state, renewalIsOk("unknown", state, event));
}

function refusedIsOwn(state: LeaseState, event: LeaseEvent): Step {
  const { nowMs, chance } = event;
  const isUnknown = event.on === "written" && event.answer.outcome === "unknown" &&
    event.attempt === state.attempt;
  return state.at === "renewing" && isUnknown
    ? next({ ...state, at: "held" }, { on: "due", nowMs, chance })
    : next(state, renewalIsOk("conflict", state, event));
}

function renewalIsOk(outcome: string, state: LeaseState, event: LeaseEvent): LeaseEvent {
  if (state.at !== "renewing" || event.on !== "written" || event.answer.outcome !== outcome) {
    return event;
  }
  return { ...event, answer: { outcome: "ok", revision: state.tenure.revision } };
}

function countsFromLook(state: LeaseState, event: LeaseEvent): Step {
  return event.on === "seen" && state.at === "looking"
    ? next({ ...state, doubt: { ...state.doubt, sentMs: event.nowMs } }, event)
    : next(state, event);
}

function tickingClock(inner: Clock): Clock {
  const tickMs = 100;
  let elapsedMs = 0;
  inner.every(tickMs, () => elapsedMs += tickMs);
  return {
    now: () => inner.now(),
    monotonic: () => elapsedMs,
    after: (delayMs, callback) => inner.after(delayMs, callback),
    every: (intervalMs, callback) => inner.every(intervalMs, callback),
    sleep: (delayMs, signal) => inner.sleep(delayMs, signal),
  };
}

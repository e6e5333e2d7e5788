/**
 * Decides how much of each sender is looked at. Verifying and decoding cost time; a sender that was taken over could use up
 * all of it and starve the others. So each has a share that fills again with time, and what is beyond it is dropped unseen.
 */
import {
  INGRESS_LOG_MS,
  INGRESS_LOG_SENDERS_MAX,
  INGRESS_SENDERS_MAX,
  INGRESS_UNIT_BYTES,
  OPERATOR_INGRESS_UNITS_MAX,
  OPERATOR_INGRESS_UNITS_PER_SECOND,
  PEEL_INGRESS_UNITS_MAX,
  PEEL_INGRESS_UNITS_PER_SECOND,
} from "./limits.ts";
import type { Clock } from "./ports.ts";
import type { Role } from "./subjects.ts";

export interface IngressGuard {
  /** Whether a sender of one of these roles has used up its share, so that its messages need not be looked at at all. */
  isSpent(roles: readonly Role[], name: string): boolean;
  /** Whether one more message of this sender is looked at. Ask only for senders that are known. */
  admits(sender: { role: Role; identity: string }, bytes: number): boolean;
  /** Whether a refused message with this sender's name is worth a line in the log. The name may be anybody's. */
  isNews(name: string): boolean;
}

/** A guard with an own share for every peel and operator. What masters sign is always looked at. */
export function ingressGuard(clock: Pick<Clock, "monotonic">): IngressGuard {
  const shares: Partial<Record<Role, Shares>> = {
    peel: sharesOf(PEEL_SHARE),
    operator: sharesOf(OPERATOR_SHARE),
    direct: sharesOf(OPERATOR_SHARE),
  };
  const news = newsFilter();
  return {
    isSpent(roles, name) {
      const nowMs = clock.monotonic();
      for (const role of roles) {
        // The subject of a direct command names who it is for, not who it is from.
        if (role !== "direct" && shares[role]?.isSpent(name, nowMs)) return true;
      }
      return false;
    },
    admits: ({ role, identity }, bytes) =>
      shares[role]?.take(identity, unitsOf(bytes), clock.monotonic()) ?? true,
    isNews: (name) => news(name, clock.monotonic()),
  };
}

/** What one sender may use: so much at once, so much in the long run. */
export interface Share {
  readonly unitsMax: number;
  readonly unitsPerSecond: number;
  /** Senders remembered. */
  readonly sendersMax: number;
}

const PEEL_SHARE: Share = {
  unitsMax: PEEL_INGRESS_UNITS_MAX,
  unitsPerSecond: PEEL_INGRESS_UNITS_PER_SECOND,
  sendersMax: INGRESS_SENDERS_MAX,
};

const OPERATOR_SHARE: Share = {
  unitsMax: OPERATOR_INGRESS_UNITS_MAX,
  unitsPerSecond: OPERATOR_INGRESS_UNITS_PER_SECOND,
  sendersMax: INGRESS_SENDERS_MAX,
};

/** What a message costs. */
export function unitsOf(bytes: number): number {
  return 1 + Math.floor(bytes / INGRESS_UNIT_BYTES);
}

export interface Shares {
  /** Whether the sender has nothing left. Costs little, and changes nothing. */
  isSpent(sender: string, nowMs: number): boolean;
  /** Takes that much of the sender's share, if there is as much left. `nowMs` never steps back. */
  take(sender: string, units: number, nowMs: number): boolean;
  /** How many senders are remembered. */
  readonly size: number;
}

/** A share for each sender. Pure: the same calls give the same answers. */
export function sharesOf({ unitsMax, unitsPerSecond, sendersMax }: Share): Shares {
  const left = new Map<string, { units: number; atMs: number }>();
  function unitsLeft(sender: string, nowMs: number): number {
    const before = left.get(sender);
    if (before === undefined) return unitsMax;
    return Math.min(unitsMax, before.units + (nowMs - before.atMs) / 1_000 * unitsPerSecond);
  }
  return {
    isSpent: (sender, nowMs) => unitsLeft(sender, nowMs) < 1,
    take(sender, units, nowMs) {
      const there = unitsLeft(sender, nowMs);
      const isEnough = there >= units;
      left.delete(sender); // and to the end: whoever was not heard from the longest is first
      left.set(sender, { units: isEnough ? there - units : there, atMs: nowMs });
      // The one that was silent the longest goes: its share has most likely filled again.
      if (left.size > sendersMax) left.delete(left.keys().next().value ?? sender);
      return isEnough;
    },
    get size() {
      return left.size;
    },
  };
}

/** Lets each name through once in a while, and only so many names: they may be made up. */
export function newsFilter(): (name: string, nowMs: number) => boolean {
  const told = new Set<string>();
  let sinceMs = -Infinity;
  return (name, nowMs) => {
    if (nowMs - sinceMs >= INGRESS_LOG_MS) {
      told.clear();
      sinceMs = nowMs;
    }
    if (told.has(name) || told.size >= INGRESS_LOG_SENDERS_MAX) return false;
    told.add(name);
    return true;
  };
}

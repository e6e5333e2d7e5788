/** What may go wrong in a run, how often, and what really did. */
import type { SeededRandom } from "./seeded_random.ts";

/** Every kind of fault. A run over many seeds must have seen each of them, or it proved less than it seems. */
export const FAULTS = {
  loss: "a message, request or answer did not arrive",
  repeat: "a message arrived twice",
  delay: "a message was late by seconds",
  partition: "a node was cut off",
  unknown: "a write ended with an unknown outcome",
  staleRead: "a read gave an older value",
  crash: "a node died",
  crashAtCall: "a node died in the middle of a call",
  restart: "a node came back",
  pause: "a node stood still and went on later",
  stop: "a node was stopped gracefully",
  outage: "a bucket or a stream gave no answer for a while",
  skew: "clocks were further apart than messages may be",
} as const;

export type Fault = keyof typeof FAULTS;

/** Faults of single messages, as probabilities; faults of nodes, as the mean time between them (0: never). */
export interface FaultRates {
  readonly loss: number;
  readonly repeat: number;
  readonly delay: number;
  readonly stall: number;
  readonly staleRead: number;
  readonly crashAtCall: number;
  readonly crashEveryMs: number;
  readonly partitionEveryMs: number;
  readonly pauseEveryMs: number;
  readonly stopEveryMs: number;
  readonly outageEveryMs: number;
}

export const NO_FAULTS: FaultRates = {
  loss: 0,
  repeat: 0,
  delay: 0,
  stall: 0,
  staleRead: 0,
  crashAtCall: 0,
  crashEveryMs: 0,
  partitionEveryMs: 0,
  pauseEveryMs: 0,
  stopEveryMs: 0,
  outageEveryMs: 0,
};

const HARSHEST: FaultRates = {
  loss: 0.2,
  repeat: 0.2,
  delay: 0.2,
  stall: 0.06,
  staleRead: 0.5,
  crashAtCall: 0.04,
  crashEveryMs: 25_000,
  partitionEveryMs: 20_000,
  pauseEveryMs: 25_000,
  stopEveryMs: 20_000,
  outageEveryMs: 30_000,
};

/**
 * The faults of one run. Not every run has every fault: with all of them at once nothing lives long enough to go wrong
 * in an interesting way. `traffic` is how many times as many messages as in a small scenario there are: one that is late
 * holds up all that follow on its connection, so that each must be late less often.
 */
export function drawFaults(random: SeededRandom, { traffic = 1 } = {}): FaultRates {
  const drawn = Object.entries(HARSHEST).map(([name, harshest]) => {
    if (!random.chance(0.7)) return [name, 0];
    if (name.endsWith("EveryMs")) return [name, harshest * random.between(1, 4)];
    const busy = name === "staleRead" ? 1 : traffic;
    return [name, harshest * random.between(0.2, 1) / busy];
  });
  return Object.fromEntries(drawn) as FaultRates;
}

/** Counts what really happened: faults, and whatever a scenario hopes to see at least once. */
export class Sometimes {
  readonly counts = new Map<string, number>();

  saw(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  add(others: ReadonlyMap<string, number>): void {
    for (const [what, count] of others) {
      this.counts.set(what, (this.counts.get(what) ?? 0) + count);
    }
  }
}

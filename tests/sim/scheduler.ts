/** Virtual time: a queue of what happens when. Nothing else in a simulated run moves time. */
import { setImmediate } from "node:timers";
import type { Timer } from "../../core/ports.ts";

interface Planned {
  readonly atMs: number;
  /** Breaks ties: what was planned first happens first. */
  readonly order: number;
  run: (() => void) | null;
}

/** Runs events one by one in the order of their time. */
export class Scheduler {
  readonly #heap: Planned[] = [];
  #nowMs = 0;
  #order = 0;
  #steps = 0;

  /** Virtual milliseconds since the run began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get steps(): number {
    return this.#steps;
  }

  after(delayMs: number, run: () => void): Timer {
    const planned: Planned = {
      atMs: this.#nowMs + Math.max(0, delayMs),
      order: this.#order++,
      run,
    };
    this.#push(planned);
    return { cancel: () => void (planned.run = null) };
  }

  /** Takes events until the given time, or until `afterEach` says stop; promises settle after every one. */
  async runUntil(endMs: number, afterEach: () => "go on" | "stop"): Promise<void> {
    for (let planned; (planned = this.#popBefore(endMs)) !== undefined;) {
      if (planned.run === null) continue;
      this.#nowMs = planned.atMs;
      this.#steps++;
      planned.run();
      await promisesSettled();
      if (afterEach() === "stop") return;
    }
    this.#nowMs = endMs;
  }

  #popBefore(endMs: number): Planned | undefined {
    const first = this.#heap[0];
    return first !== undefined && first.atMs <= endMs ? this.#pop() : undefined;
  }

  #push(planned: Planned): void {
    const heap = this.#heap;
    let at = heap.push(planned) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[parent]!, planned)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = planned;
  }

  #pop(): Planned {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (let child; (child = 2 * at + 1) < heap.length; at = child) {
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[at] = heap[child]!;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Planned, b: Planned): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/**
 * Resolves once no promise has anything left to do. A turn of the real event loop is the only way to know that, and
 * `setImmediate` the cheapest such turn (1 µs; a timer of 0 ms takes 2,000).
 */
export function promisesSettled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * Gives each piece of work a worker of its own, fresh and used once, few at a time. When it is told that more will follow, the
 * next worker starts while the ones before it work: all workers are alike until they have their task.
 */
import { WORKERS_AHEAD_MAX, WORKERS_AT_ONCE_MAX } from "../../core/limits.ts";
import type { Sandbox } from "./sandbox.ts";

export interface OwnWorkers {
  /** Does the work in a worker that ends with it, when it is its turn. */
  use<T>(work: (sandbox: Sandbox) => Promise<T>): Promise<T>;
  /** So many uses will follow. Fewer may: what was started for them ends with `close`. */
  expect(count: number): void;
  close(): void;
}

/** Makes workers as they are needed. Close it. */
export function openOwnWorkers(open: () => Sandbox): OwnWorkers {
  const started: Sandbox[] = [];
  const waiting: (() => void)[] = [];
  let working = 0;
  let expected = 0;

  async function enter(): Promise<void> {
    if (working < WORKERS_AT_ONCE_MAX) working++;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // takes over the place of one that leaves
  }

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) working--;
    else next();
  }

  function startAhead(): void {
    while (started.length < Math.min(expected, WORKERS_AHEAD_MAX)) started.push(open());
  }

  return {
    async use(work) {
      await enter();
      const sandbox = started.shift() ?? open();
      expected = Math.max(0, expected - 1);
      startAhead();
      try {
        return await work(sandbox);
      } finally {
        sandbox.close();
        leave();
      }
    },
    expect(count) {
      expected = count;
      startAhead();
    },
    close() {
      expected = 0;
      for (const each of started.splice(0)) each.close();
    },
  };
}

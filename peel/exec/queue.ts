/** Decides whose turn it is: functions that change something run one at a time, in the order they came, few of them waiting. */

/** What came of waiting for one's turn. `ended`: the signal aborted, or the queue was closed. */
export type Turn = "now" | "full" | "ended";

export interface ExecutionQueue {
  /** Waits for the turn. Whoever got "now" must call `leave`. */
  enter(signal: AbortSignal): Promise<Turn>;
  leave(): void;
  /** Nobody gets a turn any more. */
  close(): void;
  /** How many wait. */
  readonly waiting: number;
}

/** A queue in which at most `waitingMax` wait, besides the one that runs. */
export function executionQueue(waitingMax: number): ExecutionQueue {
  const waiting = new Set<(turn: Turn) => void>();
  let isTaken = false;
  let isClosed = false;

  function wait(signal: AbortSignal): Promise<Turn> {
    return new Promise((resolve) => {
      const give = (turn: Turn) => {
        waiting.delete(give);
        signal.removeEventListener("abort", end);
        resolve(turn);
      };
      const end = () => give("ended");
      signal.addEventListener("abort", end, { once: true });
      waiting.add(give);
    });
  }

  return {
    enter(signal) {
      if (isClosed || signal.aborted) return Promise.resolve("ended");
      if (isTaken) return waiting.size >= waitingMax ? Promise.resolve("full") : wait(signal);
      isTaken = true;
      return Promise.resolve("now");
    },
    leave() {
      const [next] = waiting; // sets keep the order in which they were filled
      isTaken = next !== undefined;
      next?.("now");
    },
    close() {
      isClosed = true;
      for (const give of [...waiting]) give("ended");
    },
    get waiting() {
      return waiting.size;
    },
  };
}

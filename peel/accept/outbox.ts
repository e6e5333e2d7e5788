/**
 * Sends what must not be lost until somebody has it: each item is tried at once, then again and again with growing waits, a
 * bounded number at the same time. One that always fails holds up no other, and nothing here holds up new work.
 */
import { RETURN_RETRY_MS, RETURN_RETRY_MS_MAX, RETURNS_IN_FLIGHT_MAX } from "../../core/limits.ts";
import type { Clock, Timer } from "../../core/ports.ts";

export interface OutboxOptions {
  readonly clock: Clock;
  /** Tries to send one item; true when it was taken. Never throws. */
  send(id: string, nextTryMs: number): Promise<boolean>;
}

export interface Outbox {
  /** Sends it until it is taken. One that waits for its next try is tried at once. */
  add(id: string): void;
  /** Tries everything that waits: the connection is back. */
  wake(): void;
  /** Tries everything once more, and then no more. Resolves when those tries have ended. */
  stop(): Promise<void>;
  /** How many are not taken yet. */
  readonly size: number;
}

interface Item {
  readonly id: string;
  waitMs: number;
  isSending: boolean;
  /** Set while it waits for its next try. */
  timer: Timer | undefined;
}

/** Makes an empty outbox. */
export function openOutbox({ clock, send }: OutboxOptions): Outbox {
  const items = new Map<string, Item>();
  const ready = new Set<Item>();
  const sending = new Set<Promise<void>>();
  let isStopped = false;

  function pump(): void {
    for (const item of ready) {
      if (sending.size >= RETURNS_IN_FLIGHT_MAX) return;
      ready.delete(item);
      const attempt = tryOnce(item);
      sending.add(attempt);
      attempt.finally(() => {
        sending.delete(attempt);
        pump();
      });
    }
  }

  async function tryOnce(item: Item): Promise<void> {
    item.isSending = true;
    const isTaken = await send(item.id, item.waitMs);
    item.isSending = false;
    if (isTaken) items.delete(item.id);
    else if (!isStopped) {
      item.timer = clock.after(item.waitMs, () => makeReady(item));
      item.waitMs = Math.min(item.waitMs * 2, RETURN_RETRY_MS_MAX);
    }
  }

  function makeReady(item: Item): void {
    item.timer?.cancel();
    item.timer = undefined;
    if (!item.isSending) ready.add(item);
    pump();
  }

  function wake(): void {
    for (const item of [...items.values()]) {
      if (item.timer === undefined) continue;
      item.waitMs = RETURN_RETRY_MS;
      makeReady(item);
    }
  }

  return {
    add(id) {
      let item = items.get(id);
      if (item === undefined) {
        item = { id, waitMs: RETURN_RETRY_MS, isSending: false, timer: undefined };
        items.set(id, item);
      }
      makeReady(item);
    },
    wake,
    async stop() {
      isStopped = true;
      wake();
      while (sending.size > 0) await Promise.allSettled(sending);
    },
    get size() {
      return items.size;
    },
  };
}

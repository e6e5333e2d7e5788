/** Gathers what comes within a few milliseconds, to be dealt with at once: a large fleet then costs few messages. */
import { FOLLOW_BATCH_BYTES_MAX, FOLLOW_BATCH_MAX, FOLLOW_BATCH_MS } from "../../core/limits.ts";
import type { Clock, Timer } from "../../core/ports.ts";

export interface Batcher<T> {
  add(item: T, bytes: number): void;
  flush(): void;
}

/** When a batch is full, and how long it is waited for. */
export interface BatchLimits {
  readonly itemsMax: number;
  readonly bytesMax: number;
  readonly waitMs: number;
}

/** What goes to operators: never more bytes at once than a message may carry. */
const FOLLOW_LIMITS: BatchLimits = {
  itemsMax: FOLLOW_BATCH_MAX,
  bytesMax: FOLLOW_BATCH_BYTES_MAX,
  waitMs: FOLLOW_BATCH_MS,
};

/** Hands items to `send` several at a time. */
export function batcher<T>(
  clock: Clock,
  send: (items: T[]) => void,
  { itemsMax, bytesMax, waitMs }: BatchLimits = FOLLOW_LIMITS,
): Batcher<T> {
  let items: T[] = [];
  let bytes = 0;
  let timer: Timer | undefined;
  function flush(): void {
    timer?.cancel();
    timer = undefined;
    const ready = items;
    items = [];
    bytes = 0;
    if (ready.length > 0) send(ready);
  }
  return {
    flush,
    add(item, size) {
      if (bytes + size > bytesMax) flush();
      items.push(item);
      bytes += size;
      if (items.length >= itemsMax) flush();
      else timer ??= clock.after(waitMs, flush);
    },
  };
}

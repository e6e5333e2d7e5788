/** Gathers what comes within a few milliseconds into one message: a large fleet then costs few. */
import { FOLLOW_BATCH_BYTES_MAX, FOLLOW_BATCH_MAX, FOLLOW_BATCH_MS } from "../../core/limits.ts";
import type { Clock, Timer } from "../../core/ports.ts";

export interface Batcher<T> {
  add(item: T, bytes: number): void;
  flush(): void;
}

/** Hands items to `send` several at a time, never more bytes at once than a message may carry. */
export function batcher<T>(clock: Clock, send: (items: T[]) => void): Batcher<T> {
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
      if (bytes + size > FOLLOW_BATCH_BYTES_MAX) flush();
      items.push(item);
      bytes += size;
      if (items.length >= FOLLOW_BATCH_MAX) flush();
      else timer ??= clock.after(FOLLOW_BATCH_MS, flush);
    },
  };
}

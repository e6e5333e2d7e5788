/**
 * Writes the journal: appends that share a flush, and rewrites. After a failed write nobody knows how much of it is on disk,
 * and a flush that failed once cannot be trusted by trying again; so the next write makes the whole file anew.
 */
import { toZesterError } from "../../core/errors.ts";
import { JOURNAL_COMPACT_BYTES_MIN, JOURNAL_COMPACT_MS_MAX } from "../../core/limits.ts";
import type { Clock, Files } from "../../core/ports.ts";

const MODE = 0o600;

export interface JournalFile {
  /** Resolves when the line is on disk. All that is handed over while a flush is under way shares the next one. */
  append(line: string): Promise<void>;
  /** Goes to disk with the next append: for what may be lost without harm. */
  defer(line: string): void;
  /** Writes what was deferred. */
  flush(): Promise<void>;
  /** Why the last write failed; undefined while all is well. */
  readonly problem: string | undefined;
  /** Size after the last rewrite. */
  readonly baseBytes: number;
}

interface Batch {
  readonly lines: string[];
  isWanted: boolean;
  readonly done: PromiseWithResolvers<void>;
}

export interface JournalFileOptions {
  readonly path: string;
  readonly files: Files;
  readonly clock: Clock;
  /** The whole content, with everything that was appended, written or not. */
  content(): Uint8Array;
}

/** Takes over the file and writes it anew, which drops old entries and a torn tail. */
export async function openJournalFile(options: JournalFileOptions): Promise<JournalFile> {
  const { path, files, clock, content } = options;
  let batch = newBatch();
  let isWriting = false;
  let problem: string | undefined;
  let [baseBytes, fileBytes, rewrittenMs] = [0, 0, 0];

  async function rewrite(): Promise<void> {
    const whole = content();
    await files.replace(path, whole, MODE);
    baseBytes = fileBytes = whole.length;
    rewrittenMs = clock.monotonic();
  }

  async function write(lines: readonly string[]): Promise<void> {
    if (problem !== undefined) return await rewrite();
    const bytes = new TextEncoder().encode(lines.join(""));
    await files.appendDurably(path, bytes, MODE);
    fileBytes += bytes.length;
  }

  /** A failure costs nothing but room: the old file is still whole. */
  async function compactIfGrown(): Promise<void> {
    const isLarge = fileBytes > 2 * baseBytes + JOURNAL_COMPACT_BYTES_MIN;
    if (!isLarge && clock.monotonic() - rewrittenMs < JOURNAL_COMPACT_MS_MAX) return;
    await rewrite().catch(() => {
      baseBytes = fileBytes;
      rewrittenMs = clock.monotonic();
    });
  }

  async function work(): Promise<void> {
    isWriting = true;
    await Promise.resolve(); // what comes in the same turn shares the first flush, too
    while (batch.isWanted) {
      const { lines, done } = batch;
      batch = newBatch();
      try {
        await write(lines);
        problem = undefined;
        done.resolve();
      } catch (thrown) {
        problem = toZesterError(thrown, "journal").message;
        done.reject(thrown);
      }
      if (problem === undefined) await compactIfGrown();
    }
    isWriting = false;
  }

  function flush(): Promise<void> {
    const { done } = batch;
    batch.isWanted = true;
    if (!isWriting) void work();
    return done.promise;
  }

  await rewrite().catch((thrown) => {
    problem = toZesterError(thrown, "journal").message;
  });
  return {
    append(line) {
      batch.lines.push(line);
      return flush();
    },
    defer: (line) => void batch.lines.push(line),
    flush: () => (batch.lines.length === 0 && !isWriting ? Promise.resolve() : flush()),
    get problem() {
      return problem;
    },
    get baseBytes() {
      return baseBytes;
    },
  };
}

function newBatch(): Batch {
  const done = Promise.withResolvers<void>();
  done.promise.catch(() => {}); // whoever waits is told; a batch that nobody waits for is no failure of the process
  return { lines: [], isWanted: false, done };
}

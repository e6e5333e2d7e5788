/**
 * The peel's journal by jid, flushed before anything runs and before a return is sent, kept longer than any signature lives.
 * Memory is changed at once and disk follows: a second copy of a request must not slip past while the first is flushed.
 *
 * Clocks jump. So what is old is judged by the times that masters have signed, never by the peel's own clock alone; and
 * whatever is dropped leaves a mark, from which on a request that is not known is refused instead of run.
 */
import { ZesterError } from "../../core/errors.ts";
import type { CheckResult } from "../../core/health.ts";
import {
  CLOCK_SKEW_MS,
  JOURNAL_BYTES_MAX,
  JOURNAL_FULL_BYTES,
  JOURNAL_RESULT_BYTES_MAX,
  JOURNAL_RESULT_KEPT_MS,
  JOURNAL_RETENTION_MS,
  TOMBSTONES_MAX,
} from "../../core/limits.ts";
import type { Clock, Files } from "../../core/ports.ts";
import { openJournalFile } from "./journal_file.ts";
import {
  applyRecord,
  encodeContent,
  JOB_STATES,
  type JournalContent,
  type JournalEntry,
  type JournalJob,
  type JournalRecord,
  lineOf,
  parseJournal,
} from "./journal_records.ts";

export { emptyJournal, type JournalEntry, type JournalJob } from "./journal_records.ts";

export interface Journal {
  /** 0 when complete; else the moment from which on it can be relied on. */
  readonly completeSinceMs: number;
  /** 0, or the moment up to which entries or tombstones were dropped. */
  readonly forgottenMs: number;
  /** What was found wrong with the file when it was opened. */
  readonly damage: string | undefined;
  entry(jid: string): JournalEntry | undefined;
  entries(): readonly JournalEntry[];
  /** Whether this job was canceled before it came. */
  hasTombstone(jid: string): boolean;
  /** Resolves when the entry is on disk. Rejects otherwise, and then nothing may run. */
  accept(job: JournalJob, options?: { isStarted?: boolean }): Promise<void>;
  /** Resolves when it is on disk that the work began. */
  start(jid: string): Promise<void>;
  /** Resolves when the encoded return is on disk. */
  finish(jid: string, result: Uint8Array): Promise<void>;
  /** The stream has the return. Written with whatever comes next: sending one again does no harm. */
  store(jid: string): void;
  /** Marks a job that is under way; leaves a tombstone for one not seen yet. `issuedMs`: by the cancel's signature. */
  cancel(jid: string, issuedMs: number): Promise<void>;
  /** A master signed this time: what is old is judged by the newest of them. */
  confirmTime(issuedMs: number): void;
  /** What a readiness check says about it. */
  health(): CheckResult;
  /** Writes what is left to write. */
  close(): Promise<void>;
}

/** Opens the journal at `path`, leaving out what is older than it must be kept. Fails closed when it is not whole. */
export async function openJournal(path: string, files: Files, clock: Clock): Promise<Journal> {
  const { content, damage } = await readJournal(path, files, clock);
  const openedMs = clock.monotonic();
  let confirmedMs = newestSignedMs(content);
  const kept = keepResults(content, clock);
  const file = await openJournalFile({
    path,
    files,
    clock,
    content() {
      dropExpired(content, confirmedMs);
      return encodeContent(content);
    },
  });

  function record(each: JournalRecord): Promise<void> {
    applyRecord(content, each);
    return file.append(lineOf(each));
  }

  /** Until its moment is confirmed, a loss happened at this start, told by the clock as it is now: it may be set meanwhile. */
  function lostMs(): number {
    if (content.completeSinceMs === 0 || content.isLossConfirmed) return content.completeSinceMs;
    return clock.now() - (clock.monotonic() - openedMs);
  }

  function confirmTime(issuedMs: number): void {
    confirmedMs = Math.max(confirmedMs, issuedMs);
    const sinceMs = lostMs();
    if (sinceMs === 0 || content.isLossConfirmed) return;
    if (Math.abs(issuedMs - clock.now()) > CLOCK_SKEW_MS) return;
    applyRecord(content, { kind: "lost", sinceMs });
    file.defer(lineOf({ kind: "lost", sinceMs }));
  }

  return {
    get completeSinceMs() {
      return lostMs();
    },
    get forgottenMs() {
      return content.forgottenMs;
    },
    damage,
    entry: (jid) => content.entries.get(jid),
    entries: () => [...content.entries.values()],
    hasTombstone: (jid) => content.tombstones.has(jid),
    accept(job, { isStarted = false } = {}) {
      if (file.baseBytes > JOURNAL_FULL_BYTES) {
        applyRecord(content, { kind: "accepted", job }); // no copy of it may run either
        return Promise.reject(full());
      }
      const accepted = record({ kind: "accepted", job });
      return isStarted ? record({ kind: "started", jid: job.jid }) : accepted;
    },
    start: (jid) => record({ kind: "started", jid }),
    finish: (jid, result) => record({ kind: "finished", jid, result }),
    store(jid) {
      if (content.entries.get(jid)?.state !== "finished") return;
      applyRecord(content, { kind: "stored", jid });
      file.defer(lineOf({ kind: "stored", jid }));
      kept.add(jid);
    },
    cancel(jid, issuedMs) {
      const canceled = record({ kind: "canceled", jid, atMs: issuedMs });
      const sinceMs = dropOverflow(content);
      return sinceMs === undefined ? canceled : record({ kind: "forgotten", sinceMs });
    },
    confirmTime,
    health: () => healthOf(lostMs(), { damage, problem: file.problem }),
    close: () => file.flush(),
  };
}

async function readJournal(
  path: string,
  files: Files,
  clock: Clock,
): Promise<{ content: JournalContent; damage: string | undefined }> {
  const read = await files.read(path, JOURNAL_BYTES_MAX).catch((thrown: Error) => thrown);
  const isBytes = read instanceof Uint8Array;
  const { damage: found, ...content } = parseJournal(isBytes ? new TextDecoder().decode(read) : "");
  const damage = read instanceof Error ? `it cannot be read: ${read.message}` : found;
  const isOpen = content.completeSinceMs > 0 && !content.isLossConfirmed;
  if (damage !== undefined || isOpen) {
    // Also for a loss that was seen before: the clock that dated it may have been wrong, and nobody has confirmed it.
    content.completeSinceMs = Math.max(1, clock.now());
    content.isLossConfirmed = false;
  }
  return { content, damage };
}

/** The newest time in it that somebody has signed. */
function newestSignedMs({ entries, tombstones, forgottenMs }: JournalContent): number {
  let newestMs = forgottenMs;
  for (const { firstIssuedMs } of entries.values()) newestMs = Math.max(newestMs, firstIssuedMs);
  for (const atMs of tombstones.values()) newestMs = Math.max(newestMs, atMs);
  return newestMs;
}

/**
 * Drops what no valid signature can ask for any more, by the newest time that a master has signed. Should that time be
 * wrong, too, then nothing runs twice all the same: what was dropped is refused from then on.
 */
function dropExpired(content: JournalContent, confirmedMs: number): void {
  const oldestMs = confirmedMs - JOURNAL_RETENTION_MS;
  const forget = (timeMs: number) => {
    content.forgottenMs = Math.max(content.forgottenMs, timeMs);
  };
  for (const { jid, state, firstIssuedMs } of content.entries.values()) {
    if (firstIssuedMs >= oldestMs || !JOB_STATES[state].isFinished) continue;
    content.entries.delete(jid);
    forget(firstIssuedMs);
  }
  for (const [jid, atMs] of content.tombstones) {
    if (atMs >= oldestMs) continue;
    content.tombstones.delete(jid);
    forget(atMs);
  }
  if (!content.isLossConfirmed || content.completeSinceMs >= oldestMs) return;
  content.completeSinceMs = 0;
  content.isLossConfirmed = false;
}

/**
 * Makes room for the newest tombstone. Whoever is dropped is not forgotten: from then on requests that are older than
 * its cancel are refused, if they were not seen before.
 */
function dropOverflow({ tombstones }: JournalContent): number | undefined {
  let sinceMs: number | undefined;
  for (const [jid, atMs] of tombstones) {
    if (tombstones.size <= TOMBSTONES_MAX) break;
    tombstones.delete(jid);
    sinceMs = Math.max(sinceMs ?? 0, atMs);
  }
  return sinceMs;
}

/** Bounds what is kept of results that the stream has. Their jids stay. */
function keepResults(content: JournalContent, clock: Clock): { add(jid: string): void } {
  const kept: { jid: string; bytes: number; storedMs: number }[] = [];
  let bytes = 0;
  function add(jid: string): void {
    const entry = content.entries.get(jid);
    if (entry?.result === undefined) return;
    kept.push({ jid, bytes: entry.result.length, storedMs: clock.monotonic() });
    bytes += entry.result.length;
    const oldestMs = clock.monotonic() - JOURNAL_RESULT_KEPT_MS;
    while (kept[0] && (bytes > JOURNAL_RESULT_BYTES_MAX || kept[0].storedMs < oldestMs)) {
      bytes -= kept[0].bytes;
      drop(kept[0].jid);
      kept.shift();
    }
  }
  function drop(jid: string): void {
    const entry = content.entries.get(jid);
    if (entry?.state === "stored") content.entries.set(jid, { ...entry, result: undefined });
  }
  for (const { jid, state } of content.entries.values()) if (state === "stored") add(jid);
  return { add };
}

function healthOf(
  lostMs: number,
  { damage, problem }: { damage: string | undefined; problem: string | undefined },
): CheckResult {
  if (problem !== undefined) {
    return { status: "degraded", message: `cannot be written, so no job is taken: ${problem}` };
  }
  if (lostMs === 0) return { status: "ok" };
  const since = new Date(lostMs + CLOCK_SKEW_MS).toISOString();
  const why = damage ?? "at an earlier start";
  return { status: "degraded", message: `lost (${why}): jobs issued before ${since} are refused` };
}

function full(): ZesterError {
  return new ZesterError(
    "store_full",
    `the journal is full: more than ${JOURNAL_FULL_BYTES} bytes are still needed`,
    { fix: "let the peel reach its NATS server, so that it can hand over the returns it keeps" },
  );
}

/**
 * The peel's journal of accepted jids, flushed before anything runs, kept longer than any signature lives. One JSON line an
 * entry, with a checksum. A torn last line was never acknowledged to anybody, so it is dropped; damage anywhere else means
 * that the past is unknown.
 */
import { sha256, toBase64Url } from "../../core/crypto/ed25519.ts";
import { JOURNAL_BYTES_MAX, JOURNAL_RETENTION_MS } from "../../core/limits.ts";
import type { Clock, Files } from "../../core/ports.ts";

const MODE = 0o600;

interface JournalEntry {
  readonly jid: string;
  readonly acceptedMs: number;
}

export interface Journal {
  /** 0 when complete; else the moment from which on it can be relied on. */
  readonly completeSinceMs: number;
  has(jid: string): boolean;
  /** Resolves when the entry is on disk. Rejects otherwise, and then nothing may run. */
  accept(jid: string): Promise<void>;
}

/** Makes an empty journal, at enrollment: from then on a missing file means loss. */
export function emptyJournal(): Uint8Array {
  return contentOf(0, []);
}

const HEADER = /^zester-journal v1 complete-since=(0|[1-9][0-9]{0,15})$/;

/** The loss of a journal is written into the new one, or a second restart would forget it. */
function contentOf(completeSinceMs: number, entries: readonly JournalEntry[]): Uint8Array {
  const lines = [`zester-journal v1 complete-since=${completeSinceMs}`, ...entries.map(lineOf)];
  return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
}

/** Opens the journal at `path`, leaving out what is older than it must be kept. */
export async function openJournal(path: string, files: Files, clock: Clock): Promise<Journal> {
  const content = await files.read(path, JOURNAL_BYTES_MAX).catch(() => null);
  const read = parseJournal(content === null ? "" : new TextDecoder().decode(content));
  const oldestMs = clock.now() - JOURNAL_RETENTION_MS;
  const entries = read.entries.filter((entry) => entry.acceptedMs >= oldestMs);
  const completeSinceMs = read.damaged ? clock.now() : read.completeSinceMs;
  // Rewritten at every start: that drops old entries and a torn tail.
  await files.replace(path, contentOf(completeSinceMs, entries), MODE);
  const known = new Set(entries.map((entry) => entry.jid));
  return {
    completeSinceMs,
    has: (jid) => known.has(jid),
    async accept(jid) {
      known.add(jid); // before the await: a second copy of the request must not slip past while we flush
      const line = `${lineOf({ jid, acceptedMs: clock.now() })}\n`;
      await files.appendDurably(path, new TextEncoder().encode(line), MODE);
    },
  };
}

/** Pure: the entries of a journal file, and whether the past can be relied on. */
export function parseJournal(
  text: string,
): { entries: JournalEntry[]; completeSinceMs: number; damaged: boolean } {
  const lines = text.split("\n").slice(0, -1); // what follows the last line break is a torn line, or nothing
  const [header = "", ...rest] = lines;
  const since = HEADER.exec(header)?.[1];
  const entries = rest.map(entryOf);
  const whole = entries.filter((entry) => entry !== null);
  return {
    entries: whole,
    completeSinceMs: Number(since ?? 0),
    damaged: since === undefined || whole.length < entries.length,
  };
}

function lineOf(entry: JournalEntry): string {
  const body = JSON.stringify({ jid: entry.jid, accepted: entry.acceptedMs });
  return `${checksum(body)} ${body}`;
}

function entryOf(line: string): JournalEntry | null {
  const [, sum, body = ""] = /^(\S+) (.*)$/.exec(line) ?? [];
  if (sum !== checksum(body)) return null;
  const { jid, accepted } = JSON.parse(body) as { jid: string; accepted: number };
  return { jid, acceptedMs: accepted };
}

function checksum(body: string): string {
  return toBase64Url(sha256(new TextEncoder().encode(body)).subarray(0, 6));
}

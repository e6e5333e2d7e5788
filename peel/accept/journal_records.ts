/**
 * The format of the journal: one JSON line a record, with a checksum. What a line says about a jid is applied in order, so
 * the last word counts. Pure: text in, entries out, and back.
 */
import { fromBase64Url, sha256, toBase64Url } from "../../core/crypto/ed25519.ts";

/** What is known of a request from the moment it is accepted. */
export interface JournalJob {
  readonly jid: string;
  readonly epoch: bigint;
  readonly function: string;
  /** When the request was first issued, by its signature. */
  readonly firstIssuedMs: number;
  readonly acceptedMs: number;
  /** Direct mode: the operator who asked. */
  readonly operator?: string | undefined;
}

/** How far a job has come. `stored`: the stream has its return. */
export const JOB_STATES = {
  accepted: { isFinished: false },
  started: { isFinished: false },
  finished: { isFinished: true },
  stored: { isFinished: true },
} as const;

export type JobState = keyof typeof JOB_STATES;

export interface JournalEntry extends JournalJob {
  readonly state: JobState;
  /** Whether a cancel came before it was finished. */
  readonly isCanceled: boolean;
  /** The encoded return; absent before it is finished, and some time after it was stored. */
  readonly result?: Uint8Array | undefined;
}

/** One line of the journal. */
export type JournalRecord =
  | { kind: "accepted"; job: JournalJob }
  | { kind: "started"; jid: string }
  | { kind: "finished"; jid: string; result: Uint8Array | undefined }
  | { kind: "stored"; jid: string }
  /** `atMs`: when the cancel was issued, by its signature. */
  | { kind: "canceled"; jid: string; atMs: number }
  /** Entries or tombstones of requests up to this moment were dropped. */
  | { kind: "forgotten"; sinceMs: number }
  /** When the journal was lost, by a clock that a master's signed word has confirmed. */
  | { kind: "lost"; sinceMs: number };

/** All that a journal file says. */
export interface JournalContent {
  /** 0 when complete; else the moment from which on it can be relied on. */
  completeSinceMs: number;
  /** Whether a master's signed word has confirmed the clock that gave that moment. */
  isLossConfirmed: boolean;
  /** Nothing can be said about requests first issued before this that are not in it. By signed times only. */
  forgottenMs: number;
  readonly entries: Map<string, JournalEntry>;
  /** Jobs that were canceled before they came, and when. Oldest first. */
  readonly tombstones: Map<string, number>;
}

export type Parsed = JournalContent & {
  /** What is wrong with the file, if anything is. */
  readonly damage: string | undefined;
};

const HEADER = /^zester-journal v1 complete-since=(0|[1-9][0-9]{0,15})$/;

/** Makes an empty journal, at enrollment: from then on a missing file means loss. */
export function emptyJournal(): Uint8Array {
  return encodeContent(emptyContent());
}

/** Nothing happened yet. */
export function emptyContent(): JournalContent {
  return {
    completeSinceMs: 0,
    isLossConfirmed: false,
    forgottenMs: 0,
    entries: new Map(),
    tombstones: new Map(),
  };
}

/** A whole file. The loss of a journal is written into the new one, or a second restart would forget it. */
export function encodeContent(content: JournalContent): Uint8Array {
  const lines = [`zester-journal v1 complete-since=${content.completeSinceMs}\n`];
  const add = (record: JournalRecord) => lines.push(lineOf(record));
  if (content.isLossConfirmed) add({ kind: "lost", sinceMs: content.completeSinceMs });
  if (content.forgottenMs > 0) add({ kind: "forgotten", sinceMs: content.forgottenMs });
  for (const [jid, atMs] of content.tombstones) add({ kind: "canceled", jid, atMs });
  for (const entry of content.entries.values()) recordsOf(entry).forEach(add);
  return new TextEncoder().encode(lines.join(""));
}

/** The records that lead to an entry. */
function recordsOf(entry: JournalEntry): JournalRecord[] {
  const { state, isCanceled, result, ...job } = entry;
  const { jid } = job;
  return [
    { kind: "accepted", job },
    ...(state === "started" ? [{ kind: "started", jid } as const] : []),
    ...(isCanceled ? [{ kind: "canceled", jid, atMs: job.acceptedMs } as const] : []),
    ...(JOB_STATES[state].isFinished ? [{ kind: "finished", jid, result } as const] : []),
    ...(state === "stored" ? [{ kind: "stored", jid } as const] : []),
  ];
}

/** Applies one record. What it says of a jid that was never accepted is left out. */
export function applyRecord(content: JournalContent, record: JournalRecord): void {
  const { entries, tombstones } = content;
  if (record.kind === "forgotten") {
    content.forgottenMs = Math.max(content.forgottenMs, record.sinceMs);
    return;
  }
  if (record.kind === "lost") {
    content.completeSinceMs = record.sinceMs;
    content.isLossConfirmed = true;
    return;
  }
  if (record.kind === "accepted") {
    entries.set(record.job.jid, { ...record.job, state: "accepted", isCanceled: false });
    tombstones.delete(record.job.jid);
    return;
  }
  const { jid } = record;
  const entry = entries.get(jid);
  if (entry === undefined) {
    if (record.kind === "canceled") tombstones.set(jid, record.atMs);
    return;
  }
  switch (record.kind) {
    case "canceled":
      entries.set(jid, { ...entry, isCanceled: true });
      return;
    case "finished":
      entries.set(jid, { ...entry, state: "finished", result: record.result });
      return;
    default:
      entries.set(jid, { ...entry, state: record.kind });
  }
}

/**
 * Reads a journal file. A torn last line was never acknowledged to anybody, so it is dropped; damage anywhere else means
 * that the past is unknown.
 */
export function parseJournal(text: string): Parsed {
  const content = emptyContent();
  const [header = "", ...lines] = text.split("\n").slice(0, -1); // what follows the last line break is torn, or nothing
  const since = HEADER.exec(header)?.[1];
  if (since === undefined) {
    return { ...content, damage: text === "" ? "it is missing or empty" : "it has no header" };
  }
  content.completeSinceMs = Number(since);
  let damaged = 0;
  for (const line of lines) {
    const record = recordOf(line);
    if (record === null) damaged++;
    else applyRecord(content, record);
  }
  return { ...content, damage: damaged === 0 ? undefined : `${damaged} of its lines are damaged` };
}

/** One line, with its line break. */
export function lineOf(record: JournalRecord): string {
  const body = JSON.stringify(wireOf(record));
  return `${checksum(body)} ${body}\n`;
}

/** A record as it is written. Keys are short: there may be many. */
interface Wire {
  kind: JournalRecord["kind"];
  jid?: string;
  epoch?: string;
  fn?: string;
  first?: number;
  at?: number;
  by?: string | undefined;
  result?: string;
}

function wireOf(record: JournalRecord): Wire {
  switch (record.kind) {
    case "accepted": {
      const { jid, epoch, function: fn, firstIssuedMs: first, acceptedMs: at, operator: by } =
        record.job;
      return { kind: record.kind, jid, epoch: `${epoch}`, fn, first, at, by };
    }
    case "finished": {
      const { kind, jid, result } = record;
      return result === undefined ? { kind, jid } : { kind, jid, result: toBase64Url(result) };
    }
    case "canceled":
      return { kind: record.kind, jid: record.jid, at: record.atMs };
    case "forgotten":
    case "lost":
      return { kind: record.kind, at: record.sinceMs };
    default:
      return record;
  }
}

function recordOf(line: string): JournalRecord | null {
  const [, sum, body = ""] = /^(\S+) (.*)$/.exec(line) ?? [];
  if (sum !== checksum(body)) return null;
  const { kind, jid = "", epoch = "0", fn = "", first = 0, at = 0, by, result } = JSON.parse(
    body,
  ) as Wire;
  switch (kind) {
    case "accepted": {
      const job = { jid, epoch: BigInt(epoch), function: fn, firstIssuedMs: first, acceptedMs: at };
      return { kind, job: by === undefined ? job : { ...job, operator: by } };
    }
    case "finished":
      return {
        kind,
        jid,
        result: result === undefined ? undefined : fromBase64Url(result) ?? undefined,
      };
    case "canceled":
      return { kind, jid, atMs: at };
    case "forgotten":
    case "lost":
      return { kind, sinceMs: at };
    default:
      return { kind, jid };
  }
}

function checksum(body: string): string {
  return toBase64Url(sha256(new TextEncoder().encode(body)).subarray(0, 6));
}

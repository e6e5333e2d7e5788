/**
 * Owns the messages of one stream: by sequence and by subject, within the limits of its settings. What it removes by a
 * limit it tells `onRemoved`; the same limits over the same messages always remove the same ones, so replaying a log needs
 * no record of it.
 */
import type { HeaderField } from "../../core/ports.ts";
import { compilePatterns, hasWildcard } from "../subject_match.ts";
import { SequenceList } from "./sequence_list.ts";
import type { StoredRecord, StreamConfig } from "./types.ts";

const NANOS_PER_MS = 1_000_000;
const encoder = new TextEncoder();

/** Which messages a reader wants: a test on the subject, and the subjects themselves when none has a wildcard. */
export interface Filter {
  readonly test: (subject: string) => boolean;
  readonly literals: readonly string[] | undefined;
}

/** Bytes of text on the wire. */
export function textBytes(text: string): number {
  return encoder.encode(text).length;
}

/** Bytes of a header block as clients send it: status line, one line each, an empty line; nothing without headers. */
export function headerBytes(headers: readonly HeaderField[]): number {
  if (headers.length === 0) return 0;
  const lines = headers.map(([name, value]) => textBytes(name) + textBytes(value) + 4);
  return lines.reduce((sum, each) => sum + each, 12);
}

/** What a message counts against `max_bytes`: NATS's own formula for each kind of storage. */
export function storedBytes(record: StoredRecord, storage: StreamConfig["storage"]): number {
  const header = headerBytes(record.headers);
  const body = textBytes(record.subject) + header + record.data.length;
  if (storage === "memory") return body + 16;
  return body + 30 + (header > 0 ? 4 : 0);
}

interface Kept {
  readonly record: StoredRecord;
  readonly bytes: number;
}

/** The messages of one stream. */
export class MessageStore {
  config: StreamConfig;
  bytes = 0;
  /** 0 before the first message; after the last one went, one above `lastSequence`. */
  firstSequence = 0;
  lastSequence = 0;
  lastTimeMs = 0;
  readonly #messages = new Map<number, Kept>();
  readonly #subjects = new Map<string, SequenceList>();
  readonly #onRemoved: (record: StoredRecord) => void;

  constructor(config: StreamConfig, onRemoved: (record: StoredRecord) => void) {
    this.config = config;
    this.#onRemoved = onRemoved;
  }

  get count(): number {
    return this.#messages.size;
  }

  get subjectCount(): number {
    return this.#subjects.size;
  }

  get(sequence: number): StoredRecord | undefined {
    return this.#messages.get(sequence)?.record;
  }

  first(): StoredRecord | undefined {
    return this.get(this.firstSequence);
  }

  /** All messages, oldest first. */
  *all(): Iterable<StoredRecord> {
    for (const { record } of this.#messages.values()) yield record;
  }

  /** The newest on a subject, which may hold wildcards. */
  lastOn(pattern: string): StoredRecord | undefined {
    const last = this.lastPerSubject(filterOf([pattern])).at(-1);
    return last === undefined ? undefined : this.get(last);
  }

  /** The newest sequence of each subject wanted, rising. */
  lastPerSubject(filter: Filter): number[] {
    const last = this.#listsOf(filter).flatMap(([, list]) => list.last ?? []);
    return last.sort((a, b) => a - b);
  }

  /** How many messages wanted are not below `from`. */
  countFrom(filter: Filter, from: number): number {
    return this.#listsOf(filter).reduce((sum, [, list]) => sum + list.countFrom(from), 0);
  }

  /** Messages per subject wanted, sorted by subject. */
  countBySubject(filter: Filter): [subject: string, count: number][] {
    const counts = this.#listsOf(filter).map(([subject, list]): [string, number] => [
      subject,
      list.length,
    ]);
    return counts.sort(([a], [b]) => a < b ? -1 : 1);
  }

  /** All sequences wanted, rising. */
  sequencesOf(filter: Filter): number[] {
    return this.#listsOf(filter).flatMap(([, list]) => list.values()).sort((a, b) => a - b);
  }

  /** The first wanted message that is not below `from`. */
  nextFrom(filter: Filter, from: number): StoredRecord | undefined {
    if (filter.literals !== undefined) return this.#nextOnLiterals(filter.literals, from);
    for (let at = Math.max(from, this.firstSequence, 1); at <= this.lastSequence; at++) {
      const record = this.get(at);
      if (record !== undefined && filter.test(record.subject)) return record;
    }
    return undefined;
  }

  /** The first sequence stored at or after this time; one above the last when there is none. */
  sequenceAt(timeMs: number): number {
    for (const { record } of this.#messages.values()) {
      if (record.timeMs >= timeMs) return record.sequence;
    }
    return this.lastSequence + 1;
  }

  /** Why a stream that discards new messages cannot take this one; undefined when it can. */
  refusal(record: StoredRecord): string | undefined {
    const { config } = this;
    if (config.discard !== "new") return undefined;
    const oldest = this.#replacedBy(record);
    if (oldest !== undefined && config.discard_new_per_subject) {
      return "maximum messages per subject exceeded";
    }
    if (config.max_msgs > 0 && this.count >= config.max_msgs && oldest === undefined) {
      return "maximum messages exceeded";
    }
    const size = storedBytes(record, config.storage);
    if (config.max_bytes <= 0 || this.bytes + size <= config.max_bytes) return undefined;
    // Room may come from the message on the same subject that this one pushes out.
    return oldest !== undefined && oldest.bytes >= size ? undefined : "maximum bytes exceeded";
  }

  /** Takes a message whose sequence is above all kept, and removes what the limits no longer allow. */
  add(record: StoredRecord): void {
    const bytes = storedBytes(record, this.config.storage);
    if (this.count === 0) this.firstSequence = record.sequence;
    this.#messages.set(record.sequence, { record, bytes });
    this.bytes += bytes;
    this.lastSequence = Math.max(this.lastSequence, record.sequence);
    this.lastTimeMs = record.timeMs;
    this.#listOf(record.subject).push(record.sequence);
    this.#enforceOn(record.subject);
    this.#enforceTotals();
  }

  remove(sequence: number): StoredRecord | undefined {
    const kept = this.#messages.get(sequence);
    if (kept === undefined) return undefined;
    const { record } = kept;
    this.#messages.delete(sequence);
    this.bytes -= kept.bytes;
    const list = this.#listOf(record.subject);
    list.remove(sequence);
    if (list.length === 0) this.#subjects.delete(record.subject);
    if (sequence === this.firstSequence) this.#moveFirst();
    this.#onRemoved(record);
    return record;
  }

  /** Removes everything below. */
  removeBelow(sequence: number): void {
    while (this.count > 0 && this.firstSequence < sequence) this.remove(this.firstSequence);
  }

  /** Sets the sequences of a stream whose messages are gone or still to be replayed. */
  raiseSequences(firstSequence: number, lastSequence: number): void {
    this.removeBelow(firstSequence);
    this.lastSequence = Math.max(this.lastSequence, lastSequence);
    if (this.count === 0) this.firstSequence = Math.max(this.firstSequence, firstSequence);
  }

  /** Takes new settings and removes what they no longer allow. */
  reconfigure(config: StreamConfig): void {
    this.config = config;
    for (const subject of [...this.#subjects.keys()]) this.#enforceOn(subject);
    this.#enforceTotals();
  }

  /** Removes what is too old, and says when the next will be: undefined when nothing will. */
  expire(nowMs: number): number | undefined {
    const ageMs = this.config.max_age / NANOS_PER_MS;
    if (ageMs <= 0) return undefined;
    for (let first = this.first(); first !== undefined; first = this.first()) {
      if (first.timeMs + ageMs > nowMs) return first.timeMs + ageMs;
      this.remove(first.sequence);
    }
    return undefined;
  }

  #nextOnLiterals(literals: readonly string[], from: number): StoredRecord | undefined {
    let best: number | undefined;
    for (const subject of literals) {
      const candidate = this.#subjects.get(subject)?.firstFrom(from);
      if (candidate !== undefined && (best === undefined || candidate < best)) best = candidate;
    }
    return best === undefined ? undefined : this.get(best);
  }

  #listOf(subject: string): SequenceList {
    let list = this.#subjects.get(subject);
    if (list === undefined) {
      list = new SequenceList();
      this.#subjects.set(subject, list);
    }
    return list;
  }

  #listsOf(filter: Filter): [subject: string, list: SequenceList][] {
    if (filter.literals === undefined) {
      return [...this.#subjects].filter(([subject]) => filter.test(subject));
    }
    return filter.literals.flatMap((subject) => {
      const list = this.#subjects.get(subject);
      return list === undefined ? [] : [[subject, list] as [string, SequenceList]];
    });
  }

  /** The oldest on the same subject, when that subject is at its limit. */
  #replacedBy(record: StoredRecord): Kept | undefined {
    const limit = this.config.max_msgs_per_subject;
    const list = this.#subjects.get(record.subject);
    if (limit <= 0 || list === undefined || list.length < limit) return undefined;
    return list.first === undefined ? undefined : this.#messages.get(list.first);
  }

  #enforceOn(subject: string): void {
    const limit = this.config.max_msgs_per_subject;
    if (limit <= 0) return;
    const list = this.#listOf(subject);
    while (list.length > limit && list.first !== undefined) this.remove(list.first);
  }

  #enforceTotals(): void {
    const { max_msgs: messages, max_bytes: bytes } = this.config;
    while (messages > 0 && this.count > messages) this.remove(this.firstSequence);
    while (bytes > 0 && this.bytes > bytes && this.count > 0) this.remove(this.firstSequence);
  }

  #moveFirst(): void {
    if (this.count === 0) {
      this.firstSequence = this.lastSequence + 1;
      return;
    }
    do this.firstSequence++; while (!this.#messages.has(this.firstSequence));
  }
}

/** A filter for these patterns; none means everything. */
export function filterOf(patterns: readonly string[]): Filter {
  const literals = patterns.length > 0 && !patterns.some(hasWildcard) ? patterns : undefined;
  return { test: compilePatterns(patterns), literals };
}

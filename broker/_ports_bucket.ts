/** The Bucket port over a stream of the engine: values are messages on `$KV.<bucket>.<key>`, deletions are markers. */
import { ZesterError } from "../core/errors.ts";
import type {
  Bucket,
  Entry,
  HeaderField,
  Message,
  Watch,
  WatchEvent,
  WriteResult,
} from "../core/ports.ts";
import { bucketStreamName, bucketSubject } from "../core/stream_config.ts";
import { appendTo } from "./_ports_append.ts";
import type { Link } from "./_ports_bus.ts";
import { calling, callingOrNull } from "./_ports_failures.ts";
import { parseAckSubject } from "./jetstream/ack.ts";
import type { JetStream } from "./jetstream/api.ts";
import { headerValue } from "./jetstream/context.ts";
import type { StoredRecord } from "./jetstream/types.ts";

const EMPTY = new Uint8Array(0);
const DELETED: HeaderField = ["KV-Operation", "DEL"];

/** The bucket of this name, whether or not it exists yet. */
export function makeBucket(link: Link, name: string): Bucket {
  return new EngineBucket(link, name);
}

class EngineBucket implements Bucket {
  readonly #link: Link;
  readonly #name: string;
  readonly #stream: string;

  constructor(link: Link, name: string) {
    this.#link = link;
    this.#name = name;
    this.#stream = bucketStreamName(name);
  }

  async get(key: string): Promise<Entry | null> {
    await this.#turn();
    const record = this.#last(key);
    return record === null || isMarker(record.headers) ? null : this.#entry(record);
  }

  async create(key: string, value: Uint8Array): Promise<WriteResult> {
    const first = await this.#write(key, value, expecting(0));
    if (first.outcome !== "conflict") return first;
    const last = this.#last(key);
    if (last === null) return await this.#write(key, value, expecting(0)); // expired in between
    if (!isMarker(last.headers)) return first;
    return await this.#write(key, value, expecting(last.sequence));
  }

  update(key: string, value: Uint8Array, revision: bigint): Promise<WriteResult> {
    return this.#write(key, value, expecting(revision));
  }

  put(key: string, value: Uint8Array): Promise<WriteResult> {
    return this.#write(key, value, []);
  }

  delete(key: string, options: { revision?: bigint } = {}): Promise<WriteResult> {
    const { revision } = options;
    const condition = revision === undefined ? [] : expecting(revision);
    return this.#write(key, EMPTY, [DELETED, ...condition]);
  }

  async keys(prefix?: string): Promise<string[]> {
    await this.#turn();
    const subjectsFilter = this.#filter(prefix === undefined ? ">" : `${prefix}.>`);
    const report = calling(
      `${this.#name}: keys`,
      () => this.#link.engine.jetstream.streamInfo(this.#stream, { subjectsFilter }),
    );
    const keys = Object.keys(report.state.subjects ?? {}).map((each) => this.#keyOf(each));
    return keys.filter((key) => !isMarker(this.#last(key)?.headers ?? [DELETED])).sort();
  }

  async history(key: string): Promise<Entry[]> {
    await this.#turn();
    const entries: Entry[] = [];
    const subject = this.#subject(key);
    for (
      let record = this.#next(subject, 1);
      record;
      record = this.#next(subject, record.sequence + 1)
    ) {
      if (!isMarker(record.headers)) entries.push(this.#entry(record));
    }
    return entries;
  }

  async watch(filter: string, handler: (event: WatchEvent) => void): Promise<Watch> {
    await this.#turn();
    const { bus, engine } = this.#link;
    const ended = Promise.withResolvers<ZesterError | undefined>();
    const inbox = bus.inbox();
    let isLive = false;
    const subscription = bus.subscribe(inbox, (message) => {
      const event = this.#event(message);
      if (isLive || event.kind !== "delete") handler(event);
    });
    // With somebody listening already, the engine delivers all that is there before this call returns. Each delivery
    // waits in the queue of microtasks, so that what is put there now comes after the last of them.
    const consumer = this.#createWatcher(filter, inbox);
    let isStopped = false;
    const end = (reason?: ZesterError) => {
      if (isStopped) return;
      isStopped = true;
      offClose();
      subscription.unsubscribe();
      deleteQuietly(engine.jetstream, this.#stream, consumer);
      ended.resolve(reason);
    };
    const offClose = bus.onClose(end);
    queueMicrotask(() => {
      isLive = true;
      if (!isStopped) handler({ kind: "replayed" });
    });
    return { stop: () => end(), ended: ended.promise };
  }

  #createWatcher(filter: string, inbox: string): string {
    const { name } = calling(
      `${this.#name}: watch ${filter}`,
      () =>
        this.#link.engine.jetstream.createConsumer(this.#stream, {
          deliver_policy: "last_per_subject",
          deliver_subject: inbox,
          filter_subject: this.#filter(filter),
          ack_policy: "none",
          mem_storage: true,
        }),
    );
    return name;
  }

  async #write(
    key: string,
    data: Uint8Array,
    headers: readonly HeaderField[],
  ): Promise<WriteResult> {
    const result = await appendTo(this.#link, this.#stream, this.#subject(key), {
      data,
      headers,
    });
    if (result.outcome !== "ok") return result;
    return { outcome: "ok", revision: result.sequence };
  }

  /** Reads answer in a later turn, as a network does. */
  async #turn(): Promise<void> {
    await this.#link.bus.flush(0);
  }

  #last(key: string): StoredRecord | null {
    const query = { last_by_subj: this.#subject(key) };
    return callingOrNull(
      `${this.#name}: get ${key}`,
      () => this.#link.engine.jetstream.getMessage(this.#stream, query),
    );
  }

  #next(subject: string, from: number): StoredRecord | null {
    const query = { seq: from, next_by_subj: subject };
    return callingOrNull(
      `${this.#name}: history`,
      () => this.#link.engine.jetstream.getMessage(this.#stream, query),
    );
  }

  #subject(key: string): string {
    return bucketSubject(this.#name, checked(key, KEY));
  }

  #filter(pattern: string): string {
    return bucketSubject(this.#name, checked(pattern, PATTERN));
  }

  #keyOf(subject: string): string {
    return subject.slice(bucketSubject(this.#name, "").length);
  }

  #entry(record: StoredRecord): Entry {
    return {
      key: this.#keyOf(record.subject),
      value: record.data,
      revision: BigInt(record.sequence),
      createdMs: Math.floor(record.timeMs),
    };
  }

  #event(message: Message): WatchEvent {
    const { sequence, timeMs } = parseAckSubject(message.reply ?? "") ?? { sequence: 0, timeMs: 0 };
    const key = this.#keyOf(message.subject);
    const revision = BigInt(sequence);
    if (isMarker(message.headers)) return { kind: "delete", key, revision };
    return { kind: "put", entry: { key, value: message.data, revision, createdMs: timeMs } };
  }
}

/** What NATS clients take for a key, and for a filter. */
const KEY = /^[-/=\w]+(?:\.[-/=\w]+)*$/;
const PATTERN = /^(?:[-/=\w]+|\*)(?:\.(?:[-/=\w]+|\*))*(?:\.>)?$|^>$/;

function checked(key: string, shape: RegExp): string {
  if (shape.test(key)) return key;
  throw new ZesterError("bad_subject", `${JSON.stringify(key.slice(0, 80))} cannot be a key`);
}

function expecting(revision: bigint | number): HeaderField[] {
  return [["Nats-Expected-Last-Subject-Sequence", String(revision)]];
}

function isMarker(headers: readonly HeaderField[]): boolean {
  const operation = headerValue(headers, "KV-Operation");
  return operation === "DEL" || operation === "PURGE";
}

/** It may be gone already: nobody needs to know. */
function deleteQuietly(jetstream: JetStream, stream: string, consumer: string): void {
  if (!jetstream.streamNames().includes(stream)) return;
  if (jetstream.consumerNames(stream).includes(consumer)) {
    jetstream.deleteConsumer(stream, consumer);
  }
}

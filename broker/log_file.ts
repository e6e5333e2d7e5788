/**
 * The log on disk. What `whenDurable` calls back for has been written and synced; a write or sync that fails stops the
 * program, because after it nobody knows what is on disk, and nothing more may be acknowledged.
 */
import { join } from "node:path";
import { toZesterError, ZesterError } from "../core/errors.ts";
import {
  BROKER_LOG_COMPACT_BYTES_MIN,
  BROKER_LOG_FRAME_BYTES_MAX,
  BROKER_LOG_SCAN_BYTES,
} from "../core/limits.ts";
import type { Random } from "../core/ports.ts";
import type { LogRecord, Persistence } from "./jetstream/types.ts";
import {
  damaged,
  decodeBody,
  decodeFrameHead,
  decodeLogHead,
  encodeLogHead,
  findMarker,
  FRAME_HEAD_BYTES,
  FrameBuilder,
  isIntact,
  isTornLogHead,
  LOG_HEAD_BYTES,
  MARKER_BYTES,
} from "./log.ts";

const LOG_NAME = "broker.log";
const NEW_LOG_NAME = "broker.log.new";
const LOCK_NAME = "lock";
const PRIVATE_FILE_MODE = 0o600;
const PRIVATE_FOLDER_MODE = 0o700;

/** What was found when the log was read. */
export interface ReplayReport {
  records: number;
  /** Bytes of a torn last frame that were cut off. */
  droppedBytes: number;
}

export interface DurableLog extends Persistence {
  /** Hands over every record, oldest first, and cuts off a torn tail. Once, before anything is written. */
  replay(restore: (record: LogRecord) => void): ReplayReport;
  /** Replaces the log by these records if they take less than half of it. Only between `replay` and the first write. */
  compact(snapshot: () => Iterable<LogRecord>): boolean;
  /** Writes what is left, then gives the folder free. */
  close(): Promise<void>;
}

export interface LogOptions {
  random: Random;
  /** Called once when a write fails. It must end the program: nothing is acknowledged any more. */
  onFailure(error: ZesterError): void;
  /** Default: as in `core/limits.ts`. */
  compactBytesMin?: number;
}

/** Locks the folder (made if need be) and opens its log. */
export async function openLog(folder: string, options: LogOptions): Promise<DurableLog> {
  const doing = `broker, opening its store ${JSON.stringify(folder)}`;
  let lock: Deno.FsFile | undefined;
  try {
    await Deno.mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    lock = await lockFolder(folder);
    return new LogFile(folder, lock, options);
  } catch (thrown) {
    lock?.close();
    throw storeError(thrown, doing);
  }
}

function storeError(thrown: unknown, doing: string): ZesterError {
  if (thrown instanceof ZesterError) return thrown;
  const found = toZesterError(thrown, doing).message;
  return new ZesterError("io_failed", found, { cause: thrown });
}

async function lockFolder(folder: string): Promise<Deno.FsFile> {
  const lock = await Deno.open(join(folder, LOCK_NAME), {
    write: true,
    create: true,
    mode: PRIVATE_FILE_MODE,
  });
  if (await lock.tryLock(true)) return lock;
  lock.close();
  throw new ZesterError(
    "config_invalid",
    `broker, opening its store ${JSON.stringify(folder)}: another broker is using it`,
    { fix: "stop the other one, or give this one a folder of its own" },
  );
}

/** What is written and synced at once, and who waits for it. */
interface Commit {
  frame: Uint8Array | undefined;
  waiting: (() => void)[];
}

class LogFile implements DurableLog {
  readonly #folder: string;
  readonly #lock: Deno.FsFile;
  readonly #options: LogOptions;
  #file: Deno.FsFile;
  #marker: Uint8Array;
  #builder: FrameBuilder;
  /** Commits that grew too large to gather more; the oldest is written first. */
  readonly #sealed: Commit[] = [];
  /** Called back when the commit that is being gathered is on disk, in order. */
  #waiting: (() => void)[] = [];
  #commit: Promise<void> | undefined;
  #failed = false;

  constructor(folder: string, lock: Deno.FsFile, options: LogOptions) {
    this.#folder = folder;
    this.#lock = lock;
    this.#options = options;
    removeIfThere(join(folder, NEW_LOG_NAME)); // left by a crash during compaction
    const path = join(folder, LOG_NAME);
    this.#file = openFile(path);
    try {
      this.#marker = readOrWriteHead(this.#file, options.random);
      syncFolder(folder);
    } catch (error) {
      this.#file.close();
      throw error;
    }
    this.#builder = new FrameBuilder(this.#marker);
  }

  replay(restore: (record: LogRecord) => void): ReplayReport {
    const reader = new BlockReader(this.#file);
    let at = LOG_HEAD_BYTES;
    let records = 0;
    for (;;) {
      const body = readFrame(reader, at, this.#marker);
      if (body === null) break;
      at += FRAME_HEAD_BYTES + body.length;
      for (const record of decodeBody(body)) {
        restore(record);
        records++;
      }
    }
    const droppedBytes = reader.size - at;
    if (droppedBytes > 0) this.#cutTail(reader, at);
    this.#file.seekSync(at, Deno.SeekMode.Start);
    return { records, droppedBytes };
  }

  #cutTail(reader: BlockReader, from: number): void {
    const intact = findIntactFrame(reader, from + 1, this.#marker);
    if (intact !== null) {
      throw damaged(
        `${
          join(this.#folder, LOG_NAME)
        } is damaged at byte ${from}, and intact again at byte ${intact}`,
      );
    }
    this.#file.truncateSync(from);
    this.#file.syncDataSync();
  }

  compact(snapshot: () => Iterable<LogRecord>): boolean {
    const size = this.#file.statSync().size;
    if (size < (this.#options.compactBytesMin ?? BROKER_LOG_COMPACT_BYTES_MIN)) return false;
    const path = join(this.#folder, NEW_LOG_NAME);
    const marker = this.#options.random.bytes(MARKER_BYTES);
    const file = writeSnapshot(path, { marker, records: snapshot(), bytesMax: size / 2 });
    if (file === null) {
      removeIfThere(path);
      return false;
    }
    Deno.renameSync(path, join(this.#folder, LOG_NAME));
    syncFolder(this.#folder);
    this.#file.close();
    this.#file = file;
    this.#marker = marker;
    this.#builder = new FrameBuilder(marker);
    return true;
  }

  write(record: LogRecord): void {
    if (this.#failed) return;
    this.#builder.add(record);
    this.#commit ??= this.#commitSoon();
  }

  whenDurable(callback: () => void): void {
    if (this.#failed) return;
    if (this.#commit === undefined) return callback();
    this.#waiting.push(callback);
    // Cut here and not in `write`: the records of one change stay in one frame, all on disk or none.
    if (this.#builder.length >= BROKER_LOG_FRAME_BYTES_MAX) this.#sealed.push(this.#seal());
  }

  async close(): Promise<void> {
    await this.#commit;
    this.#file.close();
    // Unlocked, not only closed: a child that somebody starts at this moment holds a copy until it runs its program.
    this.#lock.unlockSync();
    this.#lock.close();
  }

  /** Waits for the end of this turn, so that all records of it share one sync; goes on while more came in. */
  async #commitSoon(): Promise<void> {
    await Promise.resolve();
    while (this.#sealed.length > 0 || this.#waiting.length > 0 || !this.#builder.isEmpty) {
      const { frame, waiting } = this.#sealed.shift() ?? this.#seal();
      if (frame !== undefined && !(await this.#isWritten(frame))) return;
      for (const callback of waiting) callback();
    }
    this.#commit = undefined;
  }

  #seal(): Commit {
    const frame = this.#builder.isEmpty ? undefined : this.#builder.finish();
    const waiting = this.#waiting;
    this.#waiting = [];
    return { frame, waiting };
  }

  async #isWritten(frame: Uint8Array): Promise<boolean> {
    try {
      await this.#writeDurably(frame);
      return true;
    } catch (thrown) {
      this.#failed = true;
      this.#options.onFailure(storeError(thrown, `broker, writing its log in ${this.#folder}`));
      return false;
    }
  }

  async #writeDurably(frame: Uint8Array): Promise<void> {
    for (let done = 0; done < frame.length;) done += await this.#file.write(frame.subarray(done));
    await this.#file.syncData();
  }
}

function openFile(path: string): Deno.FsFile {
  return Deno.openSync(path, { read: true, write: true, create: true, mode: PRIVATE_FILE_MODE });
}

function readOrWriteHead(file: Deno.FsFile, random: Random): Uint8Array {
  const head = new BlockReader(file).read(0, LOG_HEAD_BYTES);
  if (!isTornLogHead(head)) return decodeLogHead(head);
  const marker = random.bytes(MARKER_BYTES);
  file.truncateSync(0);
  file.seekSync(0, Deno.SeekMode.Start);
  writeAllSync(file, encodeLogHead(marker));
  file.syncSync();
  return marker;
}

/** The body of the intact frame at this place, or null. Valid until the next read. */
function readFrame(reader: BlockReader, at: number, marker: Uint8Array): Uint8Array | null {
  const head = decodeFrameHead(reader.read(at, FRAME_HEAD_BYTES), marker);
  if (head === null || at + FRAME_HEAD_BYTES + head.length > reader.size) return null;
  const body = reader.read(at + FRAME_HEAD_BYTES, head.length);
  return isIntact(head, body) ? body : null;
}

function findIntactFrame(reader: BlockReader, from: number, marker: Uint8Array): number | null {
  let at = from;
  while (at < reader.size) {
    const block = reader.read(at, BROKER_LOG_SCAN_BYTES);
    const found = findMarker(block, 0, marker);
    if (found === -1) {
      // A marker may lie across two blocks, so the next one starts before the end of this one.
      at += Math.max(1, block.length - MARKER_BYTES + 1);
      continue;
    }
    if (readFrame(reader, at + found, marker) !== null) return at + found;
    at += found + 1;
  }
  return null;
}

/** Writes a whole log of its own and syncs it; null when it would grow beyond `bytesMax`. */
function writeSnapshot(
  path: string,
  { marker, records, bytesMax }: {
    marker: Uint8Array;
    records: Iterable<LogRecord>;
    bytesMax: number;
  },
): Deno.FsFile | null {
  const file = openFile(path);
  try {
    let written = writeAllSync(file, encodeLogHead(marker));
    const builder = new FrameBuilder(marker);
    for (const record of records) {
      builder.add(record);
      if (builder.length >= BROKER_LOG_SCAN_BYTES) written += writeAllSync(file, builder.finish());
      if (written + builder.length > bytesMax) return abandoned(file);
    }
    if (!builder.isEmpty) writeAllSync(file, builder.finish());
    file.syncSync();
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

function abandoned(file: Deno.FsFile): null {
  file.close();
  return null;
}

function writeAllSync(file: Deno.FsFile, bytes: Uint8Array): number {
  for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
  return bytes.length;
}

/** A new name survives a crash only once its folder is on disk too. */
function syncFolder(path: string): void {
  const folder = Deno.openSync(path, { read: true });
  try {
    folder.syncSync();
  } finally {
    folder.close();
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Reads a file in large blocks, so that many small frames cost few system calls. */
class BlockReader {
  readonly size: number;
  readonly #file: Deno.FsFile;
  #block = new Uint8Array(0);
  #blockAt = 0;

  constructor(file: Deno.FsFile) {
    this.#file = file;
    this.size = file.statSync().size;
  }

  /** Up to `length` bytes from `at`, fewer at the end of the file. Valid until the next read. */
  read(at: number, length: number): Uint8Array {
    const wanted = Math.max(0, Math.min(length, this.size - at));
    const offset = at - this.#blockAt;
    if (offset < 0 || offset + wanted > this.#block.length) {
      this.#load(at, Math.min(Math.max(wanted, BROKER_LOG_SCAN_BYTES), this.size - at));
      return this.#block.subarray(0, wanted);
    }
    return this.#block.subarray(offset, offset + wanted);
  }

  #load(at: number, length: number): void {
    this.#block = new Uint8Array(Math.max(0, length));
    this.#blockAt = at;
    this.#file.seekSync(at, Deno.SeekMode.Start);
    for (let done = 0; done < this.#block.length;) {
      const count = this.#file.readSync(this.#block.subarray(done));
      if (count === null) throw damaged("the file became shorter while it was read");
      done += count;
    }
  }
}

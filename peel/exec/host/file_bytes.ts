/**
 * Moves the content of files in pieces, away from the peel's own thread: between two pieces everything else gets its turn, and
 * whoever no longer wants the result ends it there.
 */
import { close, fstatSync, fsync, read, write } from "node:fs";
import { ZesterError } from "../../../core/errors.ts";
import { HOST_CHUNK_BYTES } from "../../../core/limits.ts";

const SMALL_BYTES = 4_096;

/** The rest of an open file, piece by piece. A piece is valid until the next one is asked for. */
export async function* pieces(file: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  // One more than a small file holds, so that its end shows at once; files of /proc do not tell their size.
  const expected = Math.max(SMALL_BYTES, fstatSync(file).size + 1);
  const buffer = new Uint8Array(Math.min(expected, HOST_CHUNK_BYTES));
  while (true) {
    requireWanted(signal);
    const length = await settled<number>((done) =>
      read(file, buffer, 0, buffer.length, null, done)
    );
    if (length === 0) return;
    yield buffer.subarray(0, length);
  }
}

/** Bytes in memory, piece by piece. */
export function* piecesOf(content: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < content.length; at += HOST_CHUNK_BYTES) {
    yield content.subarray(at, at + HOST_CHUNK_BYTES);
  }
}

/** Appends all pieces to an open file. */
export async function writeAll(
  file: number,
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  for await (const piece of content) {
    requireWanted(signal);
    for (let done = 0; done < piece.length;) {
      done += await settled<number>((then) =>
        write(file, piece, done, piece.length - done, null, then)
      );
    }
  }
}

/** Resolves when the disk has the file or folder. */
export function synced(file: number): Promise<void> {
  return settled<void>((done) => fsync(file, (error) => done(error)));
}

/** Resolves when the file is closed. */
export function closed(file: number): Promise<void> {
  return settled<void>((done) => close(file, (error) => done(error ?? null)));
}

/** Throws when the work is no longer wanted. */
export function requireWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new ZesterError("closed", "ended: nobody waits for it any more");
}

type Done<T> = (error: Error | null | undefined, value?: T) => void;

function settled<T>(begin: (done: Done<T>) => void): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  begin((error, value) => error ? reject(error) : resolve(value as T));
  return promise;
}

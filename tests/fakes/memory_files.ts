/** Files in memory: the `Files` port for tests, with a switch that makes the next write fail. */
import { ZesterError } from "../../core/errors.ts";
import type { Files } from "../../core/ports.ts";

export interface MemoryFiles extends Files {
  readonly content: Map<string, Uint8Array>;
  /** Makes every write fail, as a full or broken disk does. */
  broken: boolean;
}

/** Makes an empty set of files. */
export function memoryFiles(): MemoryFiles {
  const content = new Map<string, Uint8Array>();
  function write(path: string, bytes: Uint8Array): Promise<void> {
    if (files.broken) {
      return Promise.reject(new ZesterError("internal", `write ${path}: no space left`));
    }
    content.set(path, bytes);
    return Promise.resolve();
  }
  const files: MemoryFiles = {
    content,
    broken: false,
    read: (path) => Promise.resolve(content.get(path) ?? null),
    replace: write,
    appendDurably(path, bytes) {
      const before = content.get(path) ?? new Uint8Array();
      const after = new Uint8Array(before.length + bytes.length);
      after.set(before);
      after.set(bytes, before.length);
      return write(path, after);
    },
    makeFolder: () => Promise.resolve(),
    remove(path) {
      content.delete(path);
      return Promise.resolve();
    },
  };
  return files;
}

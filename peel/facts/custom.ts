/** Facts that the host's owner has set: a map in YAML, read at each collection and written by `facts.set`. */
import { ZesterError } from "../../core/errors.ts";
import { CUSTOM_FACTS_BYTES_MAX } from "../../core/limits.ts";
import type { PlainValue } from "../../core/module.ts";
import type { Files } from "../../core/ports.ts";
import type { FactValues } from "./collect.ts";

const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;

export interface CustomFacts {
  /** What the file holds; nothing when there is no file. */
  read(): Promise<FactValues>;
  /** Sets one fact. Text is taken for what it reads as in YAML. */
  set(key: string, value: PlainValue): Promise<void>;
}

/** The custom facts in one file. */
export function customFacts(path: string, files: Files): CustomFacts {
  let writing: Promise<void> = Promise.resolve();

  async function read(): Promise<FactValues> {
    const bytes = await files.read(path, CUSTOM_FACTS_BYTES_MAX);
    if (bytes === null) return {};
    const { load } = await import("js-yaml");
    const found = load(new TextDecoder().decode(bytes)) ?? {};
    if (typeof found === "object" && !Array.isArray(found)) return found as FactValues;
    throw new ZesterError("config_invalid", `facts: ${path}: is not a map of names to values`);
  }

  async function write(key: string, value: PlainValue): Promise<void> {
    const { dump, load } = await import("js-yaml");
    const facts = {
      ...await read(),
      [key]: typeof value === "string" ? load(value) ?? value : value,
    };
    await files.makeFolder(path.slice(0, path.lastIndexOf("/")), FOLDER_MODE);
    await files.replace(path, new TextEncoder().encode(dump(facts)), FILE_MODE);
  }

  return {
    read,
    set(key, value) {
      // One after the other: each reads what the one before has written.
      writing = writing.catch(() => {}).then(() => write(key, value));
      return writing;
    },
  };
}

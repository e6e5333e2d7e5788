/** Reads a YAML file that is one map, keeping the line of every key, so that an error can point at it. */
import type { Event } from "js-yaml";
import { ZesterError } from "./errors.ts";
import { printable } from "./printable.ts";

/** One key as the file has it. Nested maps are values here; `flatten` opens them. */
export interface YamlEntry {
  readonly key: string;
  readonly value: unknown;
  readonly line: number;
}

/**
 * Entries of the top-level map. `opens` says which dotted keys are maps to be opened into `outer.inner` entries.
 * An empty file is an empty map.
 */
export async function readYamlMap(
  path: string,
  text: string,
  opens: (key: string) => boolean,
): Promise<YamlEntry[]> {
  const yaml = await import("js-yaml");
  try {
    // Maps keep `__proto__` and the like as plain keys.
    const schema = yaml.CORE_SCHEMA.withTags(yaml.realMapTag);
    const documents = yaml.loadAll(text, { schema });
    const root = onlyDocument(path, documents);
    const lines = linesOfKeys(yaml, text, opens);
    return flatten(root, "", opens).map(([key, value]) => ({
      key,
      value,
      line: lines.get(key) ?? 1,
    }));
  } catch (error) {
    throw readable(error, path);
  }
}

function onlyDocument(path: string, documents: readonly unknown[]): Map<unknown, unknown> {
  const root = documents[0] ?? new Map();
  if (documents.length > 1) {
    throw new ZesterError(
      "config_invalid",
      `config: ${path}: has several documents, one is expected`,
    );
  }
  if (root instanceof Map) return root;
  throw new ZesterError("config_invalid", `config: ${path}: is not a map of keys to values`);
}

function flatten(
  map: Map<unknown, unknown>,
  prefix: string,
  opens: (key: string) => boolean,
): [string, unknown][] {
  return [...map].flatMap(([name, value]): [string, unknown][] => {
    const key = `${prefix}${String(name)}`;
    return value instanceof Map && opens(key) ? flatten(value, `${key}.`, opens) : [[key, value]];
  });
}

type Yaml = typeof import("js-yaml");

/** Walks the parser's events beside the keys: they are the only place where positions are kept. */
function linesOfKeys(
  yaml: Yaml,
  text: string,
  opens: (key: string) => boolean,
): Map<string, number> {
  const { DOCUMENT, MAPPING } = yaml.EVENT_ID;
  const events = yaml.parseEvents(text, {});
  const lines = new Map<string, number>();
  let at = events[0]?.type === DOCUMENT ? 1 : 0;
  if (events[at]?.type === MAPPING) readMapping("");
  return lines;

  function readMapping(prefix: string): void {
    at++;
    while (events[at] !== undefined && events[at]!.type !== yaml.EVENT_ID.POP) {
      const key = readKey(prefix);
      const nested = events[at]?.type === MAPPING && key !== null && opens(key);
      if (nested) readMapping(`${key}.`);
      else at = endOfNode(yaml, events, at);
    }
    at++;
  }

  function readKey(prefix: string): string | null {
    const event = events[at]!;
    const isScalar = event.type === yaml.EVENT_ID.SCALAR;
    at = endOfNode(yaml, events, at);
    if (!isScalar) return null;
    const key = prefix + yaml.getScalarValue(text, event);
    lines.set(key, lineAt(text, event.valueStart));
    return key;
  }
}

/** Index just past the node that starts at `from`. */
function endOfNode(yaml: Yaml, events: readonly Event[], from: number): number {
  const { MAPPING, SEQUENCE, POP } = yaml.EVENT_ID;
  let depth = 0;
  for (let at = from; at < events.length; at++) {
    const { type } = events[at]!;
    if (type === MAPPING || type === SEQUENCE) depth++;
    if (type === POP) depth--;
    if (depth === 0) return at + 1;
  }
  return events.length;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function readable(error: unknown, path: string): ZesterError {
  if (error instanceof ZesterError) return error;
  const { reason, mark } = error as { reason?: string; mark?: { line: number } };
  const where = mark === undefined ? path : `${path}:${mark.line + 1}`;
  const found = reason ?? (error instanceof Error ? error.message : String(error));
  return new ZesterError(
    "config_invalid",
    `config: ${where}: not valid YAML: ${printable(found)}`,
    {
      cause: error,
    },
  );
}

/**
 * Structured logs: one record, one line, always with time, level, component, version and id.
 * Own code rather than a logging library: those keep one configuration and one clock per process, and a simulation
 * runs many programs on one seeded clock.
 */
import { isZesterError } from "./errors.ts";
import {
  LOG_BINARY_BYTES_MAX,
  LOG_DEPTH_MAX,
  LOG_MEMBERS_MAX,
  LOG_TEXT_LENGTH_MAX,
} from "./limits.ts";
import type { Clock } from "./ports.ts";
import { printable, printableJson } from "./printable.ts";

/** Levels in rising order of weight. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = typeof LOG_LEVELS[number];

/** How a line looks: for machines or for people. */
export const LOG_FORMATS = ["json", "text"] as const;
export type LogFormat = typeof LOG_FORMATS[number];

export type LogFields = Readonly<Record<string, unknown>>;

/** What code logs to. No call of it ever throws. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields added to every record. */
  child(fields: LogFields): Log;
}

/** One record before it becomes a line. */
export interface LogRecord {
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly component: string;
  readonly version: string;
  readonly id: string;
  readonly message: string;
  readonly fields: LogFields;
}

export interface LogOptions {
  /** Which program: `master`, `peel`, `broker`, … */
  component: string;
  version: string;
  /** Which one of them. */
  id: string;
  format: LogFormat;
  /** Records below it are dropped. */
  level: LogLevel;
  clock: Pick<Clock, "now">;
  /** Takes one line without its line break. */
  sink: (line: string) => void;
}

/** Makes a log that writes lines to `sink`. */
export function createLog(options: LogOptions): Log {
  const { component, version, id, format, level, clock, sink } = options;
  const toLine = format === "json" ? jsonLine : textLine;
  return logOver({ component, version, id, level, clock }, (record) => sink(toLine(record)));
}

/** A log that keeps its records: for tests. */
export function memoryLog(): Log & { readonly records: LogRecord[] } {
  const records: LogRecord[] = [];
  const origin = {
    component: "test",
    version: "0",
    id: "test",
    level: "debug" as const,
    clock: { now: () => 0 },
  };
  return { ...logOver(origin, (record) => records.push(record)), records };
}

/** A log that keeps nothing. */
export const SILENT_LOG: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => SILENT_LOG,
};

type Origin = Pick<LogOptions, "component" | "version" | "id" | "level" | "clock">;

function logOver(
  origin: Origin,
  take: (record: LogRecord) => void,
  inherited: LogFields = {},
): Log {
  const { component, version, id, clock } = origin;
  const least = LOG_LEVELS.indexOf(origin.level);
  const at = (level: LogLevel) => (message: string, fields: LogFields = {}): void => {
    if (LOG_LEVELS.indexOf(level) < least) return;
    // A failing sink (a closed stderr) must never take the program down with it.
    try {
      const merged = { ...inherited, ...fields };
      take({ timeMs: clock.now(), level, component, version, id, message, fields: merged });
    } catch { /* nowhere left to report it */ }
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => logOver(origin, take, { ...inherited, ...fields }),
  };
}

/** Names of a line that no field may take: a field called like one is written as `field.<name>`. */
const RESERVED: ReadonlySet<string> = new Set(
  ["time", "level", "component", "version", "id", "message"],
);

/** One record as one line of JSON. */
export function jsonLine(record: LogRecord): string {
  const { level, component, version, id, message } = record;
  const line: Record<string, unknown> = {
    time: isoTime(record.timeMs),
    level,
    component,
    version,
    id,
    message: shorten(message),
  };
  for (const [name, value] of plainFields(record.fields)) line[name] = value;
  return printableJson(JSON.stringify(line));
}

/** One record as one line for people. */
export function textLine(record: LogRecord): string {
  const { level, component, version, id, message } = record;
  const head = `${isoTime(record.timeMs)} ${level.toUpperCase().padEnd(5)}`;
  const fields = plainFields(record.fields).map(([name, value]) =>
    `${printable(name)}=${inline(value)}`
  );
  return [head, `${component}/${id}@${version}`, printable(shorten(message)), ...fields].join(" ");
}

function plainFields(fields: LogFields): [string, unknown][] {
  return Object.keys(fields).flatMap((name): [string, unknown][] => {
    const value = memberOf(fields, name, []);
    return value === undefined ? [] : [[RESERVED.has(name) ? `field.${name}` : name, value]];
  });
}

/** Bare when it reads without doubt, otherwise as JSON. */
function inline(value: unknown): string {
  const bare = typeof value === "string" && /^[^\s"=\p{Cc}]+$/u.test(value);
  return printable(bare ? value : printableJson(JSON.stringify(value)));
}

/** Turns any value into something JSON can hold, bounded in size, without ever throwing. */
function plain(value: unknown, above: readonly object[]): unknown {
  switch (typeof value) {
    case "string":
      return shorten(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
    case "symbol":
      return String(value);
    case "function":
      return "[function]";
    case "object":
      return value === null ? null : plainObject(value, above);
    default:
      return value; // boolean and undefined
  }
}

function plainObject(value: object, above: readonly object[]): unknown {
  if (above.includes(value)) return "[circular]";
  if (above.length >= LOG_DEPTH_MAX) return "[deep]";
  const within = [...above, value];
  if (value instanceof Uint8Array) return hex(value);
  if (value instanceof Date) return isoTime(value.getTime());
  if (value instanceof URL) return shorten(value.href);
  if (value instanceof Error) return plainError(value, within);
  if (value instanceof Map) return plainMembers(Object.fromEntries(value), within);
  if (Array.isArray(value) || value instanceof Set) return plainList([...value], within);
  return plainMembers(value, within);
}

/** A failure that can happen needs no stack; anything else is a bug, and the stack says where. */
function plainError(error: Error, within: readonly object[]): unknown {
  const { name, message, stack, cause } = error;
  const known = isZesterError(error) ? { code: error.code, fix: error.fix } : { name, stack };
  const shown = { message, ...known, cause };
  return plainMembers(shown, within);
}

function plainList(list: readonly unknown[], within: readonly object[]): unknown[] {
  const shown = list.slice(0, LOG_MEMBERS_MAX).map((item) => plain(item, within) ?? null);
  if (list.length > LOG_MEMBERS_MAX) shown.push(`… ${list.length - LOG_MEMBERS_MAX} more`);
  return shown;
}

function plainMembers(value: object, within: readonly object[]): Record<string, unknown> {
  const names = Object.keys(value);
  const shown: [string, unknown][] = names.slice(0, LOG_MEMBERS_MAX)
    .map((name) => [name, memberOf(value, name, within)]);
  if (names.length > LOG_MEMBERS_MAX) shown.push(["…", `${names.length - LOG_MEMBERS_MAX} more`]);
  return Object.fromEntries(shown);
}

function memberOf(value: object, name: string, within: readonly object[]): unknown {
  try {
    return plain(Reflect.get(value, name), within);
  } catch {
    return "[unreadable]";
  }
}

function hex(bytes: Uint8Array): string {
  const shown = bytes.subarray(0, LOG_BINARY_BYTES_MAX).toHex();
  return bytes.length > LOG_BINARY_BYTES_MAX ? `${shown}… ${bytes.length} bytes` : shown;
}

function shorten(text: string): string {
  if (text.length <= LOG_TEXT_LENGTH_MAX) return text;
  return `${text.slice(0, LOG_TEXT_LENGTH_MAX)}… ${text.length} characters`;
}

function isoTime(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? `[time ${timeMs}]` : date.toISOString();
}

/**
 * Where a setting comes from: flag before environment before file before default, and it is known which one won.
 * Each program declares its options in one table; parsing, help and the reference page are made from it.
 */
import { DURATION_FORM, parseDuration } from "./duration.ts";
import { ZesterError } from "./errors.ts";
import { CONFIG_BYTES_MAX } from "./limits.ts";
import { nearest } from "./nearest.ts";
import type { Files } from "./ports.ts";
import { printable } from "./printable.ts";
import { readYamlMap } from "./yaml_map.ts";

interface OptionBase<Type extends string, Value> {
  readonly type: Type;
  /** null: not set, and the program does without. */
  readonly default: Value | null;
  readonly help: string;
  readonly flag?: `--${string}`;
  readonly env?: `ZESTER_${string}`;
}

/** How one option is declared. Durations are milliseconds inside; a dotted key is a nested one in the file. */
export type OptionSpec =
  | (OptionBase<"string", string> & { readonly choices?: readonly string[] })
  | OptionBase<"duration", number>
  | (OptionBase<"integer", number> & { readonly min?: number; readonly max?: number })
  | OptionBase<"boolean", boolean>
  | OptionBase<"list", readonly string[]>;

export type OptionTable = Readonly<Record<string, OptionSpec>>;

interface TypeValues {
  string: string;
  duration: number;
  integer: number;
  boolean: boolean;
  list: readonly string[];
}

type BaseValue<S extends OptionSpec> = S extends { choices: readonly (infer C)[] } ? C
  : TypeValues[S["type"]];

/** Typed values of a table: nullable only where the default is null. */
export type ConfigValues<T extends OptionTable> = {
  readonly [K in keyof T]: BaseValue<T[K]> | (T[K]["default"] extends null ? null : never);
};

export interface Config<T extends OptionTable> {
  readonly values: ConfigValues<T>;
  /** `flag --x`, `env ZESTER_X`, `file path:line` or `default`, per key. */
  readonly origins: { readonly [K in keyof T]: string };
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigSources<T extends OptionTable> {
  table: T;
  file: { path: string; text: string } | null;
  env: Environment;
  args: readonly string[];
}

type Found = { readonly value: unknown; readonly origin: string };

/** Decides every value of a table. Reads nothing itself. */
export async function resolveConfig<const T extends OptionTable>(
  { table, file, env, args }: ConfigSources<T>,
): Promise<Config<T>> {
  const found = new Map<string, Found>();
  for (const [key, spec] of Object.entries(table)) {
    found.set(key, { value: spec.default, origin: "default" });
  }
  if (file !== null) await takeFile(table, file, found);
  takeEnvironment(table, env, found);
  takeFlags(table, args, found);
  return assembled(found);
}

function assembled<T extends OptionTable>(found: ReadonlyMap<string, Found>): Config<T> {
  const pick = (member: keyof Found) =>
    Object.fromEntries([...found].map(([key, entry]) => [key, entry[member]]));
  return {
    values: pick("value") as ConfigValues<T>,
    origins: pick("origin") as Config<T>["origins"],
  };
}

// ---- file ----------------------------------------------------------------------------------------------------

async function takeFile(
  table: OptionTable,
  { path, text }: { path: string; text: string },
  found: Map<string, Found>,
): Promise<void> {
  const keys = Object.keys(table);
  const opens = (key: string) => keys.some((known) => known.startsWith(`${key}.`));
  for (const { key, value, line } of await readYamlMap(path, text, opens)) {
    const where = `${path}:${line}`;
    if (!Object.hasOwn(table, key)) throw unknownName(`${where}: no such key`, key, keys);
    if (value === null) continue; // `key:` with nothing after it: as if it were not there
    found.set(key, {
      value: fromYaml(table[key]!, value, `${where}: ${key}`),
      origin: `file ${where}`,
    });
  }
}

function fromYaml(spec: OptionSpec, value: unknown, where: string): unknown {
  switch (spec.type) {
    case "list":
      if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
      return typeof value === "string" ? fromText(spec, value, where) : refuse(spec, value, where);
    case "boolean":
      return typeof value === "boolean" ? value : refuse(spec, value, where);
    case "integer":
      return isInRange(spec, value) ? value : refuse(spec, value, where);
    case "duration":
      return value === 0
        ? 0
        : typeof value === "string"
        ? fromText(spec, value, where)
        : refuse(spec, value, where);
    case "string":
      return typeof value === "string" ? fromText(spec, value, where) : refuse(spec, value, where);
  }
}

// ---- environment ---------------------------------------------------------------------------------------------

/** An empty variable counts as not set: that is how most tools pass on what they do not have. */
function takeEnvironment(table: OptionTable, env: Environment, found: Map<string, Found>): void {
  for (const [key, spec] of Object.entries(table)) {
    const text = spec.env === undefined ? undefined : env[spec.env];
    if (text === undefined || text === "") continue;
    found.set(key, { value: fromText(spec, text, spec.env!), origin: `env ${spec.env}` });
  }
}

// ---- flags ---------------------------------------------------------------------------------------------------

/** Takes `--flag value`, `--flag=value`, `--flag` and `--no-flag`. A list may be given several times. */
function takeFlags(table: OptionTable, args: readonly string[], found: Map<string, Found>): void {
  const byFlag = flagsOf(table);
  const rest = [...args];
  while (rest.length > 0) {
    const word = rest.shift()!;
    const [name, attached] = splitOnce(word);
    const option = byFlag.get(name);
    if (option === undefined) throw unknownFlag(word, name, byFlag);
    const { key, spec, negated } = option;
    const value = flagValue(spec, { name, attached, negated, rest });
    const origin = `flag ${name}`;
    const before = found.get(key);
    const repeats = spec.type === "list" && before?.origin === origin;
    found.set(key, { value: repeats ? joined(before.value, value) : value, origin });
  }
}

type FlagOption = { key: string; spec: OptionSpec; negated: boolean };

function flagsOf(table: OptionTable): Map<string, FlagOption> {
  const flags = new Map<string, FlagOption>();
  for (const [key, spec] of Object.entries(table)) {
    if (spec.flag === undefined) continue;
    flags.set(spec.flag, { key, spec, negated: false });
    if (spec.type === "boolean") {
      flags.set(`--no-${spec.flag.slice(2)}`, { key, spec, negated: true });
    }
  }
  return flags;
}

function flagValue(
  spec: OptionSpec,
  { name, attached, negated, rest }: {
    name: string;
    attached: string | undefined;
    negated: boolean;
    rest: string[];
  },
): unknown {
  if (negated && attached !== undefined) throw usage(`${name} takes no value`);
  if (spec.type === "boolean" && attached === undefined) return !negated;
  const text = attached ?? rest.shift();
  if (text === undefined) throw usage(`${name} needs a value: ${expected(spec)}`);
  return fromText(spec, text, name);
}

function joined(before: unknown, value: unknown): string[] {
  return [...before as string[], ...value as string[]];
}

function splitOnce(word: string): [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

// ---- values --------------------------------------------------------------------------------------------------

function fromText(spec: OptionSpec, text: string, where: string): unknown {
  switch (spec.type) {
    case "string":
      return spec.choices?.includes(text) ?? true ? text : refuse(spec, text, where);
    case "list":
      return text.split(",").map((item) => item.trim()).filter((item) => item !== "");
    case "boolean":
      return /^(true|1)$/.test(text)
        ? true
        : /^(false|0)$/.test(text)
        ? false
        : refuse(spec, text, where);
    case "duration":
      return parseDuration(text) ?? refuse(spec, text, where);
    case "integer": {
      const number = /^-?\d+$/.test(text) ? Number(text) : NaN;
      return isInRange(spec, number) ? number : refuse(spec, text, where);
    }
  }
}

function isInRange(spec: OptionSpec & { type: "integer" }, value: unknown): boolean {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = spec;
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** What an option takes, for error messages and help. */
export function expected(spec: OptionSpec): string {
  switch (spec.type) {
    case "string":
      return spec.choices === undefined ? "text" : `one of ${spec.choices.join(", ")}`;
    case "list":
      return "a list of texts";
    case "boolean":
      return "true or false";
    case "duration":
      return DURATION_FORM;
    case "integer":
      return integerForm(spec.min, spec.max);
  }
}

function integerForm(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return `a whole number from ${min} to ${max}`;
  if (min !== undefined) return `a whole number of at least ${min}`;
  return max === undefined ? "a whole number" : `a whole number of at most ${max}`;
}

function refuse(spec: OptionSpec, value: unknown, where: string): never {
  const shown = value instanceof Map
    ? "a map"
    : Array.isArray(value)
    ? "a list"
    : JSON.stringify(value);
  const hint = spec.type === "string" && typeof value === "number"
    ? `quote it: "${value}"`
    : undefined;
  const near = spec.type === "string" && typeof value === "string"
    ? didYouMean(value, spec.choices ?? [])
    : undefined;
  const fix = hint ?? near;
  throw new ZesterError(
    "config_invalid",
    `config: ${where}: ${printable(shown)} is not ${expected(spec)}`,
    fix === undefined ? {} : { fix },
  );
}

function unknownName(problem: string, name: string, known: readonly string[]): ZesterError {
  const fix = didYouMean(name, known) ?? `known: ${[...known].sort().join(", ")}`;
  return new ZesterError("config_invalid", `config: ${problem}: ${printable(name)}`, { fix });
}

function unknownFlag(word: string, name: string, known: ReadonlyMap<string, unknown>): ZesterError {
  if (!word.startsWith("-")) return usage(`unexpected argument "${printable(word)}"`);
  const fix = didYouMean(name, [...known.keys()]) ?? "--help lists them";
  return usage(`no such flag: ${printable(name)}`, fix);
}

function didYouMean(word: string, known: readonly string[]): string | undefined {
  const near = nearest(word, known);
  return near === null ? undefined : `did you mean \`${near}\`?`;
}

function usage(message: string, fix?: string): ZesterError {
  return new ZesterError("usage", message, fix === undefined ? {} : { fix });
}

// ---- reading the file ----------------------------------------------------------------------------------------

export interface LoadOptions<T extends OptionTable> {
  table: T;
  /** Used when neither `--config` nor `ZESTER_CONFIG` names a file; it may be missing. */
  defaultPath: string;
  env: Environment;
  args: readonly string[];
  files: Pick<Files, "read">;
}

/** Finds the file (`--config`, `ZESTER_CONFIG`, the default), reads it and decides every value. */
export async function loadConfig<const T extends OptionTable>(
  { table, defaultPath, env, args, files }: LoadOptions<T>,
): Promise<Config<T>> {
  const { named, rest } = takeConfigFlag(args);
  const explicit = named ?? (env["ZESTER_CONFIG"] || undefined);
  const path = explicit ?? defaultPath;
  const text = await readText(path, files);
  if (text === null && explicit !== undefined) {
    const fix = "name a file that exists, or leave it out to run on defaults";
    throw new ZesterError("config_invalid", `config: ${path}: no such file`, { fix });
  }
  const file = text === null ? null : { path, text };
  return await resolveConfig({ table, file, env, args: rest });
}

function takeConfigFlag(args: readonly string[]): { named: string | undefined; rest: string[] } {
  const rest = [...args];
  const at = rest.findIndex((word) => splitOnce(word)[0] === "--config");
  if (at < 0) return { named: undefined, rest };
  const attached = splitOnce(rest[at]!)[1];
  const named = attached ?? rest[at + 1];
  if (named === undefined || named === "") throw usage("--config needs a value: a path");
  rest.splice(at, attached === undefined ? 2 : 1);
  return { named, rest };
}

/** Text of a configuration file; null when there is none. */
export async function readText(path: string, files: Pick<Files, "read">): Promise<string | null> {
  const bytes = await files.read(path, CONFIG_BYTES_MAX);
  if (bytes === null) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ZesterError("config_invalid", `config: ${path}: not UTF-8 text`, { cause: error });
  }
}

/** One line per option, for `--help`. */
export function optionHelp(table: OptionTable): string {
  const rows = Object.values(table).filter(({ flag }) => flag !== undefined)
    .map((spec) => ({
      flag: `${spec.flag}${spec.type === "boolean" ? "" : ` <${spec.type}>`}`,
      spec,
    }));
  const width = Math.max(...rows.map(({ flag }) => flag.length));
  return rows.map(({ flag, spec }) => `  ${flag.padEnd(width)}  ${spec.help}`).join("\n");
}

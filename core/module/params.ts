/**
 * What parameters a module takes: the spec of each, how a value from YAML, the command line or the wire becomes one, and
 * what is wrong with one that does not. The same rules hold for all three sources.
 */
import { nearest } from "../nearest.ts";
import { RESERVED_PARAMETERS } from "./reserved.ts";

/** Why a value was not taken; becomes part of the parameter's error. */
export class BadValue extends Error {
  constructor(readonly kind: "wrong_type" | "value_invalid", why: string) {
    super(why);
  }
}

export interface Param<T> {
  /** Name of the type, as docs and errors say it. */
  readonly type: string;
  /** One sentence for the docs. */
  readonly usage: string;
  /** Turns a value that is there (never null, never the empty string) into what the module gets. */
  readonly decode: (value: unknown) => T;
  readonly schema: Readonly<Record<string, unknown>>;
  /** Falls back to the id of the state: the bare word after the function. */
  readonly isPrimary?: boolean;
  readonly aliases?: readonly string[];
  readonly isRequired: boolean;
  /** What the module gets when nothing was given. */
  readonly fallback?: T;
  /** What the docs say is used when nothing was given; the module decides it when it is needed. */
  readonly usedWhenAbsent?: string;
  /** Never shown: not in errors, results, docs or logs. */
  readonly isSensitive?: boolean;
}

export type ParamSpecs = Readonly<Record<string, Param<unknown>>>;

/** The parameters as the module gets them. */
export type ParamsOf<Specs extends ParamSpecs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends Param<infer T> ? T : never;
};

// ---- types ---------------------------------------------------------------------------------------------------

function shape(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return value === null ? "null" : typeof value === "object" ? "a map" : `a ${typeof value}`;
}

function wrongType(wanted: string, value: unknown): BadValue {
  return new BadValue("wrong_type", `${wanted} is wanted, this is ${shape(value)}`);
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (["boolean", "number", "bigint"].includes(typeof value)) return String(value);
  throw wrongType("text", value);
}

const TRUE_WORDS = new Set(["true", "yes", "1", "on"]);
const FALSE_WORDS = new Set(["false", "no", "0", "off"]);

function toFlag(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  if (value === 0 || value === 0n) return false;
  if (value === 1 || value === 1n) return true;
  if (typeof value === "number" && !Number.isInteger(value)) throw wrongType("a flag", value);
  if (!["string", "number", "bigint"].includes(typeof value)) throw wrongType("a flag", value);
  const word = String(value).trim().toLowerCase();
  if (TRUE_WORDS.has(word)) return true;
  if (FALSE_WORDS.has(word)) return false;
  throw new BadValue("value_invalid", "true, yes, 1, on, false, no, 0 or off is wanted");
}

function toInteger(value: unknown): number {
  if (typeof value === "boolean" || typeof value === "object") {
    throw wrongType("a whole number", value);
  }
  const number = typeof value === "string" && !/^\s*[+-]?\d+\s*$/.test(value) ? NaN : Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new BadValue("value_invalid", "a whole number is wanted");
}

function toNumber(value: unknown): number {
  if (typeof value === "boolean" || typeof value === "object") throw wrongType("a number", value);
  const number = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
  if (Number.isFinite(number)) return number;
  throw new BadValue("value_invalid", "a finite number is wanted");
}

function isMap(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Names that would reach into every object if somebody assigned them carelessly. */
const POISONED_KEYS = new Set(["__proto__", "constructor", "prototype"]);

function toMap(value: unknown): Readonly<Record<string, unknown>> {
  if (!isMap(value)) throw wrongType("a map", value);
  const poisoned = Object.keys(value).find((key) => POISONED_KEYS.has(key));
  if (poisoned !== undefined) throw new BadValue("value_invalid", `the key ${poisoned} is refused`);
  return Object.assign(Object.create(null), value);
}

function toMode(value: unknown): number {
  if (typeof value === "boolean" || typeof value === "object") {
    throw wrongType("a file mode", value);
  }
  const isOctalText = typeof value === "string" && /^0*[0-7]{1,4}$/.test(value.trim());
  const mode = isOctalText ? parseInt(value, 8) : typeof value === "string" ? NaN : Number(value);
  if (Number.isInteger(mode) && mode >= 0 && mode <= 0o7777) return mode;
  throw new BadValue("value_invalid", 'an octal mode such as "0644" is wanted');
}

/** A group by number or by name. */
export type GroupRef = { readonly gid: number } | { readonly group: string };

function toGroup(value: unknown): GroupRef {
  const text = toText(value).trim();
  if (/^\d+$/.test(text)) return { gid: toInteger(text) };
  if (/^-\d+$/.test(text)) throw new BadValue("value_invalid", "a group number is not negative");
  return { group: text };
}

function toTemplate(value: unknown): boolean {
  return typeof value === "string" && value.trim().toLowerCase() === "jinja" ? true : toFlag(value);
}

function toTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(toText) : [toText(value)];
}

function toTextMap(value: unknown): Readonly<Record<string, string>> {
  const map = toMap(value);
  const texts: Record<string, string> = Object.create(null);
  for (const [key, each] of Object.entries(map)) texts[key] = each === null ? "" : toText(each);
  return texts;
}

function param<T>(
  type: string,
  schema: Readonly<Record<string, unknown>>,
  decode: (value: unknown) => T,
) {
  return (usage: string): Param<T> => ({ type, usage, decode, schema, isRequired: true });
}

/** Text; numbers and flags become text. */
export const text = param("text", { type: ["string", "number", "boolean"] }, toText);
export const flag = param("flag", { type: ["boolean", "string", "integer"] }, toFlag);
export const integer = param("integer", { type: ["integer", "string"] }, toInteger);
export const number = param("number", { type: ["number", "string"] }, toNumber);
export const map = param("map", { type: "object" }, toMap);

/** Any plain value, for functions that pass data on. */
export const anything = param<unknown>("anything", {}, (value) => value);

// The six semantic types.
export const fileMode = param("FileMode", { type: ["string", "integer"] }, toMode);
/** A flag of which "not given" is a third answer. */
export const triState = param("TriState", { type: ["boolean", "string", "integer"] }, toFlag);
export const groupRef = param("GroupRef", { type: ["integer", "string"] }, toGroup);
export const templateFlag = param("TemplateFlag", { type: ["boolean", "string"] }, toTemplate);
export const textList = param(
  "StringList",
  {
    oneOf: [{ type: "string" }, {
      type: "array",
      items: { type: ["string", "number", "boolean"] },
    }],
  },
  toTexts,
);
export const textMap = param("StringMap", { type: "object" }, toTextMap);

// ---- finer text ----------------------------------------------------------------------------------------------

/** The same parameter with a further rule: `check` says what is wrong with a value, or null. */
export function checked<T>(base: Param<T>, check: (value: T) => string | null): Param<T> {
  return {
    ...base,
    decode(value) {
      const decoded = base.decode(value);
      const wrong = check(decoded);
      if (wrong !== null) throw new BadValue("value_invalid", wrong);
      return decoded;
    },
  };
}

// deno-lint-ignore no-control-regex -- they are what must not be there
const CONTROL = /[\x00-\x1f\x7f]/;

/** Text of one line: no control characters. */
export function line(usage: string): Param<string> {
  return checked(
    text(usage),
    (value) => CONTROL.test(value) ? "control characters are refused" : null,
  );
}

/** An absolute path, with doubled and trailing slashes taken out; `..` is refused. */
export function absolutePath(usage: string): Param<string> {
  const base = line(usage);
  return { ...base, type: "path", decode: (value) => plainPath(base.decode(value)) };
}

function plainPath(given: string): string {
  if (!given.startsWith("/")) throw new BadValue("value_invalid", "an absolute path is wanted");
  const parts = given.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw new BadValue("value_invalid", "`..` in a path is refused");
  return `/${parts.join("/")}`;
}

/** One of a closed set of words, whatever their case. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  usage: string,
): Param<Word> {
  return {
    type: "word",
    usage,
    schema: { enum: words },
    isRequired: true,
    decode(value) {
      const word = toText(value).trim().toLowerCase();
      const found = words.find((each) => each === word);
      if (found !== undefined) return found;
      throw new BadValue("value_invalid", `one of ${words.join(", ")} is wanted`);
    },
  };
}

// ---- presence ------------------------------------------------------------------------------------------------

/** Need not be given; the module gets undefined. `usedWhenAbsent`: what the docs say happens then. */
export function optional<T>(base: Param<T>, usedWhenAbsent?: string): Param<T | undefined> {
  return {
    ...base,
    isRequired: false,
    ...(usedWhenAbsent === undefined ? {} : { usedWhenAbsent }),
  };
}

/** Need not be given; the module gets this instead. */
export function defaulted<T>(base: Param<T>, fallback: T): Param<T> {
  return { ...base, isRequired: false, fallback };
}

/** Falls back to the id of the state. A module has one of these at most. */
export function primary<T>(base: Param<T>, ...aliases: string[]): Param<T> {
  return { ...base, isPrimary: true, aliases };
}

/** Also taken under these names, in this order after its own. */
export function aliased<T>(base: Param<T>, ...aliases: string[]): Param<T> {
  return { ...base, aliases };
}

/** Its value is never shown anywhere. */
export function sensitive<T>(base: Param<T>): Param<T> {
  return { ...base, isSensitive: true };
}

// ---- decoding ------------------------------------------------------------------------------------------------

export interface GivenParams {
  /** The bare word after the function, or the id of the state; empty when there is none. */
  readonly id: string;
  /** Further bare words, taken by the parameters named in `positional`. */
  readonly words?: readonly string[];
  readonly args: Readonly<Record<string, unknown>>;
}

export interface ParamRules {
  readonly params: ParamSpecs;
  /** Parameters that bare words after the first fill, in this order. */
  readonly positional?: readonly string[];
  /** Takes any further parameter. */
  readonly isOpen?: boolean;
}

export type DecodedParams =
  | {
    readonly ok: true;
    readonly params: Readonly<Record<string, unknown>>;
    readonly extra: Readonly<Record<string, unknown>>;
  }
  | { readonly ok: false; readonly errors: readonly string[] };

/** All parameters, or all that is wrong with them. */
export function decodeParams(rules: ParamRules, given: GivenParams): DecodedParams {
  const { params: specs, positional = [], isOpen = false } = rules;
  const errors: string[] = [];
  const words = given.words ?? [];
  if (words.length > positional.length) {
    errors.push(
      `too many bare words: ${words.slice(positional.length).join(" ")} (write key=value)`,
    );
  }
  const fromWords = Object.fromEntries(
    words.slice(0, positional.length).map((word, index) => [positional[index]!, word]),
  );
  const args: Record<string, unknown> = { ...fromWords, ...given.args };
  const params: Record<string, unknown> = Object.create(null);
  for (const [name, spec] of Object.entries(specs)) {
    try {
      params[name] = decodeOne(name, spec, args, given.id);
    } catch (thrown) {
      if (!(thrown instanceof ParamError)) throw thrown;
      errors.push(thrown.message);
    }
  }
  const known = new Set(
    Object.entries(specs).flatMap(([name, spec]) => [name, ...(spec.aliases ?? [])]),
  );
  const extra = Object.entries(args).filter(([name]) =>
    !known.has(name) && !RESERVED_PARAMETERS.has(name)
  );
  if (!isOpen) errors.push(...extra.map(([name]) => unknownParameter(name, known)));
  return errors.length > 0
    ? { ok: false, errors }
    : { ok: true, params, extra: Object.fromEntries(extra) };
}

class ParamError extends Error {}

function decodeOne(
  name: string,
  spec: Param<unknown>,
  args: Readonly<Record<string, unknown>>,
  id: string,
): unknown {
  const key = [name, ...(spec.aliases ?? [])].find((each) =>
    Object.hasOwn(args, each) && !isAbsent(args[each])
  );
  if (key !== undefined) return decodeValue({ name, key, spec, value: args[key] });
  if (spec.isPrimary && id !== "") return decodeValue({ name, key: name, spec, value: id });
  if (spec.isRequired) throw new ParamError(`parameter "${name}" is missing: ${spec.usage}`);
  return spec.fallback;
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}

function decodeValue(
  { name, key, spec, value }: { name: string; key: string; spec: Param<unknown>; value: unknown },
): unknown {
  try {
    return spec.decode(value);
  } catch (thrown) {
    if (!(thrown instanceof BadValue)) throw thrown;
    const shown = spec.isSensitive ? "<redacted>" : shortened(value);
    const under = key === name ? "" : ` (given as "${key}")`;
    throw new ParamError(`parameter "${name}"${under} cannot be ${shown}: ${thrown.message}`);
  }
}

const SHOWN_LETTERS = 80;

function shortened(value: unknown): string {
  const shown = JSON.stringify(
    value,
    (_key, each) => typeof each === "bigint" ? String(each) : each,
  );
  return shown.length <= SHOWN_LETTERS ? shown : `${shown.slice(0, SHOWN_LETTERS)}…`;
}

function unknownParameter(name: string, known: ReadonlySet<string>): string {
  const close = nearest(name, known);
  const hint = close === null ? "" : ` (did you mean "${close}"?)`;
  return `unknown parameter ${JSON.stringify(name)}${hint}; it takes: ${
    [...known].join(", ") || "none"
  }`;
}

/**
 * How a message is declared: a table from the names that we use inside to the keys on the wire, and from it the type, the
 * encoder and the decoder. The wire's spelling, its nanoseconds and its timestamps end here.
 */
import { z } from "zod";
import { ZesterError } from "../errors.ts";
import { isEventId, isId, isJid, isMasterId, isPeelId } from "../ids.ts";
import { decode as decodeBytes, encode as encodeBytes, isMap } from "../msgpack.ts";
import { PROTOCOL_VERSION } from "./version.ts";

// ---- keys ----------------------------------------------------------------------------------------------------

/** One key of a message: its spelling, what it holds, and what its absence means. */
export interface Field<Value, Presence extends "always" | "optional" = "always" | "optional"> {
  readonly key: string;
  readonly schema: z.ZodType;
  readonly presence: Presence;
  /** What the value on the wire, already checked, means inside. */
  read(wire: unknown): Value | undefined;
  /** What to write; undefined leaves the key out. */
  write(inside: Value | undefined): unknown;
}

/** A key that must be there. */
export function required<V>(key: string, schema: z.ZodType<V>): Field<V, "always"> {
  return {
    key,
    schema,
    presence: "always",
    read: (wire) => wire as V,
    write: (inside) => inside,
  };
}

/** A key that may be missing. As in Go, nil and empty text mean the same, and nothing empty or zero is written. */
export function optional<V>(key: string, schema: z.ZodType<V>): Field<V, "optional"> {
  return {
    key,
    schema: schema.nullish(),
    presence: "optional",
    read: (wire) => (wire === null || wire === "" ? undefined : wire as V | undefined),
    write: (inside) => (isEmpty(inside) ? undefined : inside),
  };
}

/** A time that may be missing. Zero is a time like any other. */
export function optionalTime(key: string): Field<number, "optional"> {
  return { ...optional(key, timeMs), write: (inside) => inside };
}

/** A key that is always written, nil if there is nothing. */
export function orNull<V>(key: string, schema: z.ZodType<V>): Field<V | null, "always"> {
  return orEmpty(key, schema.nullable(), () => null);
}

/** A key that is always written; nil, which Go writes for an empty list or map, and a missing key read as `empty`. */
export function orEmpty<V>(
  key: string,
  schema: z.ZodType<V>,
  empty: () => NoInfer<V>,
): Field<V, "always"> {
  return {
    key,
    schema: schema.nullish(),
    presence: "always",
    read: (wire) => (wire ?? empty()) as V,
    write: (inside) => inside ?? empty(),
  };
}

/** A key that is left out when it has nothing to say; inside it then is `empty`. */
export function omitEmpty<V>(
  key: string,
  schema: z.ZodType<V>,
  empty: () => NoInfer<V>,
): Field<V, "always"> {
  return {
    ...orEmpty(key, schema, empty),
    write: (inside) => (isEmpty(inside) ? undefined : inside),
  };
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isMap(value)) return Object.keys(value).length === 0;
  return value === undefined || value === "" || value === 0 || value === 0n || value === false;
}

// ---- what keys hold ------------------------------------------------------------------------------------------

const NANOSECONDS_PER_MS = 1_000_000;
const UINT64_MAX = 2n ** 64n - 1n;
/** The range of a Date. */
const TIME_MS_MAX = 8.64e15;
/** Nanoseconds must fit 63 bits: Go reads them as int64. */
const DURATION_MS_MAX = 9_223_372_036_854;

export const text = z.string();
export const flag = z.boolean();
/** A count, a depth, a small number that is never negative. */
export const count = z.int().nonnegative();
/** Any value that the bus can carry. */
export const anything = z.unknown();
/**
 * A list, which nobody changes once it was decoded. The first wrong item ends it: `z.array` collects the problems of all
 * of them, which takes a second for a hostile list of 200,000.
 */
export function listOf<V>(item: z.ZodType<V>): z.ZodType<readonly V[]> {
  return z.codec(z.array(z.unknown()), z.custom<readonly V[]>(Array.isArray, "expected a list"), {
    decode: (items, { issues }) =>
      converted(items, (each) => z.safeDecode(item, each as never), issues),
    encode: (items, { issues }) => converted(items, (each) => z.safeEncode(item, each), issues),
  });
}

function converted<From, To>(
  items: readonly From[],
  convert: (item: From) => z.ZodSafeParseResult<To>,
  issues: z.core.$ZodRawIssue[],
): To[] {
  const list: To[] = [];
  for (const [index, item] of items.entries()) {
    const result = convert(item);
    if (!result.success) {
      const { path = [], message = "is not valid" } = result.error.issues[0] ?? {};
      issues.push({ code: "custom", path: [index, ...path], message, input: undefined });
      return [];
    }
    list.push(result.data);
  }
  return list;
}

/** A map with values of any kind. */
export const dataMap = z.custom<Record<string, unknown>>(isMap, "expected a map");
/** A map from text to text. */
export const textMap = z.custom<Record<string, string>>(
  (value) => isMap(value) && Object.values(value).every((each) => typeof each === "string"),
  "expected a map of texts",
);

export const jid = z.string().refine(isJid, "is not a job id");
export const peelId = z.string().refine(isPeelId, "is not a peel id");
export const masterId = z.string().refine(isMasterId, "is not a master id");
export const enrollmentId = z.string().refine(
  (value) => isId("enrollment", value),
  "is not an enrollment id",
);
export const eventId = z.string().refine(isEventId, "is not an event id");

/** One of the names of a closed table. */
export function oneOf<T extends Record<string, unknown>>(table: T): z.ZodType<keyof T & string> {
  return z.enum(Object.keys(table) as [keyof T & string, ...(keyof T & string)[]]);
}

/** Nanoseconds on the wire, milliseconds inside. Never negative. */
export const durationMs = z.codec(
  z.union([z.number(), z.bigint()]),
  z.number().nonnegative().max(DURATION_MS_MAX),
  {
    decode: (nanoseconds) => Number(nanoseconds) / NANOSECONDS_PER_MS,
    encode: (ms) => BigInt(Math.round(ms * NANOSECONDS_PER_MS)),
  },
);

/** A timestamp on the wire, milliseconds since 1970 inside. */
export const timeMs = z.codec(
  z.date(),
  z.number().min(-TIME_MS_MAX).max(TIME_MS_MAX),
  { decode: (date) => date.getTime(), encode: (ms) => new Date(ms) },
);

/** An epoch, a revision, a sequence: a bigint inside, so that nothing is lost above 2^53. */
export const uint64 = z.codec(
  z.union([z.int(), z.bigint()]),
  z.bigint().min(0n).max(UINT64_MAX),
  { decode: (value) => BigInt(value), encode: (value) => value },
);

/** A version of the protocol: what the sender wrote, 0 if nothing; always written as our own. */
export function ownVersion(key: string): Field<number, "optional"> {
  return {
    ...optional(key, count),
    read: (wire) => (wire ?? 0) as number,
    write: () => PROTOCOL_VERSION,
  };
}

/** The key `v` of nearly every message. A 0 means that the sender never set it, which is compatible for data at rest. */
export const version = ownVersion("v");

// ---- messages ------------------------------------------------------------------------------------------------

/** The fields of a message by their names inside. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

type Simplify<T> = { [K in keyof T]: T[K] };
type ValueOf<F> = F extends Field<infer V> ? V : never;
type OptionalNames<F extends Fields> = {
  [N in keyof F]: F[N] extends Field<unknown, "optional"> ? N : never;
}[keyof F];

/** The type of a message inside. */
export type Inside<F extends Fields> = Simplify<
  & { -readonly [N in Exclude<keyof F, OptionalNames<F>>]: ValueOf<F[N]> }
  & { -readonly [N in OptionalNames<F>]?: ValueOf<F[N]> | undefined }
>;

/** A declared message. */
export interface Message<T> {
  readonly name: string;
  readonly fields: Fields;
  /** For a message inside another: the map on the wire to the type inside, and back. */
  readonly schema: z.ZodType<T>;
  encode(message: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

/** The type of a declared message. */
export type TypeOf<M> = M extends Message<infer T> ? T : never;

/** Declares a message. Its decoder ignores keys that it does not know, so that newer senders can add some. */
export function message<F extends Fields>(name: string, fields: F): Message<Inside<F>> {
  const schema = schemaOf(fields);
  return {
    name,
    fields,
    schema,
    encode: (inside) => encodeBytes(toWire(name, schema, inside), name),
    decode: (bytes) => toInside(name, schema, decodeBytes(bytes, name)),
  };
}

function schemaOf<F extends Fields>(fields: F): z.ZodType<Inside<F>> {
  const named = Object.entries(fields);
  const wire = z.object(Object.fromEntries(named.map(([, each]) => [each.key, each.schema])));
  return z.codec(wire, z.custom<Inside<F>>(isMap, "expected a message"), {
    decode: (map) => {
      const inside: Record<string, unknown> = {};
      for (const [name, each] of named) assign(inside, name, each.read(map[each.key]));
      return inside as Inside<F>;
    },
    encode: (inside) => {
      const values = inside as Record<string, unknown>;
      const map: Record<string, unknown> = {};
      for (const [name, each] of named) assign(map, each.key, each.write(values[name]));
      return map;
    },
  }) as z.ZodType<Inside<F>>;
}

/** The names are those of the tables, never a sender's. */
function assign(target: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== undefined) target[name] = value;
}

function toInside<T>(name: string, schema: z.ZodType<T>, wire: unknown): T {
  const result = z.safeDecode(schema, wire as never);
  if (result.success) return result.data;
  throw new ZesterError("decode_failed", `${name}: ${problemOf(result.error, wire)}`);
}

function toWire<T>(name: string, schema: z.ZodType<T>, inside: T): unknown {
  const result = z.safeEncode(schema, inside);
  if (result.success) return result.data;
  throw new ZesterError("encode_failed", `${name}: ${problemOf(result.error)}`);
}

/** The first thing that is wrong, with its key on the wire. Values stay out of it: they may be secret. */
function problemOf(error: z.ZodError, wire?: unknown): string {
  const issue = error.issues[0];
  if (issue === undefined) return "is not valid";
  if (issue.path.length === 0) return issue.message;
  const key = JSON.stringify(issue.path.join("."));
  const isAbsent = wire !== undefined && isMissing(wire, issue.path);
  return isAbsent ? `key ${key} is missing` : `key ${key}: ${issue.message}`;
}

function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null) return false;
    at = (at as Record<PropertyKey, unknown>)[step];
  }
  return at === undefined;
}

// ---- unions --------------------------------------------------------------------------------------------------

type Members = Readonly<Record<string, Fields>>;

/** One of several messages, told apart by the key `kind`. */
export type Tagged<M extends Members> = {
  [K in keyof M & string]: Simplify<{ kind: K } & Inside<M[K]>>;
}[keyof M & string];

/** A declared union of messages. */
export interface TaggedMessage<T> {
  readonly name: string;
  readonly members: Members;
  encode(message: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

/** Declares a union of messages that are told apart by the key `kind`. */
export function taggedMessage<const M extends Members>(
  name: string,
  members: M,
): TaggedMessage<Tagged<M>> {
  const schemas = new Map(Object.entries(members).map(([kind, each]) => [kind, schemaOf(each)]));
  return {
    name,
    members,
    encode(inside) {
      const schema = schemas.get(inside.kind);
      if (schema === undefined) throw unknownKind("encode_failed", name, inside.kind);
      const wire = toWire(`${name} ${inside.kind}`, schema, inside as never);
      return encodeBytes({ ...(wire as object), kind: inside.kind }, name);
    },
    decode(bytes) {
      const wire = decodeBytes(bytes, name);
      const kind = isMap(wire) ? wire["kind"] : undefined;
      const schema = typeof kind === "string" ? schemas.get(kind) : undefined;
      if (schema === undefined) throw unknownKind("decode_failed", name, kind);
      return { ...toInside(`${name} ${kind}`, schema, wire), kind } as Tagged<M>;
    },
  };
}

function unknownKind(code: "encode_failed" | "decode_failed", name: string, kind: unknown) {
  const found = typeof kind === "string" ? JSON.stringify(kind.slice(0, 40)) : "missing";
  return new ZesterError(code, `${name}: key "kind" is ${found}`);
}

/**
 * The values that a template sees, and the only ways to look into them. Dicts are `Map`s and lists are arrays of our own,
 * copied on the way in: nothing that a template holds has a prototype chain worth reaching, and no key is special.
 */
import { TEMPLATE_VALUE_DEPTH_MAX } from "../limits.ts";
import type { Budget } from "./_budget.ts";
import { Problem } from "./_problem.ts";

export type List = unknown[];
export type Dict = Map<unknown, unknown>;

/** What a name or a key that is not there evaluates to. */
export class Missing {
  constructor(
    readonly path: string,
    /** What is there instead, when that helps. */
    readonly siblings: readonly string[] = [],
    readonly holder: string = "",
  ) {}
}

/** Arguments of one call. */
export interface Call {
  readonly positional: readonly unknown[];
  readonly named: ReadonlyMap<string, unknown>;
}

/** The only thing that can be called: made by this folder, never by a template's data. */
export class Callable {
  constructor(readonly name: string, readonly invoke: (call: Call) => unknown) {}
}

/** `namespace()`: the one value whose members `set` may change. */
export class Namespace {
  constructor(readonly members: Dict) {}
}

/** What `loop` is inside a loop. */
export class LoopState {
  index0 = 0;

  constructor(readonly items: readonly unknown[], readonly depth: number) {}

  /** A member by its name, or undefined. */
  member(name: string): unknown {
    const { index0, items } = this;
    const { length } = items;
    switch (name) {
      case "index":
        return index0 + 1;
      case "index0":
        return index0;
      case "revindex":
        return length - index0;
      case "revindex0":
        return length - index0 - 1;
      case "first":
        return index0 === 0;
      case "last":
        return index0 === length - 1;
      case "length":
        return length;
      case "depth":
        return this.depth;
      case "depth0":
        return this.depth - 1;
      case "previtem":
        return index0 === 0 ? new Missing("loop.previtem") : items[index0 - 1];
      case "nextitem":
        return index0 + 1 >= length ? new Missing("loop.nextitem") : items[index0 + 1];
      case "cycle":
        return new Callable(
          "loop.cycle",
          ({ positional }) => positional[index0 % positional.length],
        );
      default:
        return undefined;
    }
  }
}

/** A name of an execution function on its way to be called: `salt['a.b']`, `salt.a.b`, `salt[x]`. */
export class SaltName {
  constructor(readonly name: string) {}

  member(key: unknown): SaltName {
    return new SaltName(this.name === "" ? String(key) : `${this.name}.${String(key)}`);
  }
}

/** Text that was rendered already (a macro's, a block's): printing it asks nobody again. */
export class Rendered {
  constructor(readonly text: string) {}
}

/** A value that may only be printed, and only by whoever handles prints: a secret. */
export class OpaqueValue {
  constructor(readonly label: string) {}
}

/** Copies data into values. Getters are not run, and functions and instances are refused. */
export function valueFrom(data: unknown, budget: Budget, depth = 0): unknown {
  budget.step();
  if (depth > TEMPLATE_VALUE_DEPTH_MAX) {
    throw new Problem(
      `a value given to the template is nested deeper than ${TEMPLATE_VALUE_DEPTH_MAX}`,
    );
  }
  if (Array.isArray(data)) return data.map((item) => valueFrom(item, budget, depth + 1));
  if (data instanceof Map) {
    return new Map(
      [...data].map(([key, value]) => [keyFrom(key), valueFrom(value, budget, depth + 1)]),
    );
  }
  if (typeof data === "object" && data !== null) return fromObject(data, budget, depth);
  if (data === undefined) return null;
  if (typeof data === "bigint") {
    return Number.isSafeInteger(Number(data)) ? Number(data) : String(data);
  }
  if (typeof data === "function" || typeof data === "symbol") {
    throw new Problem(`a value given to the template is a ${typeof data}`);
  }
  return data;
}

function fromObject(data: object, budget: Budget, depth: number): unknown {
  if (data instanceof OpaqueValue) return data;
  if (data instanceof Date) return data.toISOString();
  const prototype = Object.getPrototypeOf(data);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Problem("a value given to the template is not plain data");
  }
  const dict: Dict = new Map();
  for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(data))) {
    if (!property.enumerable || !("value" in property)) continue;
    dict.set(key, valueFrom(property.value, budget, depth + 1));
  }
  return dict;
}

function keyFrom(key: unknown): unknown {
  return typeof key === "object" && key !== null ? JSON.stringify(key) : key;
}

/** Copies values out as plain data; dicts become objects without a prototype. */
export function dataFrom(value: unknown, budget: Budget, depth = 0): unknown {
  budget.step();
  checkDepth(depth);
  if (Array.isArray(value)) return value.map((item) => dataFrom(item, budget, depth + 1));
  if (value instanceof Map) {
    const data: Record<string, unknown> = Object.create(null);
    for (const [key, member] of value) {
      data[textOf(key, budget)] = dataFrom(member, budget, depth + 1);
    }
    return data;
  }
  if (value instanceof Missing) return undefined;
  if (value instanceof Rendered) return value.text;
  if (value instanceof Namespace) return dataFrom(value.members, budget, depth);
  if (value instanceof OpaqueValue) return value;
  if (typeof value === "object" && value !== null) throw notData(value);
  return value;
}

function checkDepth(depth: number): void {
  if (depth > TEMPLATE_VALUE_DEPTH_MAX) {
    throw new Problem(`a value is nested deeper than ${TEMPLATE_VALUE_DEPTH_MAX}, or holds itself`);
  }
}

function notData(value: object): Problem {
  return new Problem(`${kindOf(value)} has no text: it can only be called`);
}

/** What a value is, in words of the language. */
export function kindOf(value: unknown): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Map) return "a dict";
  if (value instanceof Missing) return "undefined";
  if (value instanceof Rendered || typeof value === "string") return "a text";
  if (value instanceof Namespace) return "a namespace";
  if (value instanceof OpaqueValue) return "a secret";
  if (typeof value === "object") return "a function";
  return typeof value === "number" ? "a number" : "a boolean";
}

/** A secret can be passed on and printed; whoever looks into it would print a part of it. */
export function refuseOpaque(value: unknown): void {
  if (!(value instanceof OpaqueValue)) return;
  throw new Problem(
    `\`${value.label}\` is a secret: it can be printed, but not looked at or changed`,
  );
}

/** As in Python: nothing, zero and what is empty are false. */
export function isTrue(value: unknown): boolean {
  refuseOpaque(value);
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  if (value instanceof Missing) return false;
  if (value instanceof Rendered) return value.text !== "";
  return Boolean(value);
}

/** Text of a value as Jinja prints it. */
export function textOf(value: unknown, budget: Budget): string {
  if (typeof value === "string") return value;
  if (value instanceof Missing) return "";
  if (value instanceof Rendered) return value.text;
  return quoted(value, budget, 0);
}

/** As Python's `repr`, which is YAML's flow style for most data. */
function quoted(value: unknown, budget: Budget, depth: number): string {
  budget.step();
  checkDepth(depth);
  const inner = (item: unknown) => quoted(item, budget, depth + 1);
  if (value === null || value instanceof Missing) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return numberText(value);
  if (value instanceof Rendered) return quotedText(value.text, budget);
  if (typeof value === "string") return quotedText(value, budget);
  if (Array.isArray(value)) return `[${value.map(inner).join(", ")}]`;
  if (value instanceof Map) {
    return `{${[...value].map(([key, member]) => `${inner(key)}: ${inner(member)}`).join(", ")}}`;
  }
  if (value instanceof Namespace) return inner(value.members);
  refuseOpaque(value);
  throw notData(value as object);
}

function quotedText(text: string, budget: Budget): string {
  budget.text(text.length + 2);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`)
    .replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
  return `${quote}${body}${quote}`;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return String(value);
}

/** Members of something that can be looped over; keys of a dict come sorted, so that a render never depends on their order. */
export function itemsOf(value: unknown, budget: Budget): List {
  const items = membersOf(value);
  budget.step(items.length);
  return items;
}

function membersOf(value: unknown): List {
  refuseOpaque(value);
  if (Array.isArray(value)) return [...value];
  if (value instanceof Map) return sortedKeys(value);
  if (value instanceof Rendered) return [...value.text];
  if (typeof value === "string") return [...value];
  if (value instanceof Missing) return [];
  throw new Problem(`${kindOf(value)} cannot be looped over`);
}

/** Keys of a dict in order. */
export function sortedKeys(dict: Dict): List {
  return [...dict.keys()].sort((one, other) => {
    if (typeof one === "number" && typeof other === "number") return one - other;
    const [left, right] = [String(one), String(other)];
    return left < right ? -1 : left > right ? 1 : 0;
  });
}

/** A member that is there, or undefined: an own key of a dict, an index of a list or text, a member of `loop`. */
export function memberOf(value: unknown, key: unknown): unknown {
  refuseOpaque(value);
  if (value instanceof Map) return ownMember(value, key);
  if (value instanceof Namespace) return ownMember(value.members, key);
  if (value instanceof LoopState) return value.member(String(key));
  if (value instanceof SaltName) return value.member(key);
  const list = value instanceof Rendered ? value.text : value;
  if (typeof list !== "string" && !Array.isArray(list)) return undefined;
  if (typeof key !== "number" || !Number.isInteger(key)) return undefined;
  const index = key < 0 ? list.length + key : key;
  return index >= 0 && index < list.length ? list[index] : undefined;
}

/** Data of JSON and MessagePack has only texts as keys, so a number finds its text. */
function ownMember(dict: Dict, key: unknown): unknown {
  if (dict.has(key)) return dict.get(key);
  return typeof key === "number" ? dict.get(String(key)) : undefined;
}

/** Deep equality; `True` is 1 as in Python. */
export function isEqual(one: unknown, other: unknown, budget: Budget, depth = 0): boolean {
  budget.step();
  checkDepth(depth);
  refuseOpaque(one);
  refuseOpaque(other);
  const [left, right] = [plain(one), plain(other)];
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length &&
      left.every((item, at) => isEqual(item, right[at], budget, depth + 1));
  }
  if (left instanceof Map && right instanceof Map) {
    return left.size === right.size &&
      [...left].every(([key, value]) =>
        right.has(key) && isEqual(value, right.get(key), budget, depth + 1)
      );
  }
  return left === right;
}

/** Scalars as they compare: booleans are numbers, rendered text is text, all that is missing is the same. */
function plain(value: unknown): unknown {
  if (typeof value === "boolean") return Number(value);
  if (value instanceof Rendered) return value.text;
  return value instanceof Missing ? undefined : value;
}

/** Order of two values: negative, zero or positive. Kinds that have no common order are refused. */
export function order(one: unknown, other: unknown, budget: Budget, depth = 0): number {
  budget.step();
  checkDepth(depth);
  refuseOpaque(one);
  refuseOpaque(other);
  const [left, right] = [plain(one), plain(other)];
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") {
    return left < right ? -1 : Number(left > right);
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    const length = Math.min(left.length, right.length);
    for (let at = 0; at < length; at++) {
      const found = order(left[at], right[at], budget, depth + 1);
      if (found !== 0) return found;
    }
    return left.length - right.length;
  }
  throw new Problem(`${kindOf(one)} and ${kindOf(other)} have no order`);
}

/** Whether `item in holder`. */
export function contains(holder: unknown, item: unknown, budget: Budget): boolean {
  refuseOpaque(holder);
  refuseOpaque(item);
  if (holder instanceof Map) return ownMember(holder, item) !== undefined || holder.has(item);
  if (Array.isArray(holder)) return holder.some((member) => isEqual(member, item, budget));
  if (holder instanceof Missing) return false;
  if (typeof holder === "string" || holder instanceof Rendered) {
    const [text, wanted] = [textOf(holder, budget), textOf(item, budget)];
    budget.search(text.length, wanted.length);
    return text.includes(wanted);
  }
  throw new Problem(`${kindOf(holder)} holds nothing that \`in\` could find`);
}

/** Facts as targets see them: values found by a dotted key, printed, and compared. */
import { FACT_VALUE_LENGTH_MAX, FACT_VALUES_MAX } from "../limits.ts";
import { isMap } from "../msgpack.ts";
import type { FactOperator } from "./expr.ts";

/** What a peel says of itself, as it was decoded. */
export type FactMap = Readonly<Record<string, unknown>>;

/** Keys under which peels report their addresses, whatever lies below them. */
const ADDRESS_KEYS = [
  "ipv4",
  "ipv6",
  "ip_interfaces",
  "default_ipv4",
  "network.ipv4",
  "network.ipv6",
  "network.interfaces",
];

/** Printed values of a fact; null when the peel has no such fact. A list gives one value per element. */
export function factValues(facts: FactMap, key: string): readonly string[] | null {
  const found = lookUp(facts, key);
  return found === undefined ? null : printedValues(found);
}

/** All addresses that a peel reports, as text. */
export function addressValues(facts: FactMap): readonly string[] | null {
  const found = ADDRESS_KEYS.map((key) => lookUp(facts, key)).filter((each) => each !== undefined);
  if (found.length === 0) return null;
  return [...new Set(found.flatMap(scalarsBelow))].slice(0, FACT_VALUES_MAX);
}

/**
 * Follows the key from map to map; a list on the way stands for its elements. A key that itself holds dots is found too.
 * Null counts as absent: nothing can be said about it.
 */
function lookUp(value: unknown, key: string): unknown {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) {
    const found = value.map((each) => lookUp(each, key)).filter((each) => each !== undefined);
    return found.length === 0 ? undefined : found.flat(1);
  }
  if (!isMap(value)) return undefined;
  const whole = own(value, key);
  if (whole !== undefined) return whole;
  const dot = key.indexOf(".");
  return dot < 0 ? undefined : lookUp(own(value, key.slice(0, dot)), key.slice(dot + 1));
}

function own(map: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] ?? undefined : undefined;
}

function printedValues(value: unknown): string[] {
  const items = Array.isArray(value) ? value.slice(0, FACT_VALUES_MAX) : [value];
  return items.map(printed).filter((each) => each !== undefined);
}

/** Maps, bytes and overlong texts have no printed form: they are there, and equal to nothing. */
function printed(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return value.length <= FACT_VALUE_LENGTH_MAX ? value : undefined;
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    default:
      return value instanceof Date ? value.toISOString() : undefined;
  }
}

function scalarsBelow(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(scalarsBelow);
  if (isMap(value)) return Object.values(value).flatMap(scalarsBelow);
  return printedValues(value);
}

/** The form in which two values are the same value. */
export function folded(value: string): string {
  return value.toLowerCase();
}

/** Whether a fact with these values fits. A missing one never does, not even as "not equal". */
export function compareFact(
  values: readonly string[] | null,
  operator: FactOperator,
  wanted: string,
): boolean {
  if (values === null) return false;
  if (operator === "!=") return values.every((value) => folded(value) !== folded(wanted));
  return values.some((value) => isInOrder(value, operator, wanted));
}

/** Numbers are compared as numbers if both are, else texts as texts. */
export function isInOrder(
  value: string,
  operator: Exclude<FactOperator, "!=">,
  wanted: string,
): boolean {
  if (operator === "=") return folded(value) === folded(wanted);
  const [left, right] = [numberOf(value), numberOf(wanted)];
  const order = left === null || right === null
    ? Number(value > wanted) - Number(value < wanted)
    : left - right;
  switch (operator) {
    case ">":
      return order > 0;
    case "<":
      return order < 0;
    case ">=":
      return order >= 0;
    case "<=":
      return order <= 0;
  }
}

function numberOf(text: string): number | null {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : null;
}

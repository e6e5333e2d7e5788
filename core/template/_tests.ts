/** Tests: what may stand after `is`. */
import * as args from "./_arguments.ts";
import type { Budget } from "./_budget.ts";
import {
  type Call,
  Callable,
  contains,
  isEqual,
  Missing,
  order,
  refuseOpaque,
  Rendered,
} from "./_values.ts";

export interface TestContext {
  readonly budget: Budget;
  readonly hasFilter: (name: string) => boolean;
}

type Test = (value: unknown, call: Call, context: TestContext) => boolean;

const isText = (value: unknown): boolean => typeof value === "string" || value instanceof Rendered;
const isList = (value: unknown): boolean => Array.isArray(value);
const first = (call: Call): unknown => args.read(call, "other")[0];

function compares(wanted: (found: number) => boolean): Test {
  return (value, call, { budget }) => wanted(order(value, first(call), budget));
}

const TESTS: Map<string, Test> = new Map<string, Test>([
  ["defined", (value) => !(value instanceof Missing)],
  ["undefined", (value) => value instanceof Missing],
  ["none", (value) => value === null],
  ["boolean", (value) => typeof value === "boolean"],
  ["true", (value) => value === true],
  ["false", (value) => value === false],
  ["integer", (value) => Number.isInteger(value)],
  ["float", (value) => typeof value === "number" && !Number.isInteger(value)],
  ["number", (value) => typeof value === "number"],
  ["string", isText],
  ["sequence", (value) => isList(value) || isText(value) || value instanceof Map],
  ["list", isList],
  ["iterable", (value) => isList(value) || isText(value) || value instanceof Map],
  ["mapping", (value) => value instanceof Map],
  ["callable", (value) => value instanceof Callable],
  ["lower", (value) => args.text(value) === args.text(value).toLowerCase()],
  ["upper", (value) => args.text(value) === args.text(value).toUpperCase()],
  ["even", (value) => args.number(value) % 2 === 0],
  ["odd", (value) => Math.abs(args.number(value) % 2) === 1],
  ["divisibleby", (value, call) => args.number(value) % args.number(first(call)) === 0],
  ["sameas", (value, call) => value === first(call)],
  ["escaped", () => false],
  ["in", (value, call, { budget }) => contains(first(call), value, budget)],
  ["equalto", (value, call, { budget }) => isEqual(value, first(call), budget)],
  ["ne", (value, call, { budget }) => !isEqual(value, first(call), budget)],
  ["lt", compares((found) => found < 0)],
  ["le", compares((found) => found <= 0)],
  ["gt", compares((found) => found > 0)],
  ["ge", compares((found) => found >= 0)],
  ["filter", (value, _call, { hasFilter }) => hasFilter(args.text(value))],
  ["test", (value) => TESTS.has(args.text(value))],
]);
const ALIASES: readonly (readonly [alias: string, test: string])[] = [
  ["==", "equalto"],
  ["eq", "equalto"],
  ["!=", "ne"],
  ["<", "lt"],
  ["lessthan", "lt"],
  ["<=", "le"],
  [">", "gt"],
  ["greaterthan", "gt"],
  [">=", "ge"],
];
for (const [alias, test] of ALIASES) TESTS.set(alias, TESTS.get(test)!);

/** Looks only at what kind of thing a value is, which a secret may show. */
const OPEN_TO_SECRETS = new Set(["defined", "undefined", "none"]);

/** A test by its name, or null. */
export function testNamed(name: string): Test | null {
  const test = TESTS.get(name);
  if (test === undefined) return null;
  if (OPEN_TO_SECRETS.has(name)) return test;
  return (value, call, context) => {
    refuseOpaque(value);
    return test(value, call, context);
  };
}

/** Names of all tests. */
export function testNames(): string[] {
  return [...TESTS.keys()];
}

/** Arithmetic and comparison as Python does them: lists add up, texts repeat, and `%` formats. */
import * as args from "./_arguments.ts";
import type { Budget } from "./_budget.ts";
import { percentFormatted } from "./_format.ts";
import type { BinaryNode } from "./_nodes.ts";
import { Problem } from "./_problem.ts";
import {
  contains,
  isEqual,
  itemsOf,
  kindOf,
  type List,
  order,
  refuseOpaque,
  Rendered,
  textOf,
} from "./_values.ts";

type Operator = (left: unknown, right: unknown, budget: Budget) => unknown;
type OperatorName = Exclude<BinaryNode["typename"], "Is" | "Or" | "And">;

const OPERATORS: Readonly<Record<OperatorName, Operator>> = {
  Add: added,
  Sub: (left, right) => args.number(left) - args.number(right),
  Mul: multiplied,
  Div: (left, right) => args.number(left) / divisor(right),
  FloorDiv: (left, right) => Math.floor(args.number(left) / divisor(right)),
  Mod: remainder,
  Pow: (left, right) => args.number(left) ** args.number(right),
  Concat: (left, right, budget) => concatenated(left, right, budget),
  In: (left, right, budget) => contains(right, left, budget),
};

/** Value of `left operator right`. */
export function operate(
  name: OperatorName,
  left: unknown,
  right: unknown,
  budget: Budget,
): unknown {
  refuseOpaque(left);
  refuseOpaque(right);
  return OPERATORS[name](left, right, budget);
}

/** Whether a comparison holds. */
export function compare(operator: string, left: unknown, right: unknown, budget: Budget): boolean {
  switch (operator) {
    case "==":
      return isEqual(left, right, budget);
    case "!=":
      return !isEqual(left, right, budget);
    case "<":
      return order(left, right, budget) < 0;
    case "<=":
      return order(left, right, budget) <= 0;
    case ">":
      return order(left, right, budget) > 0;
    case ">=":
      return order(left, right, budget) >= 0;
    default:
      throw new Problem(`\`${operator}\` is no comparison`);
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string" || value instanceof Rendered;
}

function added(left: unknown, right: unknown, budget: Budget): unknown {
  if (Array.isArray(left) && Array.isArray(right)) {
    return [...itemsOf(left, budget), ...itemsOf(right, budget)];
  }
  if (isText(left) && isText(right)) return concatenated(left, right, budget);
  if (isText(left) || isText(right)) {
    throw new Problem(`${kindOf(left)} and ${kindOf(right)} cannot be added`, {
      fix: "join texts with `~`, or turn a text into a number with `|int`",
    });
  }
  return args.number(left) + args.number(right);
}

function concatenated(left: unknown, right: unknown, budget: Budget): string {
  const [one, other] = [textOf(left, budget), textOf(right, budget)];
  budget.text(one.length + other.length);
  return one + other;
}

function multiplied(left: unknown, right: unknown, budget: Budget): unknown {
  if (typeof right === "number" && isText(left)) return repeated(args.text(left), right, budget);
  if (typeof left === "number" && isText(right)) return repeated(args.text(right), left, budget);
  if (typeof right === "number" && Array.isArray(left)) return repeatedList(left, right, budget);
  return args.number(left) * args.number(right);
}

function repeated(text: string, times: number, budget: Budget): string {
  const count = args.count(Math.max(0, times));
  budget.text(text.length * count);
  return text.repeat(count);
}

function repeatedList(list: List, times: number, budget: Budget): List {
  const count = args.count(Math.max(0, times));
  budget.step(count * list.length + count);
  return Array.from({ length: count }, () => list).flat();
}

function remainder(left: unknown, right: unknown, budget: Budget): unknown {
  if (isText(left)) return percentFormatted(args.text(left), right, budget);
  const by = divisor(right);
  return ((args.number(left) % by) + by) % by;
}

function divisor(value: unknown): number {
  const by = args.number(value);
  if (by === 0) throw new Problem("division by zero");
  return by;
}

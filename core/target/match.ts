/**
 * Who matches. Each part of a target can do two things: name the peels that match it (from the inverted facts where it can),
 * and judge one peel. An `and` lets its smallest side name them and the others judge, so the cost goes with the answer.
 */
import { assertNever } from "../errors.ts";
import { holds, parseAddress, type Subnet } from "./address.ts";
import type { Matcher, TargetExpr, TargetNode } from "./expr.ts";
import { addressValues, compareFact, type FactMap, factValues, isInOrder } from "./fact_value.ts";
import type { FactColumn, PeelIndex } from "./peel_index.ts";

/** Ids of the peels that match, sorted. */
export function matchTarget({ root }: TargetExpr, index: PeelIndex): string[] {
  return [...select(root, index)].sort();
}

/** How many peels match one part. */
export function countMatches(node: TargetNode, index: PeelIndex): number {
  return select(node, index).size;
}

// ---- judging one peel ----------------------------------------------------------------------------------------

/** Whether one peel matches, looked at by itself. */
export function matchesPeel(node: TargetNode, id: string, index: PeelIndex): boolean {
  switch (node.op) {
    case "and":
      return node.parts.every((part) => matchesPeel(part, id, index));
    case "or":
      return node.parts.some((part) => matchesPeel(part, id, index));
    case "not":
      return !matchesPeel(node.part, id, index);
    case "term":
      return fits(node.term.matcher, id, index);
    default:
      return assertNever(node);
  }
}

function fits(matcher: Matcher, id: string, index: PeelIndex): boolean {
  switch (matcher.kind) {
    case "glob":
      return matcher.glob.matches(id);
    case "regex":
      return matcher.regex.test(id);
    case "list":
      return matcher.ids.has(id);
    case "fact":
      return compareFact(valuesOf(id, matcher.key, index), matcher.operator, matcher.value);
    case "factRegex":
      return valuesOf(id, matcher.key, index)?.some((value) => matcher.regex.test(value)) ?? false;
    case "subnet":
      return addressesIn(matcher.subnet, index.facts(id) ?? {}).length > 0;
    case "group":
      return matchesPeel(matcher.target.root, id, index);
    default:
      return assertNever(matcher);
  }
}

function valuesOf(id: string, key: string, index: PeelIndex): readonly string[] | null {
  const facts = index.facts(id);
  return facts === undefined ? null : factValues(facts, key);
}

/** Addresses of a peel that the subnet holds. */
export function addressesIn(subnet: Subnet, facts: FactMap): string[] {
  return (addressValues(facts) ?? []).filter((address) => isIn(subnet, address));
}

function isIn(subnet: Subnet, text: string): boolean {
  const address = parseAddress(text);
  return address !== null && holds(subnet, address);
}

// ---- naming those that match ---------------------------------------------------------------------------------

function select(node: TargetNode, index: PeelIndex): ReadonlySet<string> {
  switch (node.op) {
    case "and":
      return selectAll(node.parts, index);
    case "or":
      return union(node.parts.map((part) => select(part, index)));
    case "not":
      return selectByLooking(node, index);
    case "term":
      return selectTerm(node, node.term.matcher, index);
    default:
      return assertNever(node);
  }
}

function selectAll(parts: readonly TargetNode[], index: PeelIndex): ReadonlySet<string> {
  const sizes = new Map(parts.map((part) => [part, sizeMax(part, index)]));
  const [smallest, ...others] = parts.toSorted((a, b) => sizes.get(a)! - sizes.get(b)!);
  const found = new Set<string>();
  for (const id of select(smallest!, index)) {
    if (others.every((part) => matchesPeel(part, id, index))) found.add(id);
  }
  return found;
}

/** At most how many match; what cannot be told without looking counts as everybody, and a bit more than a known set. */
function sizeMax(node: TargetNode, index: PeelIndex): number {
  switch (node.op) {
    case "and":
      return Math.min(...node.parts.map((part) => sizeMax(part, index)));
    case "or":
      return node.parts.reduce((sum, part) => sum + sizeMax(part, index), 0);
    case "not":
      return index.size + 1;
    case "term":
      return termSizeMax(node.term.matcher, index);
    default:
      return assertNever(node);
  }
}

function termSizeMax(matcher: Matcher, index: PeelIndex): number {
  switch (matcher.kind) {
    case "list":
      return matcher.ids.size;
    case "glob":
      return matcher.glob.exact === undefined ? index.size + 1 : 1;
    case "fact": {
      const column = index.column(matcher.key);
      if (matcher.operator !== "=") return column.present.size;
      return column.same(matcher.value).reduce((sum, each) => sum + sizeOf(column, each), 0);
    }
    case "factRegex":
      return index.column(matcher.key).present.size;
    case "subnet":
    case "regex":
      return index.size + 1;
    case "group":
      return sizeMax(matcher.target.root, index);
    default:
      return assertNever(matcher);
  }
}

function sizeOf(column: FactColumn, value: string): number {
  return column.values.get(value)?.size ?? 0;
}

function selectTerm(node: TargetNode, matcher: Matcher, index: PeelIndex): ReadonlySet<string> {
  switch (matcher.kind) {
    case "list":
      return present(matcher.ids, index);
    case "glob": {
      const { exact } = matcher.glob;
      return exact === undefined ? selectByLooking(node, index) : present([exact], index);
    }
    case "regex":
      return selectByLooking(node, index);
    case "group":
      return select(matcher.target.root, index);
    case "fact": {
      const column = index.column(matcher.key);
      const { operator, value } = matcher;
      if (operator === "=") return withValues(column, column.same(value), index);
      if (operator === "!=") return without(column, column.same(value), index);
      const fitting = [...column.values.keys()].filter((each) => isInOrder(each, operator, value));
      return withValues(column, fitting, index);
    }
    case "factRegex": {
      const column = index.column(matcher.key);
      const fitting = [...column.values.keys()].filter((each) => matcher.regex.test(each));
      return withValues(column, fitting, index);
    }
    case "subnet": {
      const column = index.addresses();
      const fitting = [...column.values.keys()].filter((each) => isIn(matcher.subnet, each));
      return withValues(column, fitting, index);
    }
    default:
      return assertNever(matcher);
  }
}

function selectByLooking(node: TargetNode, index: PeelIndex): ReadonlySet<string> {
  const found = new Set<string>();
  for (const id of index.ids()) {
    if (matchesPeel(node, id, index)) found.add(id);
  }
  return found;
}

function withValues(
  column: FactColumn,
  values: readonly string[],
  index: PeelIndex,
): ReadonlySet<string> {
  return present(union(values.map((value) => column.values.get(value) ?? new Set())), index);
}

function without(
  column: FactColumn,
  values: readonly string[],
  index: PeelIndex,
): ReadonlySet<string> {
  const others = [...column.present].filter((id) =>
    !values.some((value) => column.values.get(value)?.has(id))
  );
  return present(others, index);
}

/** Leaves out those that are not part of the fleet. */
function present(ids: Iterable<string>, index: PeelIndex): ReadonlySet<string> {
  const found = new Set<string>();
  for (const id of ids) if (index.has(id)) found.add(id);
  return found;
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  if (sets.length === 1) return sets[0]!;
  const all = new Set<string>();
  for (const set of sets) for (const id of set) all.add(id);
  return all;
}

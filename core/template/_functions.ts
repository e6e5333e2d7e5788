/** Functions that every template has: Jinja's, and Zester's as far as they need nothing but facts and settings. */
import { TEMPLATE_VALUE_DEPTH_MAX } from "../limits.ts";
import * as args from "./_arguments.ts";
import type { Budget } from "./_budget.ts";
import { joined } from "./_methods.ts";
import { Problem } from "./_problem.ts";
import {
  type Call,
  Callable,
  type Dict,
  itemsOf,
  kindOf,
  memberOf,
  Missing,
  Namespace,
  textOf,
} from "./_values.ts";

/** What the functions look into. */
export interface Surroundings {
  readonly budget: Budget;
  readonly facts: () => unknown;
  readonly settings: () => unknown;
  readonly salt: (name: string, call: Call) => unknown;
}

type TemplateFunction = (call: Call, around: Surroundings) => unknown;

const FUNCTIONS = new Map<string, TemplateFunction>([
  ["range", (call, { budget }) => range(call, budget)],
  ["dict", (call, { budget }) => dict(call, budget)],
  ["namespace", (call, { budget }) => new Namespace(dict(call, budget))],
  ["list", (call, { budget }) => {
    const [from] = args.read(call, "items");
    return from === undefined ? [] : itemsOf(from, budget);
  }],
  ["mlist", ({ positional }, { budget }) => {
    budget.step(positional.length);
    return [...positional];
  }],
  ["cycler", ({ positional }) => cycler(positional)],
  ["joiner", (call) => joiner(args.text(args.read(call, "sep")[0], ", "))],
  ["facts_get", (call, { facts }) => {
    const [key, otherwise = null] = args.read(call, "key", "default");
    return present(valueAt(facts(), args.text(key)), otherwise);
  }],
  ["pillar_get", (call, { settings }) => {
    const [key, otherwise = null] = args.read(call, "key", "default");
    return present(valueAt(settings(), args.text(key)), otherwise);
  }],
  ["grains_filter_by", (call, around) => filteredBy(call, around)],
  ["file_dirname", (call) => folderOf(args.text(args.read(call, "path")[0])) || "."],
  ["salt_call", ({ positional, named }, { salt }) => {
    const [name, ...rest] = positional;
    if (typeof name !== "string") {
      throw new Problem("needs the name of a function first", {
        fix: "{{ salt_call('pkg.version', 'nginx') }}",
      });
    }
    return salt(name, { positional: rest, named });
  }],
  ["raise", (call) => {
    throw new Problem(args.text(args.read(call, "message")[0]));
  }],
]);

/** A function by its name, bound to what it looks into; or null. */
export function functionNamed(name: string, around: Surroundings): Callable | null {
  const found = FUNCTIONS.get(name);
  return found === undefined ? null : new Callable(name, (call) => found(call, around));
}

/** Names of all functions. */
export function functionNames(): string[] {
  return [...FUNCTIONS.keys()];
}

/** `salt[...]` names that are answered from facts and settings, without anybody's help. */
const SALT_ROUTES = new Map<string, TemplateFunction>();
for (const name of ["grains.get", "grains.item", "facts.get", "facts.item"]) {
  SALT_ROUTES.set(name, (call, { facts }) => looked(facts(), call));
}
for (const name of ["pillar.get", "settings.get"]) {
  SALT_ROUTES.set(name, (call, { settings }) => looked(settings(), call));
}
for (const name of ["grains.items", "facts.items"]) {
  SALT_ROUTES.set(name, (_, { facts }) => facts());
}
for (const name of ["pillar.items", "settings.items"]) {
  SALT_ROUTES.set(name, (_, { settings }) => settings());
}
SALT_ROUTES.set("grains.filter_by", (call, around) => filteredBy(call, around));
SALT_ROUTES.set("config.get", (call, { facts, settings }) => {
  const [key, otherwise = ""] = args.read(call, "key", "default", "merge", "delimiter");
  const own = valueAt(settings(), args.text(key));
  return own === undefined ? present(valueAt(facts(), args.text(key)), otherwise) : own;
});
// Formulas find and merge their maps with these; they touch no file.
SALT_ROUTES.set("file.dirname", (call) => folderOf(args.text(args.read(call, "path")[0])));
SALT_ROUTES.set("file.basename", (call) => args.text(args.read(call, "path")[0]).split("/").at(-1));
SALT_ROUTES.set("file.join", ({ positional }, { budget }) => joined(positional, "/", budget));
for (const name of ["slsutil.merge", "defaults.merge"]) {
  SALT_ROUTES.set(name, (call, { budget }) => {
    const [under, over] = args.read(call, "obj_a", "obj_b", "strategy", "renderer", "merge_lists");
    return over instanceof Map ? mergedDeep(under, over, budget, 0) : under;
  });
}

/** An answer that needs nobody else, or null when there is none. */
export function saltRoute(name: string): TemplateFunction | null {
  return SALT_ROUTES.get(name) ?? null;
}

/** Salt's merge and delimiter arguments change nothing here. */
function looked(from: unknown, call: Call): unknown {
  const [key, otherwise = ""] = args.read(call, "key", "default", "merge", "delimiter");
  return present(valueAt(from, args.text(key)), otherwise);
}

/** A key whose value is none is there. */
function present(value: unknown, otherwise: unknown): unknown {
  return value === undefined ? otherwise : value;
}

/** A value by its path, separated by colons or by dots; a key that holds the separator itself comes first. */
export function valueAt(from: unknown, path: string): unknown {
  const whole = memberOf(from, path);
  if (whole !== undefined) return whole;
  const separator = path.includes(":") ? ":" : ".";
  return path.split(separator).reduce<unknown>(
    (holder, step) =>
      memberOf(holder, Array.isArray(holder) && /^\d+$/.test(step) ? Number(step) : step),
    from,
  );
}

function folderOf(path: string): string {
  const cut = path.lastIndexOf("/");
  return cut === -1 ? "" : path.slice(0, Math.max(1, cut));
}

function range(call: Call, budget: Budget): number[] {
  const [first, second, step] = args.read(call, "start", "stop", "step");
  const [from, to] = second === undefined
    ? [0, args.number(first)]
    : [args.number(first), args.number(second)];
  const by = args.number(step, 1);
  if (by === 0) throw new Problem("a range needs a step that is not zero");
  const length = Math.max(0, Math.ceil((to - from) / by));
  budget.step(length);
  return Array.from({ length }, (_, at) => from + at * by);
}

function dict(call: Call, budget: Budget): Dict {
  const [from] = call.positional;
  const made: Dict = new Map(from instanceof Map ? from : pairsOf(from, budget));
  budget.step(made.size);
  for (const [name, value] of call.named) made.set(name, value);
  return made;
}

function pairsOf(from: unknown, budget: Budget): [unknown, unknown][] {
  if (from === undefined || from instanceof Missing) return [];
  return itemsOf(from, budget).map((item) => {
    if (!Array.isArray(item) || item.length !== 2) {
      throw new Problem("needs pairs of key and value");
    }
    return [item[0], item[1]];
  });
}

/** As a dict of functions: `next()`, `reset()` and what is `current`. */
function cycler(items: readonly unknown[]): Dict {
  if (items.length === 0) throw new Problem("needs something to cycle through");
  let at = 0;
  const members: Dict = new Map([["current", items[0]]]);
  const moveTo = (next: number): unknown => {
    at = next % items.length;
    members.set("current", items[at]);
    return null;
  };
  members.set(
    "next",
    new Callable("next", () => {
      const current = items[at];
      moveTo(at + 1);
      return current;
    }),
  );
  members.set("reset", new Callable("reset", () => moveTo(0)));
  return members;
}

function joiner(separator: string): Callable {
  let isFirst = true;
  return new Callable("joiner", () => {
    const text = isFirst ? "" : separator;
    isFirst = false;
    return text;
  });
}

/** Picks by the value of a fact, else `default`; merges deeply: base under, the pick, then `merge` on top. */
function filteredBy(call: Call, { facts, budget }: Surroundings): unknown {
  const [lookup, second, merge, otherwise, base] = args.read(
    call,
    "lookup_dict",
    "grain",
    "merge",
    "default",
    "base",
  );
  if (!(lookup instanceof Map)) throw new Problem(`needs a dict, not ${kindOf(lookup ?? null)}`);
  const grain = typeof second === "string" ? second : "os.family";
  const fact = valueAt(facts(), grain) ??
    (grain === "os_family" ? valueAt(facts(), "os.family") : undefined);
  const picked = pick(lookup, fact, args.text(otherwise, "default"), budget);
  const under = typeof base === "string" ? lookup.get(base) : base;
  const overs = [second, merge].filter((over) => over instanceof Map);
  if (picked !== null && !(picked instanceof Map)) return picked;
  if (picked === null && overs.length === 0 && !(under instanceof Map)) return null;
  return [picked, ...overs].reduce(
    (merged, over) => over instanceof Map ? mergedDeep(merged, over, budget, 0) : merged,
    under instanceof Map ? mergedDeep(new Map(), under, budget, 0) : new Map(),
  );
}

function pick(lookup: Dict, fact: unknown, otherwise: string, budget: Budget): unknown {
  const key = fact === undefined ? undefined : textOf(fact, budget);
  return lookup.get(key) ?? lookup.get(otherwise) ?? null;
}

function mergedDeep(under: unknown, over: Dict, budget: Budget, depth: number): Dict {
  if (depth > TEMPLATE_VALUE_DEPTH_MAX) throw new Problem("a dict holds itself");
  const merged: Dict = new Map(under instanceof Map ? under : []);
  budget.step(merged.size + over.size);
  for (const [key, value] of over) {
    merged.set(
      key,
      value instanceof Map ? mergedDeep(merged.get(key), value, budget, depth + 1) : value,
    );
  }
  return merged;
}

/** Filters: what may stand after `|`. Jinja's standard set, Salt's that state files use, and Zester's own. */
import * as args from "./_arguments.ts";
import type { Budget } from "./_budget.ts";
import { percentFormatted } from "./_format.ts";
import { jsonOf } from "./_json.ts";
import { capitalized, joined, replaced, strip, titled } from "./_methods.ts";
import { Problem } from "./_problem.ts";
import { regexGroups, regexReplaced } from "./_regex.ts";
import { TEMPLATE_INDENT_MAX, TEMPLATE_VALUE_DEPTH_MAX } from "../limits.ts";
import {
  type Call,
  type Dict,
  isEqual,
  isTrue,
  itemsOf,
  kindOf,
  type List,
  memberOf,
  Missing,
  OpaqueValue,
  order,
  refuseOpaque,
  Rendered,
  sortedKeys,
  textOf,
} from "./_values.ts";
import * as yaml from "js-yaml";

export interface FilterContext {
  readonly budget: Budget;
  filter(name: string, value: unknown, call: Call): unknown;
  test(name: string, value: unknown, call: Call): boolean;
}

type Filter = (value: unknown, call: Call, context: FilterContext) => unknown;

/** A filter on text: numbers and the like are printed first. */
function onText(filter: (text: string, call: Call, context: FilterContext) => unknown): Filter {
  return (value, call, context) => {
    const text = textOf(value, context.budget);
    context.budget.text(text.length);
    return filter(text, call, context);
  };
}

function onList(filter: (list: List, call: Call, context: FilterContext) => unknown): Filter {
  return (value, call, context) => filter(itemsOf(value, context.budget), call, context);
}

const FILTERS = new Map<string, Filter>([
  ["abs", (value) => Math.abs(args.number(value))],
  ["attr", (value, call) => memberOf(value, args.read(call, "name")[0]) ?? new Missing("attr")],
  ["base64_decode", onText((text) => decodeBase64(text))],
  ["base64_encode", onText((text) => encodeBase64(text))],
  [
    "batch",
    onList((list, call, { budget }) => {
      const [size, fill] = args.read(call, "linecount", "fill_with");
      if (fill !== undefined) budget.step(args.count(size));
      return batches(list, Math.max(1, args.count(size)), fill);
    }),
  ],
  ["capitalize", onText(capitalized)],
  [
    "center",
    onText((text, call, { budget }) => {
      const width = args.count(args.read(call, "width")[0], 80);
      budget.text(width);
      const left = Math.floor(Math.max(0, width - text.length) / 2);
      return text.padStart(text.length + left).padEnd(width);
    }),
  ],
  ["default", (value, call) => {
    const [otherwise = "", alsoFalse = false] = args.read(call, "default_value", "boolean");
    const lacks = value instanceof Missing || (isTrue(alsoFalse) && !isTrue(value));
    return lacks ? otherwise : value;
  }],
  ["dict_merge", (value, call, { budget }) => {
    const [other] = args.read(call, "other");
    if (!(value instanceof Map) || !(other instanceof Map)) return value;
    budget.step(value.size + other.size);
    return new Map([...value, ...other]);
  }],
  ["dictsort", (value, call, { budget }) => dictSorted(dictOf(value), call, budget)],
  [
    "difference",
    onList((list, call, { budget }) => {
      const other = itemsOf(args.read(call, "other")[0], budget);
      return list.filter((item) => !has(other, item, budget));
    }),
  ],
  [
    "escape",
    onText((text, _call, { budget }) => {
      budget.text(text.length * 5);
      return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
    }),
  ],
  ["first", onList((list) => list.length > 0 ? list[0] : new Missing("first"))],
  ["flatten", onList((list, _call, { budget }) => flattened(list, budget, 0))],
  ["float", (value, call) => numberOr(value, args.number(args.read(call, "default")[0], 0))],
  ["format", (value, call, { budget }) => {
    const values = call.named.size > 0 ? new Map(call.named) : [...call.positional];
    return percentFormatted(args.text(value), values, budget);
  }],
  [
    "groupby",
    onList((list, call, context) => {
      const [attribute] = args.read(call, "attribute");
      return grouped(list, (item) => memberAt(item, attribute), context.budget);
    }),
  ],
  ["indent", onText((text, call, { budget }) => indented(text, call, budget))],
  ["int", (value, call) => {
    const [otherwise, base] = args.read(call, "default", "base");
    return wholeNumber(value, {
      otherwise: args.number(otherwise, 0),
      base: args.number(base, 10),
    });
  }],
  [
    "intersect",
    onList((list, call, { budget }) => {
      const other = itemsOf(args.read(call, "other")[0], budget);
      return unique(list.filter((item) => has(other, item, budget)), budget);
    }),
  ],
  ["items", (value, _call, { budget }) => {
    const dict = dictOf(value);
    budget.step(dict.size);
    return sortedKeys(dict).map((key) => [key, dict.get(key)]);
  }],
  [
    "join",
    onList((list, call, { budget }) => {
      const [separator, attribute] = args.read(call, "d", "attribute");
      const items = attribute === undefined ? list : list.map((item) => memberAt(item, attribute));
      return joined(items, args.text(separator, ""), budget);
    }),
  ],
  ["last", onList((list) => list.length > 0 ? list.at(-1) : new Missing("last"))],
  ["length", (value) => lengthOf(value)],
  ["list", onList((list) => list)],
  ["lower", onText((text) => text.toLowerCase())],
  ["map", onList((list, call, context) => mapped(list, call, context))],
  ["max", onList((list, call, { budget }) => extreme(list, call, budget, 1))],
  ["min", onList((list, call, { budget }) => extreme(list, call, budget, -1))],
  ["quote", onText((text) => `'${text.replaceAll("'", `'"'"'`)}'`)],
  ["regex_escape", onText((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))],
  ["regex_match", onText((text, call, { budget }) => regex(text, call, budget, true))],
  ["regex_search", onText((text, call, { budget }) => regex(text, call, budget, false))],
  [
    "regex_replace",
    onText((text, call, { budget }) => {
      const [pattern, by, ignoreCase, multiline] = args.read(
        call,
        "rgx",
        "val",
        "ignorecase",
        "multiline",
      );
      return regexReplaced(text, { pattern: args.text(pattern), by: args.text(by) }, budget, {
        ignoreCase: isTrue(ignoreCase),
        multiline: isTrue(multiline),
      });
    }),
  ],
  ["reject", onList((list, call, context) => list.filter((item) => !passes(item, call, context)))],
  [
    "rejectattr",
    onList((list, call, context) => list.filter((item) => !attributePasses(item, call, context))),
  ],
  [
    "replace",
    onText((text, call, { budget }) => {
      const [old, new_, count] = args.read(call, "old", "new", "count");
      return replaced(text, { old: textOf(old, budget), new: textOf(new_, budget), count }, budget);
    }),
  ],
  ["reverse", (value, _call, { budget }) => {
    const reversed = itemsOf(value, budget).reverse();
    return typeof value === "string" ? reversed.join("") : reversed;
  }],
  ["round", (value, call) => {
    const [precision, way] = args.read(call, "precision", "method");
    return rounded(args.number(value), args.number(precision, 0), args.text(way, "common"));
  }],
  ["safe", (value) => value],
  ["select", onList((list, call, context) => list.filter((item) => passes(item, call, context)))],
  [
    "selectattr",
    onList((list, call, context) => list.filter((item) => attributePasses(item, call, context))),
  ],
  ["settings_decrypt", (value) => value],
  [
    "slice",
    onList((list, call, { budget }) => {
      const [count, fill] = args.read(call, "slices", "fill_with");
      budget.step(args.count(count));
      return columns(list, Math.max(1, args.count(count)), fill);
    }),
  ],
  [
    "sort",
    onList((list, call, { budget }) => {
      const [reverse, caseSensitive, attribute] = args.read(
        call,
        "reverse",
        "case_sensitive",
        "attribute",
      );
      const key = sortKey(attribute, isTrue(caseSensitive));
      const sorted = list.sort((one, other) => order(key(one), key(other), budget));
      return isTrue(reverse) ? sorted.reverse() : sorted;
    }),
  ],
  ["string", (value, _call, { budget }) => textOf(value, budget)],
  [
    "sum",
    onList((list, call) => {
      const [attribute, start] = args.read(call, "attribute", "start");
      return list.reduce<number>(
        (sum, item) =>
          sum + args.number(attribute === undefined ? item : memberAt(item, attribute)),
        args.number(start, 0),
      );
    }),
  ],
  [
    "symmetric_difference",
    onList((list, call, { budget }) => {
      const other = itemsOf(args.read(call, "other")[0], budget);
      const only = (from: List, not: List) => from.filter((item) => !has(not, item, budget));
      return unique([...only(list, other), ...only(other, list)], budget);
    }),
  ],
  ["title", onText(titled)],
  [
    "to_bool",
    (value, _call, { budget }) =>
      ["1", "true", "yes", "on"].includes(textOf(value, budget).trim().toLowerCase()),
  ],
  ["to_num", (value) => numberOr(value, 0)],
  ["to_json", (value, call, { budget }) => json(value, call, budget)],
  ["tojson", (value, call, { budget }) => json(value, call, budget)],
  [
    "trim",
    onText((text, call) => {
      const [characters = null] = args.read(call, "chars");
      return strip(text, characters === null ? null : args.text(characters), "both");
    }),
  ],
  ["truncate", onText((text, call) => truncated(text, call))],
  [
    "union",
    onList((list, call, { budget }) =>
      unique([...list, ...itemsOf(args.read(call, "other")[0], budget)], budget)
    ),
  ],
  [
    "unique",
    onList((list, call, { budget }) => {
      const [caseSensitive, attribute] = args.read(call, "case_sensitive", "attribute");
      return unique(list, budget, sortKey(attribute, isTrue(caseSensitive)));
    }),
  ],
  ["upper", onText((text) => text.toUpperCase())],
  [
    "urlencode",
    onText((text, _call, { budget }) => {
      budget.text(text.length * 3);
      return encodeURIComponent(text.toWellFormed()).replaceAll("%2F", "/");
    }),
  ],
  ["wordcount", onText((text) => text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0)],
  ["wordwrap", onText((text, call) => wrapped(text, args.count(args.read(call, "width")[0], 79)))],
  ["yaml", (value, call, { budget }) => yamlOf(value, call, budget)],
  ["yaml_dquote", onText((text) => JSON.stringify(text))],
  ["yaml_encode", (value, _call, { budget }) => {
    if (value === null || value instanceof Missing) return "null";
    if (typeof value === "boolean") return String(value);
    return value instanceof Map || Array.isArray(value)
      ? jsonOf(value, { indent: 0, sortKeys: false }, budget)
      : textOf(value, budget);
  }],
  ["yaml_squote", onText((text) => `'${text.replaceAll("'", "''")}'`)],
]);
const ALIASES: readonly (readonly [alias: string, filter: string])[] = [
  ["count", "length"],
  ["d", "default"],
  ["e", "escape"],
  ["json", "to_json"],
];
for (const [alias, filter] of ALIASES) FILTERS.set(alias, FILTERS.get(filter)!);

/** Filters that only move text about: what was rendered stays rendered. */
const KEEPS_RENDERED = new Set(["indent", "trim", "string", "safe"]);

/** A filter by its name, or null. Secrets go through none. */
export function filterNamed(name: string): Filter | null {
  const filter = FILTERS.get(name);
  if (filter === undefined) return null;
  return (value, call, context) => {
    if (value instanceof OpaqueValue && name === "default") return value;
    refuseOpaque(value);
    const made = filter(value, call, context);
    const stays = value instanceof Rendered && typeof made === "string" && KEEPS_RENDERED.has(name);
    return stays ? new Rendered(made) : made;
  };
}

/** Names of all filters. */
export function filterNames(): string[] {
  return [...FILTERS.keys()];
}

function dictOf(value: unknown): Dict {
  if (value instanceof Map) return value;
  if (value instanceof Missing) return new Map();
  throw new Problem(`needs a dict, not ${kindOf(value)}`);
}

function lengthOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (value instanceof Map) return value.size;
  if (value instanceof Missing) return 0;
  if (value instanceof Rendered) return value.text.length;
  if (typeof value === "string") return value.length;
  throw new Problem(`${kindOf(value)} has no length`);
}

/** A member by a dotted path, as `attribute=` spells it. */
function memberAt(item: unknown, path: unknown): unknown {
  const steps = typeof path === "string" ? path.split(".") : [path];
  const found = steps.reduce<unknown>(
    (holder, step) =>
      memberOf(
        holder,
        typeof step === "string" && /^\d+$/.test(step) && Array.isArray(holder)
          ? Number(step)
          : step,
      ),
    item,
  );
  return found === undefined ? new Missing(String(path)) : found;
}

function sortKey(attribute: unknown, caseSensitive: boolean): (item: unknown) => unknown {
  return (item) => {
    const key = attribute === undefined ? item : memberAt(item, attribute);
    return typeof key === "string" && !caseSensitive ? key.toLowerCase() : key;
  };
}

function has(list: readonly unknown[], item: unknown, budget: Budget): boolean {
  return list.some((other) => isEqual(other, item, budget));
}

function unique(list: List, budget: Budget, key = (item: unknown): unknown => item): List {
  const scalars = new Set<unknown>();
  const others: List = [];
  return list.filter((item) => {
    const value = key(item);
    if (typeof value !== "object" || value === null) {
      return !scalars.has(value) && scalars.add(value) !== null;
    }
    return !has(others, value, budget) && others.push(value) > 0;
  });
}

function extreme(list: List, call: Call, budget: Budget, sign: number): unknown {
  const [caseSensitive, attribute] = args.read(call, "case_sensitive", "attribute");
  const key = sortKey(attribute, isTrue(caseSensitive));
  if (list.length === 0) return new Missing("the largest or smallest of nothing");
  return list.reduce((best, item) => order(key(item), key(best), budget) * sign > 0 ? item : best);
}

function grouped(list: List, key: (item: unknown) => unknown, budget: Budget): List {
  const sorted = list.sort((one, other) => order(key(one), key(other), budget));
  const groups: [unknown, List][] = [];
  for (const item of sorted) {
    const last = groups.at(-1);
    if (last !== undefined && isEqual(last[0], key(item), budget)) last[1].push(item);
    else groups.push([key(item), [item]]);
  }
  return groups;
}

function mapped(list: List, call: Call, context: FilterContext): List {
  const attribute = call.named.get("attribute");
  if (attribute !== undefined) {
    const otherwise = call.named.get("default");
    return list.map((item) => {
      const found = memberAt(item, attribute);
      return found instanceof Missing && otherwise !== undefined ? otherwise : found;
    });
  }
  const [name, ...positional] = call.positional;
  const inner = { positional, named: call.named };
  return list.map((item) => context.filter(args.text(name), item, inner));
}

function passes(item: unknown, call: Call, context: FilterContext): boolean {
  const [name, ...positional] = call.positional;
  if (name === undefined) return isTrue(item);
  return context.test(args.text(name), item, { positional, named: call.named });
}

function attributePasses(item: unknown, call: Call, context: FilterContext): boolean {
  const [attribute, ...positional] = call.positional;
  return passes(memberAt(item, attribute), { positional, named: call.named }, context);
}

function batches(list: List, size: number, fill: unknown): List {
  const rows: List[] = [];
  for (let at = 0; at < list.length; at += size) rows.push(list.slice(at, at + size));
  const last = rows.at(-1);
  while (fill !== undefined && last !== undefined && last.length < size) last.push(fill);
  return rows;
}

function columns(list: List, count: number, fill: unknown): List {
  const size = Math.floor(list.length / count);
  const longer = list.length % count;
  let at = 0;
  return Array.from({ length: count }, (_, column) => {
    const items = list.slice(at, at += size + (column < longer ? 1 : 0));
    return fill !== undefined && longer > 0 && column >= longer ? [...items, fill] : items;
  });
}

function flattened(list: List, budget: Budget, depth: number): List {
  if (depth > TEMPLATE_VALUE_DEPTH_MAX) throw new Problem("the list is nested too deeply");
  budget.step(list.length);
  return list.flatMap((item) => Array.isArray(item) ? flattened(item, budget, depth + 1) : [item]);
}

function dictSorted(dict: Dict, call: Call, budget: Budget): List {
  const [caseSensitive, by, reverse] = args.read(call, "case_sensitive", "by", "reverse");
  budget.step(dict.size);
  const at = args.text(by, "key") === "value" ? 1 : 0;
  const key = sortKey(at, isTrue(caseSensitive));
  const sorted = [...dict].sort((one, other) => order(key(one), key(other), budget));
  return isTrue(reverse) ? sorted.reverse() : sorted;
}

function indented(text: string, call: Call, budget: Budget): string {
  const [width, first, blank] = args.read(call, "width", "first", "blank");
  const filler = typeof width === "string" ? width : " ".repeat(bounded(args.count(width, 4)));
  const lines = text.split("\n");
  budget.step(lines.length);
  budget.text(text.length + filler.length * lines.length);
  return lines.map((line, at) => {
    const fills = at === 0 ? isTrue(first) : isTrue(blank) || line.trim() !== "";
    return fills ? filler + line : line;
  }).join("\n");
}

function bounded(width: number): number {
  if (width <= TEMPLATE_INDENT_MAX) return width;
  throw new Problem(`cannot indent by more than ${TEMPLATE_INDENT_MAX}`);
}

function json(value: unknown, call: Call, budget: Budget): string {
  const [indent, sortKeys = true] = args.read(call, "indent", "sort_keys");
  return jsonOf(value, {
    indent: indent === null ? 0 : bounded(args.count(indent, 0)),
    sortKeys: isTrue(sortKeys),
  }, budget);
}

/** In flow style on one line, as Salt's filter does, unless it is asked for blocks. */
function yamlOf(value: unknown, call: Call, budget: Budget): string {
  const [flow = true] = args.read(call, "flow_style");
  const json = jsonOf(value, { indent: 0, sortKeys: true }, budget);
  return isTrue(flow) ? json : yaml.dump(JSON.parse(json), { lineWidth: -1 }).trimEnd();
}

function regex(text: string, call: Call, budget: Budget, anchored: boolean): unknown {
  const [pattern, ignoreCase, multiline] = args.read(call, "rgx", "ignorecase", "multiline");
  const groups = regexGroups(text, args.text(pattern), budget, {
    anchored,
    ignoreCase: isTrue(ignoreCase),
    multiline: isTrue(multiline),
  });
  // Salt answers an empty tuple for a match without groups, which is false: nobody means that.
  return groups?.length === 0 ? true : groups;
}

function numberOr(value: unknown, otherwise: number): number {
  if (typeof value === "number" || typeof value === "boolean") return Number(value);
  if (typeof value !== "string" && !(value instanceof Rendered)) return otherwise;
  const text = args.text(value).trim();
  return /^[-+]?(\d[\d_]*(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/.test(text)
    ? Number(text.replaceAll("_", ""))
    : otherwise;
}

function wholeNumber(value: unknown, how: { otherwise: number; base: number }): number {
  if (typeof value === "string" && how.base !== 10) {
    const parsed = Number.parseInt(value.trim(), Math.min(36, Math.max(2, how.base)));
    return Number.isNaN(parsed) ? how.otherwise : parsed;
  }
  const found = Math.trunc(numberOr(value, how.otherwise));
  return Number.isFinite(found) ? found : how.otherwise;
}

function rounded(value: number, precision: number, way: string): number {
  const factor = 10 ** precision;
  if (way === "ceil") return Math.ceil(value * factor) / factor;
  if (way === "floor") return Math.floor(value * factor) / factor;
  if (way !== "common") throw new Problem("rounds by `common`, `ceil` or `floor`");
  return Math.round(value * factor) / factor;
}

function truncated(text: string, call: Call): string {
  const [length, killWords = false, end, leeway] = args.read(
    call,
    "length",
    "killwords",
    "end",
    "leeway",
  );
  const ending = args.text(end, "...");
  const most = args.count(length, 255);
  if (text.length <= most + args.count(leeway, 5)) return text;
  const kept = text.slice(0, Math.max(0, most - ending.length));
  if (isTrue(killWords)) return kept + ending;
  const cut = kept.lastIndexOf(" ");
  return (cut === -1 ? kept : kept.slice(0, cut)) + ending;
}

function wrapped(text: string, width: number): string {
  return text.split("\n").map((line) => wrappedLine(line, width)).join("\n");
}

function wrappedLine(line: string, width: number): string {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return [...lines, current].join("\n");
}

function encodeBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function decodeBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
  } catch (thrown) {
    throw new Problem("the text is not base64", { cause: thrown });
  }
}

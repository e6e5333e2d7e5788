/** Methods of texts, lists and dicts: the whole of them. A name that is not in these tables cannot be called. */
import * as args from "./_arguments.ts";
import type { Budget } from "./_budget.ts";
import { formatted } from "./_format.ts";
import { Problem } from "./_problem.ts";
import {
  type Call,
  type Dict,
  isEqual,
  itemsOf,
  kindOf,
  type List,
  order,
  Rendered,
  sortedKeys,
  textOf,
} from "./_values.ts";

type Method<T> = (self: T, call: Call, budget: Budget) => unknown;

const DICT_METHODS = new Map<string, Method<Dict>>([
  ["get", (dict, call) => {
    const [key, otherwise = null] = args.read(call, "key", "default");
    return dict.has(key) ? dict.get(key) : otherwise;
  }],
  ["items", (dict, _call, budget) => pairs(dict, budget)],
  ["iteritems", (dict, _call, budget) => pairs(dict, budget)],
  ["keys", (dict, _call, budget) => itemsOf(dict, budget)],
  ["values", (dict, _call, budget) => itemsOf(dict, budget).map((key) => dict.get(key))],
  ["update", (dict, call, budget) => {
    for (const [key, value] of updates(call, budget)) dict.set(key, value);
    return null;
  }],
  ["copy", (dict, _call, budget) => {
    budget.step(dict.size);
    return new Map(dict);
  }],
  ["pop", (dict, call) => {
    const [key, otherwise] = args.read(call, "key", "default");
    if (!dict.has(key) && otherwise === undefined) throw new Problem("the dict has no such key");
    const value = dict.has(key) ? dict.get(key) : otherwise;
    dict.delete(key);
    return value;
  }],
  ["setdefault", (dict, call) => {
    const [key, otherwise = null] = args.read(call, "key", "default");
    if (!dict.has(key)) dict.set(key, otherwise);
    return dict.get(key);
  }],
  ["has_key", (dict, call) => dict.has(args.read(call, "key")[0])],
]);

function pairs(dict: Dict, budget: Budget): List {
  budget.step(dict.size);
  return sortedKeys(dict).map((key) => [key, dict.get(key)]);
}

function updates(call: Call, budget: Budget): [unknown, unknown][] {
  const [from] = call.positional;
  const named = [...call.named];
  if (from === undefined) return named;
  if (from instanceof Map) {
    budget.step(from.size);
    return [...from, ...named];
  }
  return [...itemsOf(from, budget).map(asPair), ...named];
}

function asPair(item: unknown): [unknown, unknown] {
  if (Array.isArray(item) && item.length === 2) return [item[0], item[1]];
  throw new Problem(`needs pairs of key and value, not ${kindOf(item)}`);
}

const LIST_METHODS = new Map<string, Method<List>>([
  ["append", (list, call, budget) => append(list, [args.read(call, "item")[0] ?? null], budget)],
  [
    "extend",
    (list, call, budget) => append(list, itemsOf(args.read(call, "items")[0], budget), budget),
  ],
  ["insert", (list, call, budget) => {
    const [at, item = null] = args.read(call, "index", "item");
    budget.step(list.length);
    list.splice(args.number(at), 0, item);
    return null;
  }],
  ["pop", (list, call, budget) => {
    const at = args.number(args.read(call, "index")[0], list.length - 1);
    budget.step(list.length - at);
    if (list.at(at) === undefined && !(at < list.length)) {
      throw new Problem("the list has no such index");
    }
    return list.splice(at, 1)[0] ?? null;
  }],
  ["remove", (list, call, budget) => {
    const [item] = args.read(call, "item");
    const at = list.findIndex((member) => isEqual(member, item, budget));
    if (at === -1) throw new Problem("the list has no such item");
    list.splice(at, 1);
    return null;
  }],
  ["index", (list, call, budget) => {
    const [item] = args.read(call, "item");
    const at = list.findIndex((member) => isEqual(member, item, budget));
    if (at === -1) throw new Problem("the list has no such item");
    return at;
  }],
  ["count", (list, call, budget) => {
    const [item] = args.read(call, "item");
    return list.filter((member) => isEqual(member, item, budget)).length;
  }],
  ["reverse", (list, _call, budget) => {
    budget.step(list.length);
    list.reverse();
    return null;
  }],
  ["sort", (list, _call, budget) => {
    list.sort((one, other) => order(one, other, budget));
    return null;
  }],
  ["copy", (list, _call, budget) => itemsOf(list, budget)],
  // As upstream's `mlist()` spells them.
  ["Append", (list, call, budget) => append(list, [args.read(call, "item")[0] ?? null], budget)],
  [
    "Extend",
    (list, call, budget) => append(list, itemsOf(args.read(call, "items")[0], budget), budget),
  ],
  ["Len", (list) => list.length],
  ["Items", (list, _call, budget) => itemsOf(list, budget)],
  ["Get", (list, call) => list[args.number(args.read(call, "index")[0])] ?? null],
]);

function append(list: List, items: readonly unknown[], budget: Budget): null {
  budget.step(items.length);
  for (const item of items) list.push(item);
  return null;
}

const TEXT_METHODS = new Map<string, Method<string>>([
  ["upper", (text) => text.toUpperCase()],
  ["lower", (text) => text.toLowerCase()],
  ["capitalize", (text) => capitalized(text)],
  ["title", (text) => titled(text)],
  ["swapcase", (text) => [...text].map(swapped).join("")],
  ["strip", (text, call) => stripped(text, call, "both")],
  ["lstrip", (text, call) => stripped(text, call, "start")],
  ["rstrip", (text, call) => stripped(text, call, "end")],
  ["split", (text, call, budget) => split(text, call, budget)],
  ["rsplit", (text, call, budget) => splitFromEnd(text, call, budget)],
  ["splitlines", (text, _call, budget) => {
    const lines = text.split(/\r\n|\r|\n/);
    if (lines.at(-1) === "") lines.pop();
    budget.step(lines.length);
    return lines;
  }],
  [
    "join",
    (text, call, budget) => joined(itemsOf(args.read(call, "items")[0], budget), text, budget),
  ],
  ["replace", (text, call, budget) => {
    const [old, new_, count] = args.read(call, "old", "new", "count");
    return replaced(text, { old: args.text(old), new: args.text(new_), count }, budget);
  }],
  ["startswith", (text, call) => affixes(call).some((prefix) => text.startsWith(prefix))],
  ["endswith", (text, call) => affixes(call).some((suffix) => text.endsWith(suffix))],
  ["find", (text, call, budget) => text.indexOf(wanted(text, call, budget))],
  ["rfind", (text, call, budget) => text.lastIndexOf(wanted(text, call, budget))],
  ["index", (text, call, budget) => {
    const at = text.indexOf(wanted(text, call, budget));
    if (at === -1) throw new Problem("the text does not hold that");
    return at;
  }],
  ["count", (text, call, budget) => occurrences(text, wanted(text, call, budget))],
  ["partition", (text, call, budget) => {
    const separator = wanted(text, call, budget);
    const at = text.indexOf(separator);
    if (at === -1) return [text, "", ""];
    return [text.slice(0, at), separator, text.slice(at + separator.length)];
  }],
  ["rpartition", (text, call, budget) => {
    const separator = wanted(text, call, budget);
    const at = text.lastIndexOf(separator);
    if (at === -1) return ["", "", text];
    return [text.slice(0, at), separator, text.slice(at + separator.length)];
  }],
  ["format", (text, call, budget) => formatted(text, call, budget)],
  ["zfill", (text, call, budget) => padded(text, call, { fill: "0", side: "start" }, budget)],
  ["ljust", (text, call, budget) => padded(text, call, { fill: " ", side: "end" }, budget)],
  ["rjust", (text, call, budget) => padded(text, call, { fill: " ", side: "start" }, budget)],
  ["isdigit", (text) => /^\p{Nd}+$/u.test(text)],
  ["isnumeric", (text) => /^\p{N}+$/u.test(text)],
  ["isalpha", (text) => /^\p{L}+$/u.test(text)],
  ["isalnum", (text) => /^[\p{L}\p{N}]+$/u.test(text)],
  ["islower", (text) => text !== text.toUpperCase() && text === text.toLowerCase()],
  ["isupper", (text) => text !== text.toLowerCase() && text === text.toUpperCase()],
  ["isspace", (text) => text !== "" && text.trim() === ""],
  ["encode", (text) => text],
  ["decode", (text) => text],
]);

/** A method of a value by its name, or null. */
export function method(
  self: unknown,
  name: string,
): ((call: Call, budget: Budget) => unknown) | null {
  if (self instanceof Map) return bound(DICT_METHODS, self, name);
  if (Array.isArray(self)) return bound(LIST_METHODS, self, name);
  if (self instanceof Rendered) return bound(TEXT_METHODS, self.text, name);
  if (typeof self === "string") return bound(TEXT_METHODS, self, name);
  return null;
}

/** Names of the methods of a value, to find the one that was meant. */
export function methodNames(self: unknown): string[] {
  if (self instanceof Map) return [...DICT_METHODS.keys()];
  if (Array.isArray(self)) return [...LIST_METHODS.keys()];
  return typeof self === "string" || self instanceof Rendered ? [...TEXT_METHODS.keys()] : [];
}

function bound<T>(table: ReadonlyMap<string, Method<T>>, self: T, name: string) {
  const found = table.get(name);
  if (found === undefined) return null;
  return (call: Call, budget: Budget) => {
    if (typeof self === "string") budget.text(self.length);
    return found(self, call, budget);
  };
}

/** First letter large, the others small. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();
}

/** Every word capitalised. */
export function titled(text: string): string {
  return text.replace(/[\p{L}\p{N}']+/gu, capitalized);
}

function swapped(letter: string): string {
  return letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
}

function stripped(text: string, call: Call, side: "both" | "start" | "end"): string {
  const [characters = null] = args.read(call, "chars");
  return strip(text, characters === null ? null : args.text(characters), side);
}

/** Without blanks, or without any of the given characters, at its sides. */
export function strip(
  text: string,
  characters: string | null,
  side: "both" | "start" | "end",
): string {
  const given = characters === null ? null : new Set(characters);
  const drops = (letter: string) => given === null ? letter.trim() === "" : given.has(letter);
  let [from, to] = [0, text.length];
  if (side !== "end") { while (from < to && drops(text[from]!)) from++; }
  if (side !== "start") { while (to > from && drops(text[to - 1]!)) to--; }
  return text.slice(from, to);
}

function split(text: string, call: Call, budget: Budget): string[] {
  const [separator = null, limit = -1] = args.read(call, "sep", "maxsplit");
  const most = args.number(limit) < 0 ? Infinity : args.number(limit);
  if (separator === null) return splitAtBlanks(text, most, budget);
  const pieces = text.split(separatorOf(text, separator, budget));
  budget.step(pieces.length);
  if (pieces.length <= most + 1) return pieces;
  return [...pieces.slice(0, most), pieces.slice(most).join(args.text(separator))];
}

function splitFromEnd(text: string, call: Call, budget: Budget): string[] {
  const [separator = null, limit = -1] = args.read(call, "sep", "maxsplit");
  const most = args.number(limit) < 0 ? Infinity : args.number(limit);
  if (separator === null) return splitAtBlanks(text, Infinity, budget);
  const pieces = text.split(separatorOf(text, separator, budget));
  budget.step(pieces.length);
  if (pieces.length <= most + 1) return pieces;
  const cut = pieces.length - most;
  return [pieces.slice(0, cut).join(args.text(separator)), ...pieces.slice(cut)];
}

function separatorOf(text: string, separator: unknown, budget: Budget): string {
  const wanted = args.text(separator);
  if (wanted === "") throw new Problem("a text cannot be split at nothing");
  budget.search(text.length, wanted.length);
  return wanted;
}

function splitAtBlanks(text: string, most: number, budget: Budget): string[] {
  const words = text.trim() === "" ? [] : text.trim().split(/\s+/);
  budget.step(words.length);
  if (words.length <= most + 1) return words;
  return [...words.slice(0, most), words.slice(most).join(" ")];
}

/** Items as text with a separator between them. */
export function joined(items: readonly unknown[], separator: string, budget: Budget): string {
  const texts = items.map((item) => textOf(item, budget));
  const between = Math.max(0, texts.length - 1) * separator.length;
  budget.text(texts.reduce((sum, text) => sum + text.length, between));
  return texts.join(separator);
}

/** Every occurrence, or the first few, of a text replaced by another. */
export function replaced(
  text: string,
  what: { old: string; new: string; count: unknown },
  budget: Budget,
): string {
  budget.search(text.length, what.old.length);
  const found = what.old === "" ? text.length + 1 : occurrences(text, what.old);
  const asked = what.count === undefined || what.count === null ? -1 : args.number(what.count);
  const times = asked < 0 ? found : Math.min(found, asked);
  budget.text(text.length + times * what.new.length);
  if (times === found) return text.replaceAll(what.old, () => what.new);
  const pieces = text.split(what.old);
  return pieces.slice(0, times + 1).join(what.new) +
    pieces.slice(times + 1).map((piece) => what.old + piece).join("");
}

function occurrences(text: string, wanted: string): number {
  if (wanted === "") return text.length + 1;
  let found = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    found++;
  }
  return found;
}

function affixes(call: Call): string[] {
  const [affix] = args.read(call, "affix");
  return Array.isArray(affix) ? affix.map((item) => args.text(item)) : [args.text(affix)];
}

function wanted(text: string, call: Call, budget: Budget): string {
  const found = args.text(args.read(call, "sub")[0]);
  budget.search(text.length, found.length);
  return found;
}

function padded(
  text: string,
  call: Call,
  how: { fill: string; side: "start" | "end" },
  budget: Budget,
): string {
  const [width, fill] = args.read(call, "width", "fill");
  const length = args.count(width);
  budget.text(length);
  const filler = args.text(fill, how.fill);
  return how.side === "start" ? text.padStart(length, filler) : text.padEnd(length, filler);
}

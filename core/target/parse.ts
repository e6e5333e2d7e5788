/**
 * Reads a target expression. One grammar, always:
 *
 *     or = and { "or" and }    and = not { "and" not }    not = "not" not | "(" or ")" | term
 *
 * A term ends at a blank or a parenthesis; parentheses inside a regular expression belong to it as long as they are paired,
 * and the value of a fact may stand in double quotes.
 */
import { isZesterError, ZesterError } from "../errors.ts";
import { isPeelId } from "../ids.ts";
import { TARGET_DEPTH_MAX, TARGET_LENGTH_MAX, TARGET_TERMS_MAX } from "../limits.ts";
import { nearest } from "../nearest.ts";
import { printable } from "../printable.ts";
import { parseSubnet } from "./address.ts";
import {
  FACT_OPERATORS,
  type FactOperator,
  type Matcher,
  type Span,
  type TargetExpr,
  type TargetNode,
} from "./expr.ts";
import { compileGlob, GlobError } from "./glob.ts";
import { MATCHERS, type Prefix } from "./matchers.ts";
import { compileRegex, type LinearRegex, RegexError } from "./regex.ts";

/** Named targets of the masters' configuration, for `N@name`. */
export type TargetGroups = ReadonlyMap<string, string>;

export interface ParseOptions {
  readonly groups?: TargetGroups;
}

/** Parses a target. Throws `bad_target`, with the place in its message. */
export function parseTarget(text: string, { groups = new Map() }: ParseOptions = {}): TargetExpr {
  return new Parser(text, { groups, inside: [], depth: 0 }).parse();
}

/** Where a text is read: on its own, or in place of a group. */
interface Place {
  readonly groups: TargetGroups;
  /** Groups that are being read, the outermost first. */
  readonly inside: readonly string[];
  readonly depth: number;
}

class Parser {
  readonly #text: string;
  readonly #place: Place;
  #at = 0;
  #terms = 0;

  constructor(text: string, place: Place) {
    this.#text = text;
    this.#place = place;
  }

  parse(): TargetExpr {
    if (this.#text.length > TARGET_LENGTH_MAX) {
      throw new ZesterError(
        "bad_target",
        `target: ${this.#text.length} characters, at most ${TARGET_LENGTH_MAX} are allowed`,
        { fix: "name a group in the masters' configuration, or target by facts" },
      );
    }
    this.#skipBlanks();
    if (this.#at === this.#text.length) {
      throw new ZesterError("bad_target", "the target is empty: it says nobody", {
        fix: "'*' is every peel; zester help target",
      });
    }
    const root = this.#or(this.#place.depth + 1);
    const rest = this.#peekWord();
    if (rest === ")") this.#refuse(this.#at, "this parenthesis was never opened");
    if (rest !== "") {
      this.#refuse(this.#at, "expected `and` or `or` before this", "join terms with `and` or `or`");
    }
    return { text: this.#text, root, terms: this.#terms };
  }

  // ---- structure ---------------------------------------------------------------------------------------------

  #or(depth: number): TargetNode {
    return this.#joined("or", () => this.#joined("and", () => this.#not(depth)));
  }

  #joined(op: "and" | "or", read: () => TargetNode): TargetNode {
    const first = read();
    const parts = [first];
    while (this.#takeKeyword(op)) parts.push(read());
    if (parts.length === 1) return first;
    return { op, parts, start: first.start, end: parts.at(-1)!.end };
  }

  #not(depth: number): TargetNode {
    this.#skipBlanks();
    const start = this.#at;
    if (depth > TARGET_DEPTH_MAX) this.#refuse(start, `nested more than ${TARGET_DEPTH_MAX} deep`);
    if (this.#takeKeyword("not")) {
      const part = this.#not(depth + 1);
      return { op: "not", part, start, end: part.end };
    }
    if (this.#text[this.#at] === "(") return this.#parenthesized(depth);
    return this.#term(depth);
  }

  #parenthesized(depth: number): TargetNode {
    const open = this.#at++;
    const inside = this.#or(depth + 1);
    this.#skipBlanks();
    if (this.#text[this.#at] !== ")") {
      const atEnd = this.#at === this.#text.length;
      this.#refuse(
        atEnd ? open : this.#at,
        atEnd ? "this parenthesis is never closed" : "expected `and`, `or` or `)` before this",
      );
    }
    this.#at++;
    // The span holds the parentheses, so that the part can be quoted as it was written.
    return { ...inside, start: open, end: this.#at };
  }

  #term(depth: number): TargetNode {
    const start = this.#at;
    const word = this.#peekWord();
    if (word === "" || word === ")" || isKeyword(word)) {
      const found = word === "" ? "the target ends" : `\`${word}\` stands`;
      this.#refuse(
        start,
        `${found} where a term is expected`,
        isKeyword(word) ? `a peel of that name is written \\${word}` : undefined,
      );
    }
    const prefix = /^[A-Za-z]@/.exec(word)?.[0];
    const matcher = prefix === undefined ? this.#glob(start) : this.#prefixed(prefix, depth);
    this.#countTerms(start, matcher.kind === "group" ? matcher.target.terms : 1);
    const text = this.#text.slice(start, this.#at);
    return { op: "term", term: { text, matcher }, start, end: this.#at };
  }

  #countTerms(start: number, more: number): void {
    this.#terms += more;
    if (this.#terms > TARGET_TERMS_MAX) {
      this.#refuse(
        start,
        `more than ${TARGET_TERMS_MAX} terms`,
        "many names are one term: L@a,b,c",
      );
    }
  }

  // ---- terms -------------------------------------------------------------------------------------------------

  #prefixed(prefix: string, depth: number): Matcher {
    if (!Object.hasOwn(MATCHERS, prefix)) {
      const upper = prefix.toUpperCase();
      const fix = Object.hasOwn(MATCHERS, upper)
        ? `write ${upper}`
        : `known: ${Object.keys(MATCHERS).join(" ")}`;
      this.#refuse(this.#at, `there is no matcher ${prefix}`, fix);
    }
    this.#at += prefix.length;
    switch (prefix as Prefix) {
      case "E@":
        return { kind: "regex", regex: this.#regex(prefix) };
      case "G@":
      case "I@":
        return this.#fact(prefix);
      case "P@":
        return { kind: "factRegex", key: this.#key(prefix), regex: this.#regex(prefix) };
      case "L@":
        return { kind: "list", ids: this.#list() };
      case "S@":
        return this.#subnet();
      case "N@":
        return this.#group(depth);
    }
  }

  #glob(start: number): Matcher {
    const pattern = this.#takeWord();
    this.#requireIdCharacters(pattern, start);
    try {
      return { kind: "glob", glob: compileGlob(pattern, { dots: true }) };
    } catch (thrown) {
      if (!(thrown instanceof GlobError)) throw thrown;
      return this.#refuse(start + thrown.at, thrown.message);
    }
  }

  /** A glob that no id can ever match is a mistake, and with `not` before it, it would be everybody. */
  #requireIdCharacters(pattern: string, start: number): void {
    const plain = pattern.replace(/\\.|\[[^\]]*\]/gs, (part) => "a".repeat(part.length));
    const at = plain.search(/[^a-zA-Z0-9_.\-*?[\]\\]/);
    if (at < 0) return;
    const character = printable(String.fromCodePoint(pattern.codePointAt(at)!));
    this.#refuse(start + at, `no peel id holds "${character}"`, globFix(character, pattern));
  }

  #regex(prefix: string): LinearRegex {
    const start = this.#at;
    const source = this.#takeRegex();
    if (source === "") this.#refuse(start, `${prefix} needs a regular expression`);
    try {
      return compileRegex(source);
    } catch (thrown) {
      if (!(thrown instanceof RegexError)) throw thrown;
      return this.#refuse(
        start,
        `not a regular expression: ${printable(thrown.message)}`,
        "the syntax is RE2: no look-around, no backreferences; a blank is written \\s",
      );
    }
  }

  #key(prefix: string): string {
    const start = this.#at;
    const word = wordAt(this.#text, start);
    const colon = word.indexOf(":");
    if (colon < 0) {
      this.#refuse(start, `${prefix} needs key:value`, `for example ${prefix}os:ubuntu`);
    }
    const key = word.slice(0, colon);
    if (key === "" || key.split(".").includes("")) {
      this.#refuse(start, "the name of a fact is missing", `for example ${prefix}os:ubuntu`);
    }
    this.#at += colon + 1;
    return key;
  }

  #fact(prefix: string): Matcher {
    const key = this.#key(prefix);
    const operator = FACT_OPERATORS.find((each) => this.#text.startsWith(each, this.#at)) ?? "=";
    if (operator !== "=") this.#at += operator.length;
    return { kind: "fact", key, ...this.#value(operator) };
  }

  #value(operator: FactOperator): { operator: FactOperator; value: string; valueSpan: Span } {
    const start = this.#at;
    const value = this.#text[start] === '"' ? this.#quoted() : this.#takeWord();
    if (value === "" && this.#at === start) {
      this.#refuse(start, "a value is missing", 'the empty value is written ""');
    }
    return { operator, value, valueSpan: { start, end: this.#at } };
  }

  /** To the closing quote; a backslash makes what follows ordinary. */
  #quoted(): string {
    const open = this.#at++;
    let value = "";
    while (this.#text[this.#at] !== '"') {
      if (this.#text[this.#at] === "\\") this.#at++;
      if (this.#at >= this.#text.length) this.#refuse(open, "this quote is never closed");
      value += this.#text[this.#at++];
    }
    this.#at++;
    const next = this.#text[this.#at];
    if (next !== undefined && !/[\s()]/.test(next)) {
      this.#refuse(this.#at, "expected a blank after the quote");
    }
    return value;
  }

  #list(): ReadonlySet<string> {
    const start = this.#at;
    const ids = this.#takeWord().split(",").filter((id) => id !== "")
      .map((id) => id.replaceAll(".", "_"));
    if (ids.length === 0) {
      this.#refuse(start, "L@ needs at least one id", `for example ${MATCHERS["L@"].example}`);
    }
    const wrong = ids.find((id) => !isPeelId(id));
    if (wrong !== undefined) {
      const fix = /[*?[]/.test(wrong) ? "a pattern is written without L@" : undefined;
      this.#refuse(start, `"${printable(wrong)}" is not a peel id`, fix);
    }
    return new Set(ids);
  }

  #subnet(): Matcher {
    const start = this.#at;
    const subnet = parseSubnet(this.#takeWord());
    if (subnet === null) {
      this.#refuse(
        start,
        "not an address or a subnet",
        `for example ${MATCHERS["S@"].example} or S@2001:db8::/32`,
      );
    }
    return { kind: "subnet", subnet };
  }

  #group(depth: number): Matcher {
    const start = this.#at;
    const name = this.#takeWord();
    const { groups, inside } = this.#place;
    const text = groups.get(name);
    if (text === undefined) this.#refuse(start, ...unknownGroup(name, groups));
    if (inside.includes(name)) {
      const circle = [...inside.slice(inside.indexOf(name)), name].join(" → ");
      this.#refuse(start, `groups go round in a circle: ${printable(circle)}`);
    }
    return { kind: "group", name, target: this.#inGroup(name, text, depth) };
  }

  #inGroup(name: string, text: string, depth: number): TargetExpr {
    const { groups, inside } = this.#place;
    try {
      return new Parser(text, { groups, inside: [...inside, name], depth }).parse();
    } catch (thrown) {
      if (!isZesterError(thrown, "bad_target") || thrown.message.startsWith("group ")) throw thrown;
      throw new ZesterError("bad_target", `group ${printable(name)}: ${thrown.message}`, {
        cause: thrown,
        fix: thrown.fix ?? "groups are set by `target_groups` in the masters' configuration",
      });
    }
  }

  // ---- words -------------------------------------------------------------------------------------------------

  #skipBlanks(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  /** The word that begins here: up to a blank or a parenthesis; a parenthesis alone; empty at the end. */
  #peekWord(): string {
    this.#skipBlanks();
    return wordAt(this.#text, this.#at);
  }

  /** The rest of the term that is being read; empty if it ends here. */
  #takeWord(): string {
    const word = wordAt(this.#text, this.#at);
    if (/^[()]?$/.test(word)) return "";
    this.#at += word.length;
    return word;
  }

  #takeKeyword(keyword: string): boolean {
    if (this.#peekWord().toLowerCase() !== keyword) return false;
    this.#at += keyword.length;
    return true;
  }

  /** As a word, but pairs of parentheses and all that stands in a class or behind a backslash belong to it. */
  #takeRegex(): string {
    const start = this.#at;
    let open = 0;
    let inClass = false;
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at]!;
      if (/\s/.test(character)) break;
      if (character === "\\") this.#at++;
      else if (inClass) inClass = character !== "]";
      else if (character === "[") inClass = true;
      else if (character === "(") open++;
      else if (character === ")" && open-- === 0) break;
    }
    this.#at = Math.min(this.#at, this.#text.length);
    return this.#text.slice(start, this.#at);
  }

  #refuse(at: number, problem: string, fix?: string): never {
    throw new ZesterError(
      "bad_target",
      `target: ${problem}, at column ${at + 1}\n${pointed(this.#text, at)}`,
      fix === undefined ? {} : { fix },
    );
  }
}

function wordAt(text: string, at: number): string {
  const word = /[()]|[^\s()]+/y;
  word.lastIndex = at;
  return word.exec(text)?.[0] ?? "";
}

function isKeyword(word: string): boolean {
  return /^(and|or|not)$/i.test(word);
}

function globFix(character: string, pattern: string): string {
  const shown = printable(pattern);
  if (character === ",") return `a list is written L@${shown}`;
  if (character === ":") return `a fact is written G@${shown}`;
  if (character === "{") return "write (a or b) instead of {a,b}";
  if (/[+^$|\\]/.test(character)) return `a regular expression is written E@${shown}`;
  return "ids hold letters, digits, `-`, `_` and `.`; globs add * ? [ ]";
}

function unknownGroup(name: string, groups: TargetGroups): [problem: string, fix: string] {
  const near = nearest(name, groups.keys());
  const known = [...groups.keys()].sort();
  const fix = near !== null
    ? `did you mean N@${printable(near)}?`
    : known.length === 0
    ? "groups are set by `target_groups` in the masters' configuration"
    : `known groups: ${known.map(printable).join(", ")}`;
  return [name === "" ? "N@ needs a name" : `there is no group ${printable(name)}`, fix];
}

/** How much of a long target is shown on either side of the place. */
const SHOWN_AROUND = 50;

/** The text with a mark below the place. A bar begins both lines, so that nobody trims them apart. */
function pointed(text: string, at: number): string {
  const from = Math.max(0, at - SHOWN_AROUND);
  const before = (from > 0 ? "…" : "") + printable(text.slice(from, at));
  const after = printable(text.slice(at, at + SHOWN_AROUND));
  const tail = at + SHOWN_AROUND < text.length ? "…" : "";
  return `| ${before}${after}${tail}\n| ${" ".repeat(before.length)}^`;
}

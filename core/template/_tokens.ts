/**
 * Cuts a template into tokens for nunjucks' parser. nunjucks' own lexer is not used: it takes `}}` for an end inside nested
 * dicts, drops backslashes, knows no `{%- raw %}`, and says of most mistakes neither line nor column.
 */
import { Problem, type Source } from "./_problem.ts";

/** The kinds of token that nunjucks' parser knows. */
export type TokenType =
  | "string"
  | "data"
  | "block-start"
  | "block-end"
  | "variable-start"
  | "variable-end"
  | "left-paren"
  | "right-paren"
  | "left-bracket"
  | "right-bracket"
  | "left-curly"
  | "right-curly"
  | "operator"
  | "comma"
  | "colon"
  | "tilde"
  | "pipe"
  | "int"
  | "float"
  | "boolean"
  | "none"
  | "symbol";

/** One token; lines and columns count from zero, as in nunjucks. */
export interface Token {
  readonly type: TokenType;
  readonly value: string;
  readonly lineno: number;
  readonly colno: number;
}

export interface Whitespace {
  /** Drops the line break after a block or comment tag. */
  readonly trimBlocks?: boolean;
  /** Drops what is before a block or comment tag on its line, if that is blank. */
  readonly lstripBlocks?: boolean;
}

const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const PUNCTUATION = new Map<string, TokenType>([
  ["(", "left-paren"],
  [")", "right-paren"],
  ["[", "left-bracket"],
  ["]", "right-bracket"],
  ["{", "left-curly"],
  ["}", "right-curly"],
  [",", "comma"],
  [":", "colon"],
  ["~", "tilde"],
  ["|", "pipe"],
]);
const OPERATOR = /==|!=|<=|>=|\/\/|\*\*|[-+*/%.<>=]/y;
const NUMBER = /\d[\d_]*(\.\d+)?([eE][-+]?\d+)?/y;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const BLANK = /\s+/y;
const RAW_BEGIN = /\{%([-+]?)\s*raw\s*([-+]?)%\}/y;
const RAW_END = /\{%([-+]?)[ \t\r\n]{0,64}endraw[ \t\r\n]{0,64}([-+]?)%\}/g;
const ESCAPES = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["0", "\0"],
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
]);
const HEX_ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/y;
const WORDS = new Map<string, [TokenType, string]>([
  ["true", ["boolean", "true"]],
  ["True", ["boolean", "true"]],
  ["false", ["boolean", "false"]],
  ["False", ["boolean", "false"]],
  ["none", ["none", "none"]],
  ["None", ["none", "none"]],
  ["null", ["none", "none"]],
]);

/** All tokens of a template. */
export function tokenize(source: Source, whitespace: Whitespace = {}): Token[] {
  return new Lexer(source, whitespace).tokens();
}

class Lexer {
  readonly #text: string;
  readonly #made: Token[] = [];
  #at = 0;
  #lineno = 0;
  #lineStart = 0;
  #nextBreak: number;
  /** What the tag before a text does to its beginning. */
  #after: "keep" | "strip" | "trim" = "keep";

  constructor(private readonly source: Source, private readonly whitespace: Whitespace) {
    this.#text = source.text.replaceAll("\r\n", "\n");
    this.#nextBreak = this.#breakFrom(0);
  }

  tokens(): Token[] {
    while (this.#at < this.#text.length) this.#readText();
    return this.#made;
  }

  #readText(): void {
    const from = this.#at;
    const tag = this.#nextTag(from);
    const sign = this.#text[tag + 2] ?? "";
    const kind = this.#text[tag + 1];
    this.#pushText(from, tag, { sign, isBlock: kind !== "{" });
    if (tag === this.#text.length) return void (this.#at = tag);
    this.#at = tag;
    if (kind === "#") return this.#skipComment();
    if (this.#matchAt(RAW_BEGIN) !== null) return this.#readRaw();
    this.#readCode(kind === "{" ? "variable" : "block", sign);
  }

  #nextTag(from: number): number {
    for (let at = this.#text.indexOf("{", from); at !== -1; at = this.#text.indexOf("{", at + 1)) {
      if ("{%#".includes(this.#text[at + 1] ?? " ")) return at;
    }
    return this.#text.length;
  }

  #pushText(from: number, to: number, tag: { sign: string; isBlock: boolean }): void {
    let text = this.#text.slice(from, to);
    if (this.#after === "strip") text = text.trimStart();
    else if (this.#after === "trim" && text.startsWith("\n")) text = text.slice(1);
    this.#after = "keep";
    if (to < this.#text.length) text = this.#beforeTag(text, to, tag);
    if (text !== "") this.#push("data", text, from);
  }

  #beforeTag(text: string, to: number, tag: { sign: string; isBlock: boolean }): string {
    if (tag.sign === "-") return text.trimEnd();
    if (!this.whitespace.lstripBlocks || !tag.isBlock || tag.sign === "+") return text;
    const kept = text.trimEnd();
    const blanks = text.slice(kept.length);
    const line = blanks.slice(blanks.lastIndexOf("\n") + 1);
    const begins = to - line.length;
    const beginsLine = begins === 0 || this.#text[begins - 1] === "\n";
    return beginsLine ? text.slice(0, text.length - line.length) : text;
  }

  /** After the end of a block or comment. */
  #endTag(sign: string): void {
    if (sign === "-") this.#after = "strip";
    else if (this.whitespace.trimBlocks && sign !== "+") this.#after = "trim";
  }

  #skipComment(): void {
    const end = this.#text.indexOf("#}", this.#at + 2);
    if (end === -1) {
      throw this.#problem("a comment `{#` is never closed", this.#at, {
        fix: "close it with `#}`; for the text `{#` itself write {{ '{#' }}",
      });
    }
    this.#endTag(this.#text[end - 1] === "-" && end > this.#at + 2 ? "-" : "");
    this.#at = end + 2;
  }

  #readRaw(): void {
    const begin = this.#matchAt(RAW_BEGIN)!;
    const from = this.#at + begin[0].length;
    RAW_END.lastIndex = from;
    const end = RAW_END.exec(this.#text);
    if (end === null) throw this.#problem("`{% raw %}` is never closed", this.#at);
    this.#endTag(begin[2]!);
    this.#pushText(from, end.index, { sign: end[1]!, isBlock: true });
    this.#endTag(end[2]!);
    this.#at = end.index + end[0].length;
  }

  #readCode(kind: "variable" | "block", sign: string): void {
    const begin = this.#at;
    this.#push(`${kind}-start`, kind === "variable" ? "{{" : "{%", begin);
    this.#at += sign === "-" || (sign === "+" && kind === "block") ? 3 : 2;
    const closes = kind === "variable" ? "}}" : "%}";
    const open: { closer: string; at: number }[] = [];
    for (;;) {
      this.#matchAndSkip(BLANK);
      if (this.#at >= this.#text.length) throw this.#unclosed(closes, open.at(-1)?.at ?? begin);
      if (open.length === 0 && this.#readEnd(kind, closes)) return;
      this.#readToken(open);
    }
  }

  #unclosed(closes: string, at: number): Problem {
    return this.#problem(`\`${this.#text.slice(at, at + 2).trim()}\` is never closed`, at, {
      fix: `close it, and end the tag with \`${closes}\``,
    });
  }

  #readEnd(kind: "variable" | "block", closes: string): boolean {
    const first = this.#text[this.#at]!;
    const signed = (first === "-" || first === "+") &&
      this.#text.startsWith(closes, this.#at + 1);
    if (!signed && !this.#text.startsWith(closes, this.#at)) return false;
    const sign = signed ? first : "";
    this.#push(`${kind}-end`, sign === "-" ? `-${closes}` : closes, this.#at);
    this.#at += closes.length + sign.length;
    if (kind === "block" || sign === "-") this.#endTag(sign);
    return true;
  }

  #readToken(open: { closer: string; at: number }[]): void {
    const first = this.#text[this.#at]!;
    if (first === "'" || first === '"') return this.#readString(first);
    const punctuation = PUNCTUATION.get(first);
    if (punctuation !== undefined) {
      this.#checkNesting(first, open);
      return this.#take(punctuation, first);
    }
    const number = this.#matchAt(NUMBER);
    if (number !== null) {
      const isFloat = number[1] !== undefined || number[2] !== undefined;
      return this.#take(isFloat ? "float" : "int", number[0]);
    }
    const name = this.#matchAt(NAME);
    if (name !== null) return this.#readWord(name[0]);
    const operator = this.#matchAt(OPERATOR);
    if (operator !== null) return this.#take("operator", operator[0]);
    throw this.#problem(
      `\`${String.fromCodePoint(this.#text.codePointAt(this.#at)!)}\` means nothing here`,
      this.#at,
    );
  }

  #readWord(word: string): void {
    // After a dot every word is a key: `settings.none`.
    const isKey = this.#made.at(-1)?.value === ".";
    const [type, value] = (isKey ? undefined : WORDS.get(word)) ?? ["symbol", word];
    this.#push(type, value, this.#at);
    this.#at += word.length;
  }

  #checkNesting(bracket: string, open: { closer: string; at: number }[]): void {
    const closer = CLOSERS[bracket];
    if (closer !== undefined) return void open.push({ closer, at: this.#at });
    if (!")]}".includes(bracket)) return;
    if (open.pop()?.closer !== bracket) {
      throw this.#problem(`\`${bracket}\` closes nothing that is open here`, this.#at);
    }
  }

  #readString(quote: string): void {
    const begin = this.#at;
    let value = "";
    let at = begin + 1;
    for (; this.#text[at] !== quote; at++) {
      const character = this.#text[at];
      if (character === undefined) throw this.#problem("a text is never closed", begin);
      if (character !== "\\") {
        value += character;
        continue;
      }
      const [meant, length] = this.#escape(at);
      value += meant;
      at += length - 1;
    }
    this.#push("string", value, begin);
    this.#at = at + 1;
  }

  /** As in Python: a backslash before anything else stays, so that regular expressions need no doubling. */
  #escape(at: number): [meant: string, length: number] {
    HEX_ESCAPE.lastIndex = at;
    const hex = HEX_ESCAPE.exec(this.#text);
    if (hex !== null) {
      return [String.fromCharCode(parseInt((hex[1] ?? hex[2])!, 16)), hex[0].length];
    }
    const next = this.#text[at + 1] ?? "";
    const meant = ESCAPES.get(next);
    return meant === undefined ? ["\\", 1] : [meant, 2];
  }

  #take(type: TokenType, value: string): void {
    this.#push(
      type,
      type === "int" || type === "float" ? value.replaceAll("_", "") : value,
      this.#at,
    );
    this.#at += value.length;
  }

  #matchAt(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text);
  }

  #matchAndSkip(pattern: RegExp): void {
    this.#at += this.#matchAt(pattern)?.[0].length ?? 0;
  }

  #push(type: TokenType, value: string, offset: number): void {
    this.#made.push({ type, value, ...this.#position(offset) });
  }

  /** Offsets asked for only rise, so the line is found by going on from the last one. */
  #position(offset: number): { lineno: number; colno: number } {
    while (this.#nextBreak < offset) {
      this.#lineno++;
      this.#lineStart = this.#nextBreak + 1;
      this.#nextBreak = this.#breakFrom(this.#lineStart);
    }
    return { lineno: this.#lineno, colno: offset - this.#lineStart };
  }

  #breakFrom(offset: number): number {
    const found = this.#text.indexOf("\n", offset);
    return found === -1 ? Infinity : found;
  }

  #problem(message: string, offset: number, hints: { fix?: string } = {}): Problem {
    const before = this.#text.slice(0, offset);
    const problem = new Problem(message, hints);
    problem.place = {
      source: this.source,
      line: before.split("\n").length,
      column: offset - before.lastIndexOf("\n"),
      width: 1,
    };
    return problem;
  }
}

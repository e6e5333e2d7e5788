/** Globs over peel ids, in linear time: targets come from operators and templates, so no pattern may cost more. */

/** One place of a pattern: any run, any one character, one of a class, or exactly this character. */
type Token =
  | { readonly kind: "run" }
  | { readonly kind: "any" }
  | { readonly kind: "class"; readonly negated: boolean; readonly ranges: readonly Range[] }
  | { readonly kind: "exact"; readonly character: string; readonly escaped: boolean };

type Range = readonly [from: string, to: string];

/** A compiled pattern. */
export interface Glob {
  /** The one text that it matches, when there is only one. */
  readonly exact: string | undefined;
  matches(text: string): boolean;
}

/** What is wrong with a pattern, and at which of its characters. */
export class GlobError extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/**
 * Compiles a pattern: `*` is any run, `?` any one character, `[a-z]` and `[!a-z]` one of a class, and a backslash makes what
 * follows ordinary. With `dots`, a plain dot also matches the underscore that stands for it in a peel id. Throws `GlobError`.
 */
export function compileGlob(pattern: string, { dots = false }: { dots?: boolean } = {}): Glob {
  const tokens = tokensOf(pattern);
  // Each token but a run takes one character, so a longer pattern cannot match: this bounds the work by the text alone.
  const lengthMin = tokens.filter(({ kind }) => kind !== "run").length;
  const exact = exactText(tokens, dots);
  if (exact !== undefined) return { exact, matches: (text) => sameText(text, exact, tokens, dots) };
  const prefix = prefixOf(tokens, dots);
  if (prefix !== undefined) return { exact, matches: (text) => text.startsWith(prefix) };
  return { exact, matches: (text) => text.length >= lengthMin && run(tokens, text, dots) };
}

/** Whether `text` matches `pattern`. A malformed pattern matches nothing. */
export function matchesGlob(pattern: string, text: string): boolean {
  return compiledOrNull(pattern, false)?.matches(text) ?? false;
}

/** Whether a peel id matches, in its own form or in the dotted one that operators see. */
export function matchesPeelId(pattern: string, peelId: string): boolean {
  return compiledOrNull(pattern, true)?.matches(peelId) ?? false;
}

function compiledOrNull(pattern: string, dots: boolean): Glob | null {
  try {
    return compileGlob(pattern, { dots });
  } catch (thrown) {
    if (thrown instanceof GlobError) return null;
    throw thrown;
  }
}

// ---- reading -------------------------------------------------------------------------------------------------

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length;) {
    const character = pattern[at]!;
    if (character === "*") {
      if (tokens.at(-1)?.kind !== "run") tokens.push({ kind: "run" });
      at++;
    } else if (character === "?") {
      tokens.push({ kind: "any" });
      at++;
    } else if (character === "[") {
      const { token, end } = readClass(pattern, at);
      tokens.push(token);
      at = end;
    } else {
      const { character, escaped, end } = readCharacter(pattern, at);
      tokens.push({ kind: "exact", character, escaped });
      at = end;
    }
  }
  return tokens;
}

function readCharacter(
  pattern: string,
  at: number,
): { character: string; escaped: boolean; end: number } {
  if (pattern[at] !== "\\") return { character: pattern[at]!, escaped: false, end: at + 1 };
  const character = pattern[at + 1];
  if (character === undefined) throw new GlobError(at, "a backslash stands at the end");
  return { character, escaped: true, end: at + 2 };
}

/** Reads from the opening bracket to behind the closing one. A hyphen at either end is a hyphen. */
function readClass(pattern: string, start: number): { token: Token; end: number } {
  const negated = pattern[start + 1] === "!" || pattern[start + 1] === "^";
  const ranges: Range[] = [];
  let at = start + (negated ? 2 : 1);
  while (pattern[at] !== "]") {
    if (at >= pattern.length) throw new GlobError(start, "the class that begins here has no end");
    const from = readCharacter(pattern, at);
    const isRange = pattern[from.end] === "-" && ![undefined, "]"].includes(pattern[from.end + 1]);
    const to = isRange ? readCharacter(pattern, from.end + 1) : from;
    if (from.character > to.character) {
      throw new GlobError(at, `the range ${from.character}-${to.character} runs backwards`);
    }
    ranges.push([from.character, to.character]);
    at = to.end;
  }
  if (ranges.length === 0) throw new GlobError(start, "the class is empty");
  return { token: { kind: "class", negated, ranges }, end: at + 1 };
}

// ---- shortcuts -----------------------------------------------------------------------------------------------

function exactText(tokens: readonly Token[], dots: boolean): string | undefined {
  const characters = tokens.map((token) =>
    token.kind === "exact" ? wanted(token, dots) : undefined
  );
  return characters.includes(undefined) ? undefined : characters.join("");
}

/** Ids never hold a dot, so a plain one stands for the underscore. */
function wanted(token: Token & { kind: "exact" }, dots: boolean): string {
  return dots && !token.escaped && token.character === "." ? "_" : token.character;
}

function sameText(text: string, exact: string, tokens: readonly Token[], dots: boolean): boolean {
  return text === exact || (dots && text.length === exact.length && run(tokens, text, dots));
}

/** The beginning, when the pattern is a plain beginning and then a run. */
function prefixOf(tokens: readonly Token[], dots: boolean): string | undefined {
  if (tokens.at(-1)?.kind !== "run") return undefined;
  const isPlain = tokens.slice(0, -1).every((token) =>
    token.kind === "exact" && (token.escaped || token.character !== "." || !dots)
  );
  return isPlain ? exactText(tokens.slice(0, -1), dots) : undefined;
}

// ---- matching ------------------------------------------------------------------------------------------------

function run(tokens: readonly Token[], text: string, dots: boolean): boolean {
  const { length } = text;
  let at = 0;
  let place = 0;
  let star = -1; // where in the pattern the last run is,
  let mark = 0; // and up to where in the text it has eaten
  while (at < length) {
    const token = tokens[place];
    if (token?.kind === "run") {
      star = place++;
      mark = at;
    } else if (token !== undefined && takes(token, text[at]!, dots)) {
      place++;
      at++;
    } else if (star >= 0) {
      place = star + 1;
      at = ++mark;
    } else {
      return false;
    }
  }
  while (tokens[place]?.kind === "run") place++;
  return place === tokens.length;
}

function takes(token: Token, character: string, dots: boolean): boolean {
  switch (token.kind) {
    case "run":
      return false;
    case "any":
      return true;
    case "class":
      return token.negated !==
        token.ranges.some(([from, to]) => from <= character && character <= to);
    case "exact":
      return token.character === character ||
        (dots && !token.escaped && token.character === "." && character === "_");
  }
}

/**
 * Decides which subjects a pattern matches (`*` one token, `>` one or more at the end), and finds among many patterns
 * those that match a subject without looking at each.
 */

/** Whether a message may be published on it: tokens that are not empty, no wildcards, no blanks. */
export function isLiteralSubject(subject: string): boolean {
  return isPattern(subject) && !hasWildcard(subject);
}

/** Whether it may be subscribed to: `*` and `>` only as whole tokens, `>` only last. */
export function isPattern(pattern: string): boolean {
  if (pattern.length === 0 || /\s/.test(pattern)) return false;
  const tokens = pattern.split(".");
  return tokens.every((token, at) =>
    token.length > 0 && (token !== ">" || at === tokens.length - 1)
  );
}

/** Whether a token of it is `*` or `>`. */
export function hasWildcard(pattern: string): boolean {
  return /(?:^|\.)(?:\*|>)(?:\.|$)/.test(pattern);
}

/** Whether the pattern matches this literal subject. */
export function matches(pattern: string, subject: string): boolean {
  return isSubset(subject, pattern);
}

/** Whether everything that `inner` matches is also matched by `outer`. */
export function isSubset(inner: string, outer: string): boolean {
  return inner === outer || tokensAreSubset(inner.split("."), outer.split("."));
}

function tokensAreSubset(inner: readonly string[], outer: readonly string[]): boolean {
  for (let at = 0; at < outer.length; at++) {
    const wanted = outer[at];
    const token = inner[at];
    if (token === undefined) return false;
    if (wanted === ">") return true;
    if (token === ">") return false;
    if (wanted !== "*" && wanted !== token) return false;
  }
  return inner.length === outer.length;
}

/** Whether some subject is matched by both. */
export function overlap(left: string, right: string): boolean {
  const a = left.split(".");
  const b = right.split(".");
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    if (a[at] === ">" || b[at] === ">") return true;
    if (a[at] !== b[at] && a[at] !== "*" && b[at] !== "*") return false;
  }
  return a.length === b.length;
}

/** A test for any of the patterns, with the splitting done once. No patterns match everything. */
export function compilePatterns(patterns: readonly string[]): (subject: string) => boolean {
  const wild = patterns.filter(hasWildcard).map((each) => each.split("."));
  const literal = new Set(patterns.filter((each) => !hasWildcard(each)));
  if (patterns.length === 0 || patterns.includes(">")) return () => true;
  return (subject) => {
    if (literal.has(subject)) return true;
    if (wild.length === 0) return false;
    const tokens = subject.split(".");
    return wild.some((pattern) => tokensAreSubset(tokens, pattern));
  };
}

interface Node<T> {
  readonly children: Map<string, Node<T>>;
  readonly values: Set<T>;
}

function newNode<T>(): Node<T> {
  return { children: new Map(), values: new Set() };
}

/** Values under patterns. Looking one up costs by the length of the subject, not by the number of patterns. */
export class SubjectIndex<T> {
  readonly #root = newNode<T>();

  add(pattern: string, value: T): void {
    let node = this.#root;
    for (const token of pattern.split(".")) {
      let child = node.children.get(token);
      if (child === undefined) {
        child = newNode();
        node.children.set(token, child);
      }
      node = child;
    }
    node.values.add(value);
  }

  remove(pattern: string, value: T): void {
    prune(this.#root, pattern.split("."), 0, value);
  }

  /** All values whose pattern matches, in an order that depends only on the calls made before. */
  match(subject: string): T[] {
    const found: T[] = [];
    collect(this.#root, subject.split("."), 0, found);
    return found;
  }

  hasMatch(subject: string): boolean {
    return this.match(subject).length > 0;
  }
}

function collect<T>(node: Node<T>, tokens: readonly string[], at: number, found: T[]): void {
  const token = tokens[at];
  if (token === undefined) {
    for (const value of node.values) found.push(value);
    return;
  }
  const literal = node.children.get(token);
  if (literal !== undefined) collect(literal, tokens, at + 1, found);
  const any = node.children.get("*");
  if (any !== undefined && any !== literal) collect(any, tokens, at + 1, found);
  const rest = node.children.get(">");
  if (rest !== undefined && rest !== literal) {
    for (const value of rest.values) found.push(value);
  }
}

/** Removes the value and the branches that it leaves empty. */
function prune<T>(node: Node<T>, tokens: readonly string[], at: number, value: T): void {
  const token = tokens[at];
  if (token === undefined) {
    node.values.delete(value);
    return;
  }
  const child = node.children.get(token);
  if (child === undefined) return;
  prune(child, tokens, at + 1, value);
  if (child.values.size === 0 && child.children.size === 0) node.children.delete(token);
}

/** Why a target matches whom: the terms that made a peel match, and for nobody at all, what each term found and what was meant. */
import { assertNever, isZesterError } from "../errors.ts";
import { displayPeelId } from "../ids.ts";
import { EXPLAIN_CANDIDATES_MAX, EXPLAIN_NAMES_MAX } from "../limits.ts";
import { nearest } from "../nearest.ts";
import { printable } from "../printable.ts";
import { factValues } from "./fact_value.ts";
import { type Span, type TargetExpr, type TargetNode, type Term, termsOf } from "./expr.ts";
import { addressesIn, countMatches, matchesPeel, matchTarget } from "./match.ts";
import { parseTarget, type TargetGroups } from "./parse.ts";
import type { FactColumn, PeelIndex } from "./peel_index.ts";

// ---- one peel ------------------------------------------------------------------------------------------------

/** One term that a peel matches, with what the peel has there. */
export interface Reason {
  /** As written in the target. */
  readonly term: string;
  /** What was found in its facts. */
  readonly found?: string;
}

/** The terms that make this peel match; empty if it does not. Of an `or`, only those that hold. */
export function whyMatches(target: TargetExpr, id: string, index: PeelIndex): Reason[] {
  if (!matchesPeel(target.root, id, index)) return [];
  return reasonsOf(target.root, { text: target.text, id, index });
}

interface Looked {
  readonly text: string;
  readonly id: string;
  readonly index: PeelIndex;
}

/** The node holds for the peel. */
function reasonsOf(node: TargetNode, looked: Looked): Reason[] {
  switch (node.op) {
    case "and":
      return node.parts.flatMap((part) => reasonsOf(part, looked));
    case "or":
      return node.parts.filter((part) => matchesPeel(part, looked.id, looked.index))
        .flatMap((part) => reasonsOf(part, looked));
    case "not":
      return [{ term: looked.text.slice(node.start, node.end) }];
    case "term":
      return [reasonOf(node.term, looked)];
    default:
      return assertNever(node);
  }
}

function reasonOf({ text, matcher }: Term, { id, index }: Looked): Reason {
  const facts = index.facts(id) ?? {};
  switch (matcher.kind) {
    case "fact":
    case "factRegex": {
      const values = factValues(facts, matcher.key) ?? [];
      return { term: text, found: `${matcher.key} is ${listed(values)}` };
    }
    case "subnet":
      return { term: text, found: listed(addressesIn(matcher.subnet, facts)) };
    case "group":
      return { term: text, found: matcher.target.text };
    default:
      return { term: text };
  }
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, EXPLAIN_NAMES_MAX).map(printable).join(", ");
  return names.length > EXPLAIN_NAMES_MAX ? `${shown}, …` : shown;
}

// ---- nobody --------------------------------------------------------------------------------------------------

/** One term with the number of peels that it matches by itself. */
export interface TermCount {
  readonly term: string;
  readonly peels: number;
  /** For one that matches nobody: what there is instead. */
  readonly known?: string;
}

/** What is known about a target that matches nobody. */
export interface Explanation {
  /** Those that match somebody first. */
  readonly terms: readonly TermCount[];
  /** The problem in its first line, then one line per term. */
  readonly message: string;
  readonly fix?: string;
}

/** Explains why nobody matches. */
export function explainTarget(
  target: TargetExpr,
  index: PeelIndex,
  { groups = new Map() }: { groups?: TargetGroups } = {},
): Explanation {
  if (index.size === 0) {
    const message = `nobody matches  ${printable(target.text)}\nno peel is enrolled`;
    return { terms: [], message, fix: "enroll a peel; a fleet to try: deno task up" };
  }
  const counted = termsOf(target.root).map((node) => ({
    ...node,
    peels: countMatches({ ...node, op: "term" }, index),
  }));
  const silent = counted.filter(({ peels }) => peels === 0);
  const terms = [...counted.filter(({ peels }) => peels > 0), ...silent]
    .map(({ term, peels }): TermCount => ({
      term: printable(term.text),
      peels,
      ...(peels === 0 ? knownInstead(term, index) : {}),
    }));
  const lines = [...termLines(terms), ...remarks(silent.length, terms, index)];
  const fix = correction(target, silent, { index, groups });
  return {
    terms,
    message: [`nobody matches  ${printable(target.text)}`, ...lines].join("\n"),
    ...(fix === undefined ? {} : { fix }),
  };
}

function termLines(terms: readonly TermCount[]): string[] {
  const shown = terms.slice(0, EXPLAIN_NAMES_MAX);
  const width = Math.max(...shown.map(({ term }) => term.length));
  const digits = Math.max(...shown.map(({ peels }) => String(peels).length));
  return shown.map(({ term, peels, known }) => {
    const count = `${term.padEnd(width)}  ${String(peels).padStart(digits)} `;
    return `${count}${(peels === 1 ? "peel" : "peels").padEnd(5)}   ${known ?? ""}`.trimEnd();
  });
}

function remarks(silent: number, terms: readonly TermCount[], index: PeelIndex): string[] {
  const lines: string[] = [];
  if (silent === 0 && terms.length > 1) {
    lines.push("each term matches somebody, but no peel matches them together");
  }
  const mute = countWithoutFacts(index);
  if (mute > 0 && terms.some(({ term }) => /^[GIPSN]@/.test(term))) {
    lines.push(`${mute} of ${index.size} peels have sent no facts yet`);
  }
  return lines;
}

function countWithoutFacts(index: PeelIndex): number {
  let count = 0;
  for (const id of index.ids()) if (index.facts(id) === undefined) count++;
  return count;
}

/** What there is where a term found nothing. */
function knownInstead({ matcher }: Term, index: PeelIndex): { known?: string } {
  switch (matcher.kind) {
    case "fact":
    case "factRegex": {
      const counts = valueCounts(index.column(matcher.key), index);
      if (counts.length > 0) {
        const shown = counts.slice(0, EXPLAIN_NAMES_MAX).map(([value, peels]) =>
          `${printable(value)} ${peels}`
        );
        const more = counts.length > EXPLAIN_NAMES_MAX
          ? `, and ${counts.length - EXPLAIN_NAMES_MAX} more`
          : "";
        return { known: `values of \`${matcher.key}\`: ${shown.join(", ")}${more}` };
      }
      return { known: `no peel has the fact \`${matcher.key}\`` };
    }
    case "glob":
    case "regex":
    case "list": {
      const examples = someIds(index, 3).map(displayPeelId);
      return { known: `peels are called, for example, ${examples.join(", ")}` };
    }
    default:
      return {};
  }
}

/** The most frequent first, those equally frequent by name. */
function valueCounts(column: FactColumn, index: PeelIndex): [value: string, peels: number][] {
  const counts = [...column.values].map(([value, ids]): [string, number] => {
    let peels = 0;
    for (const id of ids) if (index.has(id)) peels++;
    return [value, peels];
  });
  return counts.filter(([, peels]) => peels > 0)
    .sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1));
}

function someIds(index: PeelIndex, count: number): string[] {
  const ids: string[] = [];
  for (const id of index.ids()) {
    if (ids.length === count) break;
    ids.push(id);
  }
  return ids;
}

// ---- what was meant ------------------------------------------------------------------------------------------

/** The whole target with better words in the terms that found nobody, if somebody matches it then. */
function correction(
  { text }: TargetExpr,
  silent: readonly (Span & { readonly term: Term })[],
  { index, groups }: { index: PeelIndex; groups: TargetGroups },
): string | undefined {
  let corrected = text;
  // From the end, so that places before a change stay where they are.
  for (const node of silent.toReversed()) {
    const better = betterWord(node, index);
    if (better === undefined) continue;
    corrected = corrected.slice(0, better.start) + better.word + corrected.slice(better.end);
  }
  if (corrected === text) return globbedValue(silent);
  return isMatched(corrected, { index, groups }) ? printable(corrected) : undefined;
}

function isMatched(
  text: string,
  { index, groups }: { index: PeelIndex; groups: TargetGroups },
): boolean {
  try {
    return matchTarget(parseTarget(text, { groups }), index).length > 0;
  } catch (thrown) {
    if (isZesterError(thrown, "bad_target")) return false; // the better word made it too long
    throw thrown;
  }
}

function betterWord(
  { term, start, end }: Span & { readonly term: Term },
  index: PeelIndex,
): (Span & { word: string }) | undefined {
  const { matcher } = term;
  if (matcher.kind === "fact") {
    const column = index.column(matcher.key);
    if (column.present.size === 0) return betterKey(start, matcher.key, index);
    if (matcher.operator !== "=") return undefined;
    const values = valueCounts(column, index).slice(0, EXPLAIN_CANDIDATES_MAX);
    const near = nearest(matcher.value, values.map(([value]) => value));
    return near === null ? undefined : { ...matcher.valueSpan, word: quotedIfNeeded(near) };
  }
  if (matcher.kind === "factRegex" && index.column(matcher.key).present.size === 0) {
    return betterKey(start, matcher.key, index);
  }
  if (matcher.kind === "glob" && matcher.glob.exact !== undefined) {
    const near = nearest(matcher.glob.exact, closeInLength(matcher.glob.exact, index));
    return near === null ? undefined : { start, end, word: displayPeelId(near) };
  }
  return undefined;
}

/** The key stands behind the two characters of the prefix. */
function betterKey(
  start: number,
  key: string,
  index: PeelIndex,
): (Span & { word: string }) | undefined {
  const near = nearest(key, knownKeys(index));
  const from = start + "G@".length;
  return near === null ? undefined : { start: from, end: from + key.length, word: near };
}

/** Names at the top of some peels' facts: a fleet's peels are much alike. */
function knownKeys(index: PeelIndex): Set<string> {
  const keys = new Set<string>();
  for (const id of someIds(index, EXPLAIN_CANDIDATES_MAX)) {
    for (const key of Object.keys(index.facts(id) ?? {})) {
      if (keys.size < EXPLAIN_CANDIDATES_MAX && /^[^\s():"]+$/.test(key)) keys.add(key);
    }
  }
  return keys;
}

function closeInLength(name: string, index: PeelIndex): string[] {
  const close: string[] = [];
  for (const id of index.ids()) {
    if (close.length === EXPLAIN_CANDIDATES_MAX) break;
    if (Math.abs(id.length - name.length) <= name.length / 4 + 1) close.push(id);
  }
  return close;
}

function quotedIfNeeded(value: string): string {
  if (/^[^\s()"\\<>!]+$/.test(value)) return value;
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** Values are compared whole; who writes a pattern there means a regular expression. */
function globbedValue(silent: readonly { readonly term: Term }[]): string | undefined {
  for (const { term: { matcher } } of silent) {
    if (matcher.kind !== "fact" || !/[*?]/.test(matcher.value)) continue;
    return `values are compared whole; a pattern is written P@${matcher.key}:<regular expression>`;
  }
  return undefined;
}

/** What is wrong in a template: thrown without a place where it is found, given one where the place is known. */
import { ZesterError } from "../errors.ts";
import { printable } from "../printable.ts";
import type { Expression, Node } from "./_nodes.ts";

/** A template as it was written. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

/** A place in a template; line and column count from one. */
export interface Place {
  readonly source: Source;
  readonly line: number;
  readonly column: number;
  /** Characters to underline. */
  readonly width: number;
}

export interface Hints {
  /** Lines of what is known. */
  readonly known?: readonly string[];
  readonly fix?: string;
  /** Said beside the caret. */
  readonly beside?: string;
  readonly cause?: unknown;
}

/** A failure on its way out of the evaluator. */
export class Problem extends Error {
  place: Place | null = null;

  constructor(message: string, readonly hints: Hints = {}) {
    super(message);
  }
}

/** What is left to say when a place is known: the error that leaves this folder. */
export class TemplateError extends ZesterError {
  constructor(
    message: string,
    /** Where it is, for whoever shows errors as data. */
    readonly where: { readonly file: string; readonly line: number; readonly column: number },
    options: { cause?: unknown; fix?: string },
  ) {
    super("template_failed", message, options);
  }
}

/** Gives a failure the place of a node, unless it has one. Anything but a `Problem` is a bug and passes. */
export function placed(thrown: unknown, source: Source, node: Node): unknown {
  const problem = asProblem(thrown);
  if (problem === null) return thrown;
  problem.place ??= { source, ...spanOf(node, source) };
  return problem;
}

/** An engine that runs out of stack says so like any other limit. */
function asProblem(thrown: unknown): Problem | null {
  if (thrown instanceof Problem) return thrown;
  if (!(thrown instanceof RangeError)) return null;
  return new Problem("it is nested too deeply", { cause: thrown });
}

/** As a person reads it: the problem, the place, the line with a caret, what is known. */
export function templateError(problem: Problem, fallback: Source): TemplateError {
  const { source, line, column, width } = problem.place ??
    { source: fallback, line: 1, column: 1, width: 1 };
  const { known = [], beside = "", fix, cause } = problem.hints;
  const text = lineOf(source, line - 1);
  const gutter = " ".repeat(String(line).length);
  const caret = `${" ".repeat(column - 1)}${"^".repeat(Math.max(1, width))}`;
  const lines = [
    problem.message,
    `${gutter}┌ ${source.name}:${line}:${column}`,
    `${line}│ ${printable(text.replaceAll("\t", " "))}`,
    `${gutter}│ ${caret}${beside === "" ? "" : ` ${beside}`}`,
    ...known,
  ];
  return new TemplateError(lines.join("\n"), { file: source.name, line, column }, {
    ...(cause === undefined ? {} : { cause }),
    ...(fix === undefined ? {} : { fix }),
  });
}

/** Where an expression begins, and how far it reaches on that line. */
function spanOf(node: Node, source: Source): { line: number; column: number; width: number } {
  const from = leftmost(node);
  const width = from.lineno === node.lineno
    ? endColumn(node, lineOf(source, node.lineno)) - from.colno
    : 1;
  return { line: from.lineno + 1, column: from.colno + 1, width: Math.max(1, width) };
}

function lineOf(source: Source, lineno: number): string {
  return source.text.split(/\r?\n/)[lineno] ?? "";
}

/** In loops, since a chain of lookups and calls can be longer than the stack is deep. */
function leftmost(node: Node): Node {
  let from = node;
  while (from.typename === "LookupVal" || from.typename === "FunCall") {
    from = from.typename === "LookupVal" ? from.target : from.name;
  }
  return from;
}

function endColumn(node: Node, line: string): number {
  let called = node;
  while (called.typename === "FunCall") called = called.name;
  if (called.typename === "Symbol") return called.colno + called.value.length;
  if (called.typename === "LookupVal") return lookupEnd(called.val, called.colno, line);
  if (called.typename === "Filter") return called.colno + called.name.value.length;
  return called.colno + 1;
}

/** A key is a name after a dot, or stands between brackets. */
function lookupEnd(key: Expression | null, at: number, line: string): number {
  if (line[at] === "[") return line.indexOf("]", at) + 1;
  return key?.typename === "Literal" ? key.colno + String(key.value).length : at + 1;
}

/** Longer paths are cut: nobody reads them. */
const STEPS_SPELLED = 16;

/** The dotted path that an expression spells, for messages. */
export function spelled(node: Node, steps = STEPS_SPELLED): string {
  if (steps === 0) return "…";
  switch (node.typename) {
    case "Symbol":
      return node.value;
    case "LookupVal":
      return `${spelled(node.target, steps - 1)}${spelledKey(node.val)}`;
    case "FunCall":
      return `${spelled(node.name, steps - 1)}(…)`;
    case "Literal":
      return JSON.stringify(node.value);
    default:
      return "the value";
  }
}

function spelledKey(key: Expression | null): string {
  if (key?.typename !== "Literal") return "[…]";
  const isName = typeof key.value === "string" && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(key.value);
  return isName ? `.${key.value}` : `[${JSON.stringify(key.value)}]`;
}

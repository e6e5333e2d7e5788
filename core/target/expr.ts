/** What a parsed target is: terms joined by `and`, `or` and `not`. Each part knows where in the text it stands. */
import type { Subnet } from "./address.ts";
import type { Glob } from "./glob.ts";
import type { LinearRegex } from "./regex.ts";

/** From the first character to behind the last one. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How a fact is compared. */
export const FACT_OPERATORS = [">=", "<=", "!=", ">", "<"] as const;
export type FactOperator = typeof FACT_OPERATORS[number] | "=";

/** What one term asks of a peel. */
export type Matcher =
  | { readonly kind: "glob"; readonly glob: Glob }
  | { readonly kind: "regex"; readonly regex: LinearRegex }
  | { readonly kind: "list"; readonly ids: ReadonlySet<string> }
  | {
    readonly kind: "fact";
    readonly key: string;
    readonly operator: FactOperator;
    readonly value: string;
    /** Where the value stands, so that a better one can be put there. */
    readonly valueSpan: Span;
  }
  | { readonly kind: "factRegex"; readonly key: string; readonly regex: LinearRegex }
  | { readonly kind: "subnet"; readonly subnet: Subnet }
  | { readonly kind: "group"; readonly name: string; readonly target: TargetExpr };

export interface Term {
  /** As it was written. */
  readonly text: string;
  readonly matcher: Matcher;
}

export type TargetNode =
  & Span
  & (
    | { readonly op: "and" | "or"; readonly parts: readonly TargetNode[] }
    | { readonly op: "not"; readonly part: TargetNode }
    | { readonly op: "term"; readonly term: Term }
  );

/** A parsed target. */
export interface TargetExpr {
  readonly text: string;
  readonly root: TargetNode;
  /** Terms, those of groups counted at every place where the group is used. */
  readonly terms: number;
}

/** Whether what peels say of themselves decides, in the target or in a group that it uses. */
export function usesFacts(node: TargetNode): boolean {
  return termsOf(node).some(({ term: { matcher } }) => {
    switch (matcher.kind) {
      case "glob":
      case "regex":
      case "list":
        return false;
      case "fact":
      case "factRegex":
      case "subnet":
        return true;
      case "group":
        return usesFacts(matcher.target.root);
    }
  });
}

/** The terms of a target in the order of the text; those of groups are left to their groups. */
export function termsOf(node: TargetNode): (Span & { readonly term: Term })[] {
  switch (node.op) {
    case "term":
      return [node];
    case "not":
      return termsOf(node.part);
    case "and":
    case "or":
      return node.parts.flatMap(termsOf);
  }
}

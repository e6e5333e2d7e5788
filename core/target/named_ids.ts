/** The peels that a target names by itself: without a list of all peels, only these can be looked up. */
import type { Matcher, TargetExpr, TargetNode } from "./expr.ts";

/** Ids outside of which nobody can match; undefined when the target does not say. */
export function namedIds({ root }: TargetExpr): string[] | undefined {
  const ids = idsOf(root);
  return ids === undefined ? undefined : [...ids].sort();
}

function idsOf(node: TargetNode): ReadonlySet<string> | undefined {
  switch (node.op) {
    case "and": {
      const known = node.parts.map(idsOf).filter((ids) => ids !== undefined);
      return known.toSorted((a, b) => a.size - b.size)[0];
    }
    case "or": {
      const all = new Set<string>();
      for (const part of node.parts) {
        const ids = idsOf(part);
        if (ids === undefined) return undefined;
        for (const id of ids) all.add(id);
      }
      return all;
    }
    case "not":
      return undefined;
    case "term":
      return idsOfTerm(node.term.matcher);
  }
}

function idsOfTerm(matcher: Matcher): ReadonlySet<string> | undefined {
  switch (matcher.kind) {
    case "list":
      return matcher.ids;
    case "glob":
      return matcher.glob.exact === undefined ? undefined : new Set([matcher.glob.exact]);
    case "group":
      return idsOf(matcher.target.root);
    default:
      return undefined;
  }
}

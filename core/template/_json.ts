/** Values as JSON, with the spaces that Python puts in, so that the text is what Salt's users know. */
import type { Budget } from "./_budget.ts";
import { Problem } from "./_problem.ts";
import {
  type Dict,
  kindOf,
  Missing,
  Namespace,
  refuseOpaque,
  Rendered,
  textOf,
} from "./_values.ts";
import { TEMPLATE_VALUE_DEPTH_MAX } from "../limits.ts";

export interface JsonStyle {
  /** Spaces for each level; none means one line. */
  readonly indent: number;
  readonly sortKeys: boolean;
}

/** JSON text of a value. */
export function jsonOf(value: unknown, style: JsonStyle, budget: Budget): string {
  return written(value, 0);

  function written(item: unknown, depth: number): string {
    budget.step();
    if (depth > TEMPLATE_VALUE_DEPTH_MAX) {
      throw new Problem(
        `a value is nested deeper than ${TEMPLATE_VALUE_DEPTH_MAX}, or holds itself`,
      );
    }
    refuseOpaque(item);
    if (item === null || item instanceof Missing) return "null";
    if (item instanceof Rendered) return quoted(item.text);
    if (typeof item === "string") return quoted(item);
    if (typeof item === "boolean") return String(item);
    if (typeof item === "number") return Number.isFinite(item) ? String(item) : "null";
    if (Array.isArray(item)) {
      return around(
        "[]",
        item.map((each) => written(each, depth + 1)),
        depth,
      );
    }
    if (item instanceof Namespace) return members(item.members, depth);
    if (item instanceof Map) return members(item, depth);
    throw new Problem(`${kindOf(item)} has no JSON`);
  }

  function members(dict: Dict, depth: number): string {
    const entries = [...dict].map(([key, value]) => [textOf(key, budget), value] as const);
    if (style.sortKeys) entries.sort(([one], [other]) => one < other ? -1 : Number(one > other));
    const texts = entries.map(([key, value]) => `${quoted(key)}: ${written(value, depth + 1)}`);
    return around("{}", texts, depth);
  }

  function around(brackets: string, texts: string[], depth: number): string {
    const [open, close] = brackets;
    if (style.indent === 0 || texts.length === 0) return `${open}${texts.join(", ")}${close}`;
    const outer = `\n${" ".repeat(style.indent * depth)}`;
    const inner = `\n${" ".repeat(style.indent * (depth + 1))}`;
    budget.text(inner.length * texts.length);
    return `${open}${inner}${texts.join(`,${inner}`)}${outer}${close}`;
  }

  function quoted(text: string): string {
    budget.text(text.length + 2);
    return JSON.stringify(text);
  }
}

/** Regular expressions of modules, in linear time (RE2 syntax: no look-around, no backreferences), bounded in size. */
import type { RE2JS } from "re2js";
import { PATTERN_LENGTH_MAX, PATTERN_STEPS_MAX } from "../limits.ts";

/** A compiled expression. `^` and `$` stand at the ends of every line. */
export interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
  /** The text with its matches replaced, at most `countMax` of them, and how many there were. */
  replace(text: string, by: string, options?: { countMax?: number }): Replaced;
}

export interface Replaced {
  readonly text: string;
  readonly count: number;
}

/** Compiles an expression, or throws an error that says what is wrong with it. */
export async function compilePattern(source: string): Promise<Pattern> {
  if (source.length > PATTERN_LENGTH_MAX) {
    throw new Error(`pattern: ${source.length} characters, at most ${PATTERN_LENGTH_MAX}`);
  }
  const regex = await compiled(source);
  const steps = regex.programSize();
  if (steps > PATTERN_STEPS_MAX) {
    throw new Error(
      `pattern ${shown(source)}: it needs ${steps} steps, at most ${PATTERN_STEPS_MAX}`,
    );
  }
  return {
    test: (text) => regex.matcher(text).find(),
    replace: (text, by, { countMax = Infinity } = {}) =>
      replaced(regex, text, { by: partsOf(by, regex), countMax }),
  };
}

/** Loaded when it is needed: most modules have no patterns, and every worker would pay for it. */
async function compiled(source: string): Promise<RE2JS> {
  const { RE2JS, RE2JSException } = await import("re2js");
  try {
    return RE2JS.compile(source, RE2JS.MULTILINE);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    const why = thrown.message.replace(/^error parsing regexp: /, "");
    throw new Error(`pattern ${shown(source)} is no regular expression: ${why}`, { cause: thrown });
  }
}

function shown(source: string): string {
  return JSON.stringify(source);
}

/** A piece of a replacement: text, or the number of a group. */
type Part = string | number;

/** Reads `$1`, `${1}`, `${name}` and `$$`; any other dollar sign is one. Throws on a group that the pattern has not. */
function partsOf(by: string, regex: RE2JS): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const found of by.matchAll(/\$(?:\$|(\d+)|\{(\w+)\})/g)) {
    parts.push(by.slice(from, found.index));
    const group = found[1] ?? found[2];
    parts.push(group === undefined ? "$" : groupNumber(group, regex));
    from = found.index + found[0].length;
  }
  return [...parts, by.slice(from)];
}

function groupNumber(group: string, regex: RE2JS): number {
  const named: Readonly<Record<string, number>> = regex.namedGroups();
  const number = /^\d+$/.test(group)
    ? Number(group)
    : Object.hasOwn(named, group)
    ? named[group]!
    : Infinity;
  if (number <= regex.groupCount()) return number;
  throw new Error(`the replacement names the group ${group}, which the pattern has not`);
}

function replaced(
  regex: RE2JS,
  text: string,
  { by, countMax }: { by: readonly Part[]; countMax: number },
): Replaced {
  const matcher = regex.matcher(text);
  const made: string[] = [];
  let count = 0;
  let from = 0;
  while (count < countMax && matcher.find()) {
    count += 1;
    made.push(text.slice(from, matcher.start()));
    for (const part of by) {
      made.push(typeof part === "string" ? part : matcher.group(part) ?? "");
    }
    from = matcher.end();
  }
  return { text: made.join("") + text.slice(from), count };
}

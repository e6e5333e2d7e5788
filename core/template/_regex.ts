/** Regular expressions of templates, in linear time (RE2 syntax), with what they may cost. */
import { RE2JS, RE2JSException } from "re2js";
import { TEMPLATE_REGEX_LENGTH_MAX, TEMPLATE_REGEX_STEPS_MAX } from "../limits.ts";
import type { Budget } from "./_budget.ts";
import { Problem } from "./_problem.ts";

export interface RegexOptions {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
}

const NONE: RegexOptions = { ignoreCase: false, multiline: false };
/** One step of the budget stands for this many of the engine's, which makes about 30,000 in a millisecond. */
const ENGINE_STEPS_PER_STEP = 5;
/** A search for the next match may look at all that follows; it seldom keeps as much in mind. */
const ENGINE_STEPS_PER_STEP_AGAIN = 30;

/** The groups of a match: all of them, or null without a match. `anchored` begins at the first character. */
export function regexGroups(
  text: string,
  pattern: string,
  budget: Budget,
  options: RegexOptions & { anchored: boolean },
): (string | null)[] | null {
  const matcher = compiled(pattern, text, budget, options).matcher(text);
  const matches = options.anchored ? matcher.lookingAt() : matcher.find();
  if (!matches) return null;
  return Array.from({ length: matcher.groupCount() }, (_, at) => matcher.group(at + 1) ?? null);
}

/** Every match replaced; `\1` in the new text means a group. */
export function regexReplaced(
  text: string,
  what: { pattern: string; by: string },
  budget: Budget,
  options: RegexOptions = NONE,
): string {
  const regex = compiled(what.pattern, text, budget, options);
  const matcher = regex.matcher(text);
  let made = "";
  let from = 0;
  while (matcher.find()) {
    const groups = (at: number) => matcher.group(at) ?? "";
    const by = what.by.replace(
      /\\(\d)/g,
      (_, at) => Number(at) <= matcher.groupCount() ? groups(Number(at)) : "",
    );
    budget.step(1 + regex.programSize() * (text.length - from) / ENGINE_STEPS_PER_STEP_AGAIN);
    budget.text(by.length);
    made += text.slice(from, matcher.start()) + by;
    from = matcher.end();
  }
  return made + text.slice(from);
}

function compiled(pattern: string, text: string, budget: Budget, options: RegexOptions): RE2JS {
  if (pattern.length > TEMPLATE_REGEX_LENGTH_MAX) {
    throw new Problem(`a regular expression has more than ${TEMPLATE_REGEX_LENGTH_MAX} characters`);
  }
  const flags = (options.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) |
    (options.multiline ? RE2JS.MULTILINE : 0);
  const regex = compiledBy(pattern, flags);
  const size = regex.programSize();
  if (size > TEMPLATE_REGEX_STEPS_MAX) {
    throw new Problem(
      `the regular expression needs ${size} steps, at most ${TEMPLATE_REGEX_STEPS_MAX}`,
    );
  }
  budget.step(1 + (size * text.length) / ENGINE_STEPS_PER_STEP);
  return regex;
}

function compiledBy(pattern: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    const why = thrown.message.replace(/^error parsing regexp: /, "");
    throw new Problem(`the regular expression is not valid: ${why}`);
  }
}

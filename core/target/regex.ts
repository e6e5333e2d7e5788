/** Regular expressions in linear time (RE2 syntax: no look-around, no backreferences), bounded in length and in size. */
import { RE2JS, RE2JSException } from "re2js";
import { TARGET_REGEX_LENGTH_MAX, TARGET_REGEX_STEPS_MAX } from "../limits.ts";

/** A compiled expression. It searches: what is not anchored may match anywhere. */
export interface LinearRegex {
  readonly source: string;
  test(text: string): boolean;
}

/** Why an expression was refused, in words of the engine. */
export class RegexError extends Error {}

/** Compiles an expression, or throws `RegexError`. */
export function compileRegex(source: string): LinearRegex {
  if (source.length > TARGET_REGEX_LENGTH_MAX) {
    throw new RegexError(`${source.length} characters, at most ${TARGET_REGEX_LENGTH_MAX}`);
  }
  const compiled = compiledBy(source);
  const steps = compiled.programSize();
  if (steps > TARGET_REGEX_STEPS_MAX) {
    throw new RegexError(`it needs ${steps} steps, at most ${TARGET_REGEX_STEPS_MAX}`);
  }
  return { source, test: (text) => compiled.test(text) };
}

function compiledBy(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    throw new RegexError(thrown.message.replace(/^error parsing regexp: /, ""));
  }
}

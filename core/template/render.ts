/** Renders templates: nunjucks' syntax with Jinja's meaning. A pure function, bounded in time and space, that makes no code. */
import type { TemplateLimits } from "./_budget.ts";
import type { YamlParser } from "./_data.ts";
import { Evaluator } from "./_evaluate.ts";
import { Problem, TemplateError, templateError } from "./_problem.ts";
import type { Whitespace } from "./_tokens.ts";
import { OpaqueValue } from "./_values.ts";

export { OpaqueValue, TemplateError };
export type { TemplateLimits, YamlParser };

/** A function given to templates. It gets plain data and answers with plain data. */
export type HostFunction = (positional: unknown[], named: Record<string, unknown>) => unknown;

/** How a template is rendered; all of it may be left out. */
export interface RenderOptions extends Whitespace {
  /** Path of the template in its file set: for messages, and where `./` begins. */
  readonly name?: string;
  /** Text of a file of the verified set by its path, or null. Without it, no other file can be reached. */
  readonly includes?: (path: string) => string | null;
  readonly functions?: Readonly<Record<string, HostFunction>>;
  /** Answers `salt['function'](...)`. Without it such a call is an error. */
  readonly call?: (name: string, positional: unknown[], named: Record<string, unknown>) => unknown;
  /** Says what `{{ value }}` prints. What a macro or a block has printed passes by. */
  readonly onPrint?: (value: unknown) => string;
  /** What becomes of a name or key that is not there: nothing is printed (the default), or it is an error. */
  readonly undefined?: "empty" | "error";
  readonly parseYaml?: YamlParser;
  readonly limits?: TemplateLimits;
}

/**
 * Text of a template. `values` are its variables, of which it sees a copy: `facts` and `settings` are also called `grains` and
 * `pillar`. Throws `TemplateError` (`template_failed`) with file, line, column and the line itself.
 */
export function renderTemplate(
  text: string,
  values: Readonly<Record<string, unknown>>,
  options: RenderOptions = {},
): string {
  const source = { name: options.name ?? "template", text };
  try {
    return new Evaluator(values, options).render(source);
  } catch (thrown) {
    if (thrown instanceof Problem) throw templateError(thrown, source);
    if (thrown instanceof RangeError) {
      throw templateError(new Problem("it is nested too deeply"), source);
    }
    throw thrown;
  }
}

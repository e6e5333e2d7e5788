/** How lines are commented out and in. Pure. */
import { checked, compilePattern, defaulted, type Pattern, text } from "../../core/module.ts";
import { type Edit, editing } from "./_edit.ts";
import { bare, linesOf, notOneLine, textOfLines } from "./_lines.ts";

/** Parameters of both. */
export const commenting = {
  ...editing,
  regex: text("Which lines are meant, without what makes a comment; RE2 syntax."),
  char: defaulted(checked(text("What a comment begins with."), notComment), "#"),
};

function notComment(char: string): string | null {
  return /^\s/.test(char) ? "a comment does not begin with white space" : notOneLine(char);
}

export interface Commenting {
  readonly regex: string;
  readonly char: string;
}

/** The text with the matching lines commented out; null when all are. */
export async function planComment(p: Commenting, text: string | null): Promise<Edit | null> {
  return await planLines(p, text, (line, pattern) => {
    const isCode = !line.trimStart().startsWith(p.char) && pattern.test(bare(line));
    return isCode ? p.char + line : line;
  });
}

/** The text with the matching lines commented in; null when all are. */
export async function planUncomment(p: Commenting, text: string | null): Promise<Edit | null> {
  return await planLines(p, text, (line, pattern) => uncommented(line, p.char, pattern));
}

async function planLines(
  { regex }: Commenting,
  text: string | null,
  edit: (line: string, pattern: Pattern) => string,
): Promise<Edit | null> {
  const pattern = await compilePattern(regex);
  if (text === null) return null;
  const edited = textOfLines(linesOf(text).map((line) => edit(line, pattern)), text);
  return edited === text ? null : { text: edited };
}

/** A comment within a comment is taken out as well: otherwise the next run would find it. */
function uncommented(line: string, char: string, pattern: Pattern): string {
  const text = line.trimStart();
  if (!text.startsWith(char)) return line;
  const stripped = line.slice(0, line.length - text.length) + text.slice(char.length);
  const code = bare(stripped);
  const isMeant = pattern.test(code) || pattern.test(code.trimStart());
  return isMeant ? uncommented(stripped, char, pattern) : line;
}

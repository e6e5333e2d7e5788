/** What targets are, for the help. Apart from the rest, because help must load next to nothing. */
import { MATCHERS } from "../../core/target/matchers.ts";

/** `zester help target`: the language. */
export function targetHelp(): string {
  const width = Math.max(...Object.values(MATCHERS).map(({ example }) => example.length));
  const matchers = Object.values(MATCHERS).map(({ what, example }) =>
    `  ${example.padEnd(width)}  ${what}`
  );
  return `Says who matches a target, and why each one does. Runs nothing.

  zester target 'web-*'                           by id; * ? [a-z] [!a-z] as in a shell
  zester target 'G@os:ubuntu and not web-09'      by facts; and, or, not, ( )
  zester target 'web-*' -o ids                    ids, one per line

TERMS
  ${"web-*".padEnd(width)}  id; dots may be written for underscores
${matchers.join("\n")}

\`not\` binds tighter than \`and\`, and that tighter than \`or\`. Facts are compared without
case; a list matches if one of its values does; a peel without the fact never does, not
even with !=. A value with blanks stands in double quotes. Regular expressions are RE2 and
search; anchor them with ^ and $. When no master answers, the store is asked instead.
`;
}

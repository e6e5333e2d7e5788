/** `file.replace`: replaces what a regular expression matches in a text file. */
import {
  checked,
  compilePattern,
  defaulted,
  defineModule,
  flag,
  integer,
  optional,
  text,
} from "../../core/module.ts";
import { applyEdit, checkEdit, type Edit, editGrant, editing, revertEdit } from "./_edit.ts";
import { appended, endingLine, toPlainNewlines } from "./_lines.ts";
import { makedirs } from "./_state.ts";
import type { Memo } from "./_undo.ts";

export default defineModule({
  name: "file.replace",
  summary: "Replaces what a regular expression matches in a text file.",
  description:
    `The pattern is in RE2 syntax, which has no look-around and takes linear time; \`^\` and \`$\` stand at the ends of every line,
\`(?i)\` ignores case and \`(?s)\` lets a dot match newlines. In the replacement \`$1\` and \`\${name}\` are groups and \`$$\` is a dollar
sign. A replacement that the pattern matches again changes the file at every run. A missing file counts as an empty one.`,
  params: {
    ...editing,
    pattern: text("What to replace."),
    repl: optional(text("What to put there."), "nothing"),
    count: defaulted(checked(integer("Replace this many at most; 0 for all."), notNegative), 0),
    append_if_not_found: defaulted(flag("Add a text at the end if nothing matches."), false),
    prepend_if_not_found: defaulted(
      flag("Add a text at the beginning if nothing matches."),
      false,
    ),
    not_found_content: optional(text("The text to add."), "`repl`"),
    makedirs,
  },
  positional: ["pattern", "repl"],
  permissions: editGrant,
  check: (p, host) => checkEdit(host, p, (text) => plan(p, text)),
  apply: (p, host) => applyEdit(host, p, (text) => plan(p, text)),
  revert: (p, memo: Memo, host) => revertEdit(host, p, memo),
  examples: [
    {
      title: "Another port",
      code: "zester 'web*' file.replace /etc/app.conf '^port = .*' 'port = 8080'",
    },
    {
      title: "As a state, added where it is missing",
      code: `/etc/default/grub:
  file.replace:
    - pattern: ^GRUB_TIMEOUT=.*
    - repl: GRUB_TIMEOUT=1
    - append_if_not_found: true`,
    },
  ],
  differences: [
    "Groups are `$1` and `${name}`, not `\\1`.",
    "The pattern has no look-around; its lines are always on (`MULTILINE`), other flags stand in it.",
    "A missing file is no error: it counts as an empty one.",
  ],
});

function notNegative(count: number): string | null {
  return count < 0 ? "a count is not negative" : null;
}

interface Wanted {
  readonly pattern: string;
  readonly repl?: string | undefined;
  readonly count: number;
  readonly append_if_not_found: boolean;
  readonly prepend_if_not_found: boolean;
  readonly not_found_content?: string | undefined;
}

/** Pure: what becomes of the text; null when nothing does. */
export async function plan(p: Wanted, text: string | null): Promise<Edit | null> {
  const old = text ?? "";
  const pattern = await compilePattern(p.pattern);
  const { text: replaced, count } = pattern.replace(old, toPlainNewlines(p.repl ?? ""), {
    countMax: p.count === 0 ? Infinity : p.count,
  });
  if (count > 0) return replaced === old ? null : { text: replaced };
  const added = toPlainNewlines(p.not_found_content ?? p.repl ?? "");
  if (added === "" || holdsLines(old, added)) return null;
  if (p.prepend_if_not_found) return { text: endingLine(added) + old };
  return p.append_if_not_found ? { text: appended(old, added) } : null;
}

/** Whether the text holds these whole lines, one after the other. */
function holdsLines(text: string, lines: string): boolean {
  return `\n${endingLine(text)}`.includes(`\n${endingLine(lines)}`);
}

/** `file.line`: keeps one line of a text file there, in its place, or away. */
import {
  checked,
  compilePattern,
  defaulted,
  defineModule,
  oneOf,
  optional,
  text,
} from "../../core/module.ts";
import { applyEdit, checkEdit, type Edit, editGrant, editing, revertEdit } from "./_edit.ts";
import { bare, linesOf, notOneLine, oneLine, textOfLines } from "./_lines.ts";
import { makedirs } from "./_state.ts";
import type { Memo } from "./_undo.ts";

const MODES = ["ensure", "replace", "insert", "delete", "absent"] as const;

export default defineModule({
  name: "file.line",
  summary: "Keeps one line of a text file there, in its place, or away.",
  description:
    `\`ensure\` replaces the first line that matches, or adds the line; \`replace\` rewrites every line that matches and adds
nothing; \`insert\` adds the line if it is missing; \`delete\` takes every line away that matches. A line is added after the first
one that \`after\` matches, else before the first one that \`before\` matches, else at the end. Without \`match\` the line itself is
what is looked for.

\`match\`, \`before\` and \`after\` are regular expressions in RE2 syntax; one that is none is looked for as it is.`,
  params: {
    ...editing,
    content: optional(checked(text("The line."), notOneLine)),
    mode: defaulted(oneOf(MODES, "What to do; `absent` is `delete`."), "ensure"),
    match: optional(text("Which lines are meant."), "lines equal to the content"),
    before: optional(text("Add the line before the first one that this matches.")),
    after: optional(text("Add the line after the first one that this matches.")),
    makedirs,
  },
  positional: ["content"],
  permissions: editGrant,
  check: (p, host) => checkEdit(host, p, (text) => plan(p, text)),
  apply: (p, host) => applyEdit(host, p, (text) => plan(p, text)),
  revert: (p, memo: Memo, host) => revertEdit(host, p, memo),
  examples: [
    {
      title: "A setting, whatever it was before",
      code: "zester 'web*' file.line /etc/ssh/sshd_config content='Port 2222' match='^#?Port '",
    },
    {
      title: "As a state",
      code: `/etc/fstab:
  file.line:
    - mode: delete
    - match: "^/dev/sdb1 "`,
    },
  ],
  differences: [
    "`mode` says what to do with the line, as in Salt; the permissions of the file stay.",
    "Indentation of a replaced line is not kept.",
    "`location`, `quiet` and `indent` are not parameters.",
  ],
});

interface Wanted {
  readonly content?: string | undefined;
  readonly mode: typeof MODES[number];
  readonly match?: string | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

type Matches = (line: string) => boolean;

interface Rules {
  readonly content: string;
  /** Lines that are meant. */
  readonly isMeant: Matches;
  readonly isBefore: Matches | null;
  readonly isAfter: Matches | null;
}

/** Pure: what becomes of the text; null when nothing does. */
export async function plan(p: Wanted, text: string | null): Promise<Edit | null> {
  const rules = await rulesOf(p);
  const mayMake = p.mode === "ensure" || p.mode === "insert";
  if (text === null && !mayMake) return null;
  const lines = linesOf(text ?? "");
  const edited = editOf(p.mode)(lines, rules);
  if (text !== null && isEqual(lines, edited)) return null;
  return { text: textOfLines(edited, text ?? ""), details: { mode: p.mode } };
}

async function rulesOf({ content, mode, match, before, after }: Wanted): Promise<Rules> {
  if (content === undefined && (match === undefined || !isDelete(mode))) {
    throw new Error(`mode ${mode} needs ${isDelete(mode) ? "content or match" : "content"}`);
  }
  if (mode === "replace" && match === undefined) throw new Error("mode replace needs match");
  const line = oneLine(content ?? "");
  return {
    content: line,
    isMeant: match === undefined ? (each) => bare(each) === line : await matcherOf(match),
    isBefore: before === undefined ? null : await matcherOf(before),
    isAfter: after === undefined ? null : await matcherOf(after),
  };
}

function isDelete(mode: Wanted["mode"]): boolean {
  return mode === "delete" || mode === "absent";
}

async function matcherOf(source: string): Promise<Matches> {
  try {
    const pattern = await compilePattern(source);
    return (line) => pattern.test(bare(line));
  } catch {
    return (line) => line.includes(source); // no expression: meant as it is written
  }
}

function editOf(mode: Wanted["mode"]): (lines: readonly string[], rules: Rules) => string[] {
  switch (mode) {
    case "ensure":
      return ensured;
    case "replace":
      return (lines, { isMeant, content }) =>
        lines.map((each) => isMeant(each) && bare(each) !== content ? content : each);
    case "insert":
      return inserted;
    case "delete":
    case "absent":
      return (lines, { isMeant }) => lines.filter((each) => !isMeant(each));
  }
}

/** A line that no longer matches once it is right must not be looked for again when it is there. */
function ensured(lines: readonly string[], rules: Rules): string[] {
  const { content, isMeant } = rules;
  if (!isMeant(content) && has(lines, content)) return [...lines];
  const first = lines.findIndex(isMeant);
  if (first < 0) return inserted(lines, rules);
  return bare(lines[first]!) === content ? [...lines] : lines.with(first, content);
}

function inserted(lines: readonly string[], rules: Rules): string[] {
  if (has(lines, rules.content)) return [...lines];
  return lines.toSpliced(placeFor(lines, rules), 0, rules.content);
}

function has(lines: readonly string[], content: string): boolean {
  return lines.some((line) => bare(line) === content);
}

function placeFor(lines: readonly string[], { isBefore, isAfter }: Rules): number {
  const after = isAfter === null ? -1 : lines.findIndex(isAfter);
  if (after >= 0) return after + 1;
  const before = isBefore === null ? -1 : lines.findIndex(isBefore);
  return before >= 0 ? before : lines.length;
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}

/** `file.append`: keeps lines in a text file, added at its end where they are missing. */
import { defineModule, textList } from "../../core/module.ts";
import { applyEdit, checkEdit, type Edit, editGrant, editing, revertEdit } from "./_edit.ts";
import { appended, toPlainNewlines } from "./_lines.ts";
import { makedirs } from "./_state.ts";
import type { Memo } from "./_undo.ts";

export default defineModule({
  name: "file.append",
  summary: "Keeps lines in a text file, added at its end where they are missing.",
  description:
    `Each text counts as there if it is found anywhere in the file, also as a part of a longer line. Those that are missing
are added in their order. Mode and owner of the file stay; a missing file is made with mode 0644.`,
  params: { ...editing, text: textList("Lines to have, or blocks of several lines."), makedirs },
  positional: ["text"],
  permissions: editGrant,
  check: (p, host) => checkEdit(host, p, (text) => plan(p, text)),
  apply: (p, host) => applyEdit(host, p, (text) => plan(p, text)),
  revert: (p, memo: Memo, host) => revertEdit(host, p, memo),
  examples: [
    {
      title: "One line",
      code: "zester 'web*' file.append /etc/hosts.allow text='sshd: 10.0.0.0/8'",
    },
    {
      title: "As a state",
      code: `/etc/profile.d/editor.sh:
  file.append:
    - text:
        - export EDITOR=vim
        - export PAGER=less`,
    },
  ],
  differences: ["The texts are compared as they are, white space included."],
});

interface Wanted {
  readonly name: string;
  readonly text: readonly string[];
}

/** Pure: the text with what is missing at its end; null when nothing is. */
export function plan({ name, text: wanted }: Wanted, text: string | null): Edit | null {
  const old = text ?? "";
  const missing = wanted.map(toPlainNewlines).filter((each) => !old.includes(trimmed(each)));
  if (missing.length === 0) return text === null ? { text: "" } : null;
  const lines = missing.length;
  return {
    text: missing.reduce((made, each) => appended(made, each), old),
    would: text === null ? `file ${name} does not exist` : `${counted(lines)} missing from ${name}`,
    did: `appended ${counted(lines)} to ${name}`,
    details: { lines: String(lines) },
  };
}

function trimmed(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

function counted(lines: number): string {
  return lines === 1 ? "1 line" : `${lines} lines`;
}

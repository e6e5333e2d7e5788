/** `file.blockreplace`: keeps what stands between two marker lines of a text file. */
import { checked, defaulted, defineModule, flag, optional, text } from "../../core/module.ts";
import { applyEdit, checkEdit, type Edit, editGrant, editing, revertEdit } from "./_edit.ts";
import {
  appended,
  bare,
  endingLine,
  linesOf,
  notOneLine,
  oneLine,
  toPlainNewlines,
} from "./_lines.ts";
import { makedirs } from "./_state.ts";
import type { Memo } from "./_undo.ts";

const START = "# START managed zone";
const END = "# END managed zone";

export default defineModule({
  name: "file.blockreplace",
  summary: "Keeps what stands between two marker lines of a text file.",
  description:
    `The markers are whole lines. The first block counts: from the first line that is the start marker to the next one that is
the end marker. A start without an end is an error. Without a block nothing is done, unless it is to be added.`,
  params: {
    ...editing,
    content: optional(text("What stands between the markers."), "nothing"),
    marker_start: defaulted(checked(text("Line before the block."), notOneLine), START),
    marker_end: defaulted(checked(text("Line after the block."), notOneLine), END),
    append_if_not_found: defaulted(flag("Add the block at the end if it is missing."), false),
    prepend_if_not_found: defaulted(
      flag("Add the block at the beginning if it is missing."),
      false,
    ),
    append_newline: defaulted(flag("Add one more newline to the content."), false),
    makedirs,
  },
  positional: ["content"],
  permissions: editGrant,
  check: (p, host) => checkEdit(host, p, (text) => plan(p, text)),
  apply: (p, host) => applyEdit(host, p, (text) => plan(p, text)),
  revert: (p, memo: Memo, host) => revertEdit(host, p, memo),
  examples: [
    {
      title: "One line between the usual markers",
      code:
        "zester 'web*' file.blockreplace /etc/hosts content='10.0.0.5 db' append_if_not_found=true",
    },
    {
      title: "With markers of its own",
      code: `/etc/hosts:
  file.blockreplace:
    - marker_start: "# -- cluster"
    - marker_end: "# -- end of cluster"
    - append_if_not_found: true
    - content: |
        10.0.0.5 db
        10.0.0.6 cache`,
    },
  ],
  differences: [
    "A marker is a whole line, not a part of one.",
    "A missing block that is not to be added is no error.",
  ],
});

interface Wanted {
  readonly name: string;
  readonly content?: string | undefined;
  readonly marker_start: string;
  readonly marker_end: string;
  readonly append_if_not_found: boolean;
  readonly prepend_if_not_found: boolean;
  readonly append_newline: boolean;
}

/** Pure: the text with the block as it should be; null when there is nothing to do. */
export function plan(p: Wanted, text: string | null): Edit | null {
  const start = oneLine(p.marker_start);
  const end = oneLine(p.marker_end);
  const content = contentOf(p);
  if (start === end) throw new Error("the two markers are the same line");
  if (linesOf(content).some((line) => [start, end].includes(bare(line)))) {
    throw new Error("the content holds a marker: the block would have no clear end");
  }
  const block = findBlock(text ?? "", { name: p.name, start, end });
  if (block !== null) return { text: block.before + content + block.after };
  const whole = `${start}\n${content}${end}\n`;
  if (p.prepend_if_not_found) return { text: whole + (text ?? "") };
  return p.append_if_not_found ? { text: appended(text ?? "", whole) } : null;
}

function contentOf({ content = "", append_newline }: Wanted): string {
  const plain = toPlainNewlines(content);
  return append_newline ? `${plain}\n` : endingLine(plain);
}

/** The text up to the content of the block, and from its end marker on; null when there is no block. */
function findBlock(
  text: string,
  { name, start, end }: { name: string; start: string; end: string },
): { before: string; after: string } | null {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => bare(line) === start);
  if (first < 0) return null;
  const last = lines.findIndex((line, index) => index > first && bare(line) === end);
  if (last < 0) {
    throw new Error(`${name}: the block that begins in line ${first + 1} has no end marker`);
  }
  return {
    before: lines.slice(0, first + 1).join("\n") + "\n",
    after: lines.slice(last).join("\n"),
  };
}

/** `file.comment`: keeps the lines that match commented out. */
import { defineModule } from "../../core/module.ts";
import { commenting, planComment } from "./_comment.ts";
import { applyEdit, checkEdit, editGrant, revertEdit } from "./_edit.ts";
import type { Memo } from "./_undo.ts";

export default defineModule({
  name: "file.comment",
  summary: "Keeps the lines of a text file that match commented out.",
  description:
    "Lines that are comments already stay as they are. A missing file has no lines, and is not made.",
  params: commenting,
  positional: ["regex"],
  permissions: editGrant,
  check: (p, host) => checkEdit(host, p, (text) => planComment(p, text)),
  apply: (p, host) => applyEdit(host, p, (text) => planComment(p, text)),
  revert: (p, memo: Memo, host) => revertEdit(host, p, memo),
  examples: [
    { title: "A rule out of force", code: "zester '*' file.comment /etc/pam.d/su '^auth.*wheel'" },
    {
      title: "As a state",
      code: `/etc/fstab:
  file.comment:
    - regex: ^/dev/sdb1`,
    },
  ],
  differences: [
    "A line that does not match is no error.",
    "The comment begins at the start of the line, before its indentation.",
  ],
});

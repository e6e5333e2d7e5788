/** `file.uncomment`: keeps the lines that match in force. */
import { defineModule } from "../../core/module.ts";
import { commenting, planUncomment } from "./_comment.ts";
import { applyEdit, checkEdit, editGrant, revertEdit } from "./_edit.ts";
import type { Memo } from "./_undo.ts";

export default defineModule({
  name: "file.uncomment",
  summary: "Keeps the lines of a text file that match in force, not commented out.",
  description: "The indentation of a line stays. A missing file has no lines, and is not made.",
  params: commenting,
  positional: ["regex"],
  permissions: editGrant,
  check: (p, host) => checkEdit(host, p, (text) => planUncomment(p, text)),
  apply: (p, host) => applyEdit(host, p, (text) => planUncomment(p, text)),
  revert: (p, memo: Memo, host) => revertEdit(host, p, memo),
  examples: [
    { title: "A locale", code: "zester '*' file.uncomment /etc/locale.gen '^de_DE.UTF-8'" },
    {
      title: "As a state",
      code: `/etc/ssh/sshd_config:
  file.uncomment:
    - regex: ^PasswordAuthentication`,
    },
  ],
  differences: ["A line that does not match is no error."],
});

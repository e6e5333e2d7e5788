/** `test.succeed_with_changes`: reports a change and makes none. */
import { defineModule, optional, text } from "../../core/module.ts";

export default defineModule({
  name: "test.succeed_with_changes",
  summary: "Reports a change without making one, to try what follows a change.",
  params: { comment: optional(text("What to report.")) },
  permissions: () => ({}),
  check: ({ comment }) => ({ diff: comment ?? "would report a change" }),
  apply: ({ comment }) => ({
    diff: comment ?? "reported a change",
    details: { result: "true", ...(comment === undefined ? {} : { comment }) },
  }),
  whyNoRevert: "there is nothing to undo",
  examples: [{ title: "On the command line", code: "zester '*' test.succeed_with_changes" }],
});

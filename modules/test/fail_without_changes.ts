/** `test.fail_without_changes`: fails and changes nothing. */
import { defaulted, defineModule, StateFailure, text } from "../../core/module.ts";

export default defineModule({
  name: "test.fail_without_changes",
  summary: "Fails without changing anything, to try what follows a failure.",
  params: { comment: defaulted(text("Why it fails."), "failure without changes") },
  permissions: () => ({}),
  check: ({ comment }) => ({ diff: `would fail: ${comment}` }),
  apply({ comment }) {
    throw new StateFailure(comment, { details: { result: "false", comment } });
  },
  whyNoRevert: "there is nothing to undo",
  examples: [{ title: "On the command line", code: "zester '*' test.fail_without_changes" }],
});

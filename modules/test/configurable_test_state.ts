/** `test.configurable_test_state`: succeeds or fails, with or without a change, as it is told. */
import { defaulted, defineModule, flag, optional, StateFailure, text } from "../../core/module.ts";

export default defineModule({
  name: "test.configurable_test_state",
  summary: "Succeeds or fails and reports a change or none, as its parameters say.",
  params: {
    result: defaulted(flag("Whether it succeeds."), true),
    changes: defaulted(flag("Whether it reports a change."), true),
    comment: optional(text("What to report.")),
  },
  permissions: () => ({}),
  check: ({ comment }) => ({ diff: comment ?? "does what its parameters say" }),
  apply({ result, changes, comment }) {
    const details = { result: String(result), ...(comment === undefined ? {} : { comment }) };
    if (!result) {
      throw new StateFailure(comment ?? "configured failure", { details, changed: changes });
    }
    return { diff: changes ? comment ?? "reported a change" : "", changed: changes, details };
  },
  whyNoRevert: "there is nothing to undo",
  examples: [{
    title: "A failure that changed something",
    code: "zester '*' test.configurable_test_state result=false changes=true",
  }],
});

/** `test.nop`: does nothing, successfully. */
import { defineModule } from "../../core/module.ts";

export default defineModule({
  name: "test.nop",
  summary: "Does nothing and needs nothing: a place for requisites to hang on.",
  params: {},
  permissions: () => ({}),
  check: () => null,
  apply: () => ({ diff: "", changed: false, details: { result: "true" } }),
  whyNoRevert: "there is nothing to undo",
  examples: [{
    title: "A milestone",
    code: "ready:\n  test.nop:\n    - require:\n      - pkg: nginx",
  }],
});

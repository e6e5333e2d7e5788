/** `test.ping`: the smallest proof that a peel hears, verifies, runs and answers. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "test.ping",
  summary: "Answers true: the peel hears its master, trusts it and can answer.",
  params: {},
  isReadOnly: true,
  isInline: true,
  run: () => true,
});

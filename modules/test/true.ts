/** `test.true`: answers true. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "test.true",
  summary: "Answers true.",
  params: {},
  isReadOnly: true,
  isInline: true,
  run: () => true,
  examples: [{ title: "On the command line", code: "zester '*' test.true" }],
});

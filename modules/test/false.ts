/** `test.false`: answers false. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "test.false",
  summary: "Answers false.",
  params: {},
  isReadOnly: true,
  isInline: true,
  run: () => false,
  examples: [{ title: "On the command line", code: "zester '*' test.false" }],
});

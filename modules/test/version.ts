/** `test.version`: which version of Zester the peel runs. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "test.version",
  summary: "Answers with the version of Zester that the peel runs.",
  params: {},
  isReadOnly: true,
  run: (_params, host) => String(host.facts["zester_version"] ?? "unknown"),
  examples: [{ title: "On the whole fleet", code: "zester '*' test.version" }],
});

/** `facts.get`: one fact of the peel. */
import { anything, defineFunction, optional, primary, text, valueAt } from "../../core/module.ts";
import type { PlainValue } from "../../core/module.ts";

export default defineFunction({
  name: "facts.get",
  summary: "Answers with one fact; parts of its path are separated by dots or colons.",
  params: {
    key: primary(text("Path of the fact, such as `os_family`.")),
    default: optional(anything("What to answer when there is no such fact."), "an empty text"),
  },
  positional: ["default"],
  isReadOnly: true,
  run: (p, host) => valueAt(host.facts, p.key) ?? (p.default as PlainValue | undefined) ?? "",
  examples: [{ title: "Which systems there are", code: "zester '*' facts.get os_family" }],
});

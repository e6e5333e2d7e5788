/** `grains.item`: one fact, under the name that users of Salt know. */
import { defineFunction, primary, text, valueAt } from "../../core/module.ts";

export default defineFunction({
  name: "grains.item",
  summary: "Answers with one fact, like `facts.get`; an empty text when there is none.",
  params: { key: primary(text("Path of the fact.")) },
  isReadOnly: true,
  run: (p, host) => valueAt(host.facts, p.key) ?? "",
  examples: [{ title: "Which systems there are", code: "zester '*' grains.item os" }],
});

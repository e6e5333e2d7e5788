/** `facts.items`: all facts of the peel. */
import { defineFunction, type PlainValue } from "../../core/module.ts";

export default defineFunction({
  name: "facts.items",
  summary: "Answers with all facts of the peel.",
  params: {},
  isReadOnly: true,
  run: (_p, host) => host.facts as Readonly<Record<string, PlainValue>>,
  examples: [{ title: "All facts of one peel", code: "zester web-01 facts.items" }],
});

/** `grains.items`: all facts, under the name that users of Salt know. */
import { defineFunction, type PlainValue } from "../../core/module.ts";

export default defineFunction({
  name: "grains.items",
  summary: "Answers with all facts, like `facts.items`.",
  params: {},
  isReadOnly: true,
  run: (_p, host) => host.facts as Readonly<Record<string, PlainValue>>,
  examples: [{ title: "All facts of one peel", code: "zester web-01 grains.items" }],
});

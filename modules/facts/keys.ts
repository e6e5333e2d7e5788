/** `facts.keys`: the names of the facts. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "facts.keys",
  summary: "Answers with the names of all facts, sorted.",
  params: {},
  isReadOnly: true,
  run: (_p, host) => Object.keys(host.facts).sort(),
  examples: [{ title: "What can be asked for", code: "zester web-01 facts.keys" }],
});

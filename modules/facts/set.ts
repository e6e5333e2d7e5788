/** `facts.set`: sets a custom fact of the peel. */
import { anything, defineFunction, line, type PlainValue, primary } from "../../core/module.ts";

export default defineFunction({
  name: "facts.set",
  summary: "Sets a custom fact, on disk and at once for targeting.",
  params: {
    key: primary(line("Name of the fact.")),
    value: anything("Its value; text that reads as YAML becomes what it reads as."),
  },
  positional: ["value"],
  isReadOnly: false,
  permissions: () => ({ peel: ["facts"] }),
  async run(p, host) {
    await host.setFact(p.key, p.value as PlainValue);
    return `set ${p.key}`;
  },
  examples: [{ title: "A role", code: "zester web-01 facts.set role frontend" }],
});

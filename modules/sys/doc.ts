/** `sys.doc`: the documentation of a function, or of all in a namespace. */
import { defineFunction, optional, primary, text } from "../../core/module.ts";

export default defineFunction({
  name: "sys.doc",
  summary:
    "Answers with the documentation of a function or of a namespace; without a name, with a list of all.",
  params: {
    name: optional(primary(text("A function such as `file.managed`, or `file`."), "module")),
  },
  isReadOnly: true,
  permissions: () => ({ peel: ["catalog"] }),
  run: ({ name }, host) =>
    host.catalog(name === undefined ? { about: "doc" } : { about: "doc", name }),
  examples: [{ title: "One function", code: "zester web-01 sys.doc file.managed" }],
});

/** `sys.list_functions`: what the peel can run. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "sys.list_functions",
  summary: "Answers with the names of all functions of the peel, custom ones included, sorted.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ peel: ["catalog"] }),
  run: (_p, host) => host.catalog({ about: "functions" }),
  examples: [{ title: "On one peel", code: "zester web-01 sys.list_functions" }],
});

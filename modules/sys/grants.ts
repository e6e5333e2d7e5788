/** `sys.grants`: what a call would be allowed to touch, without running it. */
import { defineFunction, primary, text } from "../../core/module.ts";

export default defineFunction({
  name: "sys.grants",
  summary:
    "Answers with all that a call of a function would be allowed to touch, without running it.",
  params: { function: primary(text("The function, such as `file.managed`.")) },
  isOpen: true,
  isReadOnly: true,
  permissions: () => ({ peel: ["catalog"] }),
  run({ function: name, ...params }, host) {
    return host.catalog({ about: "grants", name, params });
  },
  examples: [{
    title: "Before a file is written",
    code: "zester web-01 sys.grants file.managed /etc/motd content=hello",
  }],
});

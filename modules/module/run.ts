/** `module.run`: runs a state module under another name. The peel puts the module that is meant in its place. */
import { defineModule } from "../../core/module.ts";

export default defineModule({
  name: "module.run",
  summary: "Runs the state module that `name` or a dotted key names, with the other parameters.",
  description: "The peel runs the module that is meant, with its own parameters and its own grant.",
  params: {},
  isOpen: true,
  permissions: () => ({}),
  check: notForwarded,
  apply: notForwarded,
  whyNoRevert: "what it runs decides",
  examples: [{
    title: "Classic",
    code: "restart_later:\n  module.run:\n    - name: service.running\n    - enable: true",
  }, {
    title: "Dotted",
    code:
      "write_it:\n  module.run:\n    - file.managed:\n        name: /etc/motd\n        content: hi",
  }],
  differences: ["The target is a state module, not an execution function."],
});

/** Only reached when nothing says which module is meant: the peel forwards the rest. */
function notForwarded(): never {
  throw new Error("no target module");
}

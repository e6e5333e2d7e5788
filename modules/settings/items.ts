/** `settings.items`: all settings of the peel. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "settings.items",
  summary: "Answers with all settings of the peel.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ peel: ["settings"] }),
  run: (_p, host) => host.settings(),
  examples: [{ title: "All of them", code: "zester web-01 settings.items" }],
});

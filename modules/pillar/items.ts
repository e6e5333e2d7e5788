/** `pillar.items`: all settings of the peel, under the name that users of Salt know. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "pillar.items",
  summary: "Answers with all settings of the peel.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ peel: ["settings"] }),
  run: (_p, host) => host.settings(),
  examples: [{ title: "All of them", code: "zester web-01 pillar.items" }],
});

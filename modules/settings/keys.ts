/** `settings.keys`: the names of the settings. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "settings.keys",
  summary: "Answers with the names of all settings, sorted.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ peel: ["settings"] }),
  run: async (_p, host) => Object.keys(await host.settings()).sort(),
  examples: [{ title: "What can be asked for", code: "zester web-01 settings.keys" }],
});

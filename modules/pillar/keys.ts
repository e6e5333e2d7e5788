/** `pillar.keys`: the names of the settings, under the name that users of Salt know. */
import { defineFunction } from "../../core/module.ts";

export default defineFunction({
  name: "pillar.keys",
  summary: "Answers with the names of all settings, sorted.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ peel: ["settings"] }),
  run: async (_p, host) => Object.keys(await host.settings()).sort(),
  examples: [{ title: "What can be asked for", code: "zester web-01 pillar.keys" }],
});

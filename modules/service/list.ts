/** `service.list`: the services of the host. */
import { defineFunction } from "../../core/module.ts";
import { managerGrant, managerOn } from "./_manager.ts";

export default defineFunction({
  name: "service.list",
  summary: "Answers with the services of the host: which run, and which start at boot.",
  params: {},
  isReadOnly: true,
  permissions: (_params, facts) => managerGrant(facts, ({ listGrant }) => listGrant),
  run: async (_params, host) => await (await managerOn(host)).list(host),
  examples: [{ title: "On the command line", code: "zester web-01 service.list" }],
});

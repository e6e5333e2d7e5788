/** `pkg.refresh_db`: reads the lists of packages anew. */
import { defineFunction } from "../../core/module.ts";
import { managerOf, tell } from "./_provider.ts";

export default defineFunction({
  name: "pkg.refresh_db",
  summary: "Has the package manager read its lists anew.",
  params: {},
  isReadOnly: false,
  permissions: (_p, facts) => ({ run: [managerOf(facts).refreshProgram] }),
  async run(_p, host) {
    const manager = managerOf(host.facts);
    await tell(host, manager, manager.refreshProgram);
    return `refreshed via ${manager.name}`;
  },
  examples: [{ title: "Before a round of upgrades", code: "zester '*' pkg.refresh_db" }],
});

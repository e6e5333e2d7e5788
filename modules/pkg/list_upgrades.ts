/** `pkg.list_upgrades`: which packages could be newer. */
import { defaulted, defineFunction, flag } from "../../core/module.ts";
import { ask, managerOf, tell } from "./_provider.ts";

export default defineFunction({
  name: "pkg.list_upgrades",
  summary: "Answers with the packages that could be upgraded and the versions on offer.",
  params: { refresh: defaulted(flag("Read the lists of packages anew first."), false) },
  isReadOnly: true,
  permissions({ refresh }, facts) {
    const manager = managerOf(facts);
    return { probe: [manager.upgradesProgram, ...(refresh ? [manager.refreshProgram] : [])] };
  },
  async run({ refresh }, host) {
    const manager = managerOf(host.facts);
    if (refresh) await tell(host, manager, manager.refreshProgram);
    return Object.fromEntries(
      manager.readUpgrades(await ask(host, manager, manager.upgradesProgram)),
    );
  },
  examples: [{ title: "What is due", code: "zester '*' pkg.list_upgrades refresh=true" }],
});

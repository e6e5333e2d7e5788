/** `pkg.upgrade`: brings all packages up to date. */
import { defaulted, defineFunction, flag } from "../../core/module.ts";
import { ask, managerOf, tell } from "./_provider.ts";

export default defineFunction({
  name: "pkg.upgrade",
  summary: "Upgrades all packages and answers with what was upgraded.",
  params: { refresh: defaulted(flag("Read the lists of packages anew first."), true) },
  isReadOnly: false,
  permissions({ refresh }, facts) {
    const manager = managerOf(facts);
    return {
      probe: [manager.listProgram],
      run: [manager.upgradeProgram, ...(refresh ? [manager.refreshProgram] : [])],
    };
  },
  async run({ refresh }, host) {
    const manager = managerOf(host.facts);
    const list = async () => manager.readList(await ask(host, manager, manager.listProgram));
    if (refresh) await tell(host, manager, manager.refreshProgram);
    const before = await list();
    await tell(host, manager, manager.upgradeProgram);
    const after = await list();
    const changed = [...after].filter(([name, version]) => before.get(name) !== version);
    return Object.fromEntries(
      changed.map(([name, version]) => [name, `${before.get(name) ?? "absent"} -> ${version}`]),
    );
  },
  examples: [{
    title: "Ten at a time",
    code: "zester 'web*' pkg.upgrade --batch 10% --timeout 20m",
  }],
});

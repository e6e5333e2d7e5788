/** `pkg.list_pkgs`: all installed packages. */
import { defineFunction } from "../../core/module.ts";
import { ask, managerOf } from "./_provider.ts";

export default defineFunction({
  name: "pkg.list_pkgs",
  summary: "Answers with all installed packages and their versions, one per line.",
  params: {},
  isReadOnly: true,
  permissions: (_p, facts) => ({ probe: [managerOf(facts).listProgram] }),
  async run(_p, host) {
    const manager = managerOf(host.facts);
    const all = manager.readList(await ask(host, manager, manager.listProgram));
    return [...all].map(([name, version]) => `${name} ${version}`).sort().join("\n");
  },
  examples: [{ title: "On one peel", code: "zester web-01 pkg.list_pkgs" }],
});

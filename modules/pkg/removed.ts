/** `pkg.removed`: keeps packages away. */
import { defineModule } from "../../core/module.ts";
import { namesOf, packageGrant, packages } from "./_packages.ts";
import { managerOf, tell, versionsOf } from "./_provider.ts";

export default defineModule({
  name: "pkg.removed",
  summary: "Keeps packages from being installed; their configuration stays.",
  params: packages,
  permissions(p, facts) {
    const names = namesOf(p);
    return packageGrant(names, facts, (manager) => ({ run: [manager.removeProgram(names)] }));
  },
  async check(p, host) {
    const versions = await versionsOf(host, managerOf(host.facts), namesOf(p));
    if (versions.size === 0) return null;
    return { diff: [...versions.keys()].map((name) => `${name} needs to be removed`).join("; ") };
  },
  async apply(p, host) {
    const manager = managerOf(host.facts);
    const names = namesOf(p);
    const before = await versionsOf(host, manager, names);
    if (before.size === 0) return null;
    await tell(host, manager, manager.removeProgram(names));
    return {
      diff: `removed ${[...before.keys()].join(", ")} via ${manager.name}`,
      details: { package: names.join(" "), manager: manager.name },
    };
  },
  whyNoRevert: "what a removed package had in its files is gone",
  examples: [
    { title: "One package", code: "zester '*' pkg.removed telnet" },
    { title: "As a state", code: "telnet:\n  pkg.removed: []" },
  ],
});

/** `pkg.purged`: keeps packages and their configuration away. */
import { defineModule } from "../../core/module.ts";
import { namesOf, packages } from "./_packages.ts";
import { ask, managerOf, type PackageManager, tell } from "./_provider.ts";
import type { Host } from "../../core/module.ts";

export default defineModule({
  name: "pkg.purged",
  summary: "Keeps packages away together with the configuration that they leave behind.",
  params: packages,
  permissions(p, facts) {
    const manager = managerOf(facts);
    const names = namesOf(p);
    return { probe: [manager.leftoversProgram(names)], run: [manager.purgeProgram(names)] };
  },
  async check(p, host) {
    const left = await leftovers(host, managerOf(host.facts), namesOf(p));
    return left.length === 0
      ? null
      : { diff: left.map((name) => `${name} needs to be purged`).join("; ") };
  },
  async apply(p, host) {
    const manager = managerOf(host.facts);
    const names = namesOf(p);
    const left = await leftovers(host, manager, names);
    if (left.length === 0) return null;
    await tell(host, manager, manager.purgeProgram(names));
    return {
      diff: `purged ${left.join(", ")} via ${manager.name}`,
      details: { package: names.join(" "), manager: manager.name },
    };
  },
  whyNoRevert: "what a purged package had in its files is gone",
  examples: [
    { title: "One package", code: "zester '*' pkg.purged telnet" },
    { title: "As a state", code: "telnet:\n  pkg.purged: []" },
  ],
});

async function leftovers(host: Host, manager: PackageManager, names: readonly string[]) {
  return manager.readLeftovers(names, await ask(host, manager, manager.leftoversProgram(names)));
}

/** `pkg.latest`: keeps packages installed at the newest version that is on offer. */
import { defaulted, defineModule, flag, type Host } from "../../core/module.ts";
import { memoOf, namesOf, packageGrant, packages, type VersionsMemo } from "./_packages.ts";
import { ask, managerOf, type PackageManager, tell, versionsOf } from "./_provider.ts";
import { undoInstall } from "./_undo.ts";

export default defineModule({
  name: "pkg.latest",
  summary: "Keeps packages installed at the newest version that the package sources offer.",
  description:
    "With `refresh` the lists of packages are read anew, also in a dry run: that changes nothing but the lists.",
  params: { ...packages, refresh: defaulted(flag("Read the lists of packages anew first."), true) },
  permissions(p, facts) {
    const names = namesOf(p);
    return packageGrant(names, facts, (manager) => ({
      probe: [...(p.refresh ? [manager.refreshProgram] : []), manager.upgradesProgram],
      run: [manager.installProgram(names.map((name) => ({ name }))), manager.removeProgram([])],
    }));
  },
  async check(p, host) {
    const { drifts } = await look(p, host);
    return drifts.length === 0 ? null : { diff: drifts.join("; ") };
  },
  async apply(p, host) {
    const manager = managerOf(host.facts);
    const names = namesOf(p);
    const { drifts, before } = await look(p, host);
    if (drifts.length === 0) return null;
    await tell(host, manager, manager.installProgram(names.map((name) => ({ name }))));
    const after = await versionsOf(host, manager, names);
    const changed = names.filter((name) => after.get(name) !== before.get(name));
    const left = names.filter((name) => !after.has(name));
    if (left.length > 0) {
      throw new Error(`${manager.name} reported success, but ${left.join(", ")} is not installed`);
    }
    return {
      diff: changed.map((name) => `${name} ${before.get(name) ?? "absent"} -> ${after.get(name)}`)
        .join("; "),
      details: { package: names.join(" "), manager: manager.name },
      changed: changed.length > 0,
      memo: memoOf(changed, before),
    };
  },
  revert: (_p, memo: VersionsMemo, host) => undoInstall(host, memo),
  examples: [
    { title: "One package", code: "zester 'web*' pkg.latest openssl" },
    { title: "As a state", code: "openssl:\n  pkg.latest:\n    - refresh: true" },
  ],
});

async function look(
  p: { name: string; pkgs?: readonly string[] | undefined; refresh: boolean },
  host: Host,
) {
  const manager = managerOf(host.facts);
  const names = namesOf(p);
  if (p.refresh) await refreshIfPossible(host, manager);
  const before = await versionsOf(host, manager, names);
  const upgrades = manager.readUpgrades(await ask(host, manager, manager.upgradesProgram));
  const drifts = names.flatMap((name) => {
    if (!before.has(name)) return [`${name} needs to be installed`];
    const newer = upgrades.get(name);
    return newer === undefined
      ? []
      : [`${name} can be upgraded from ${before.get(name)} to ${newer}`];
  });
  return { drifts, before };
}

/** A source that cannot be reached now does not make an installed package wrong. */
async function refreshIfPossible(host: Host, manager: PackageManager): Promise<void> {
  await ask(host, manager, manager.refreshProgram);
}

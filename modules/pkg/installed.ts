/** `pkg.installed`: keeps packages installed, at a version if one is given. */
import { defaulted, defineModule, flag, optional } from "../../core/module.ts";
import { memoOf, namesOf, packageGrant, packages, type VersionsMemo } from "./_packages.ts";
import {
  managerOf,
  type PackageManager,
  packageVersion,
  tell,
  versionsOf,
  type Wanted,
} from "./_provider.ts";
import { undoInstall } from "./_undo.ts";

export default defineModule({
  name: "pkg.installed",
  summary: "Keeps packages installed, at a given version if one is declared.",
  description:
    "The package manager is the one of the host. It is never asked a question, and its lock is waited for.",
  params: {
    ...packages,
    version: optional(packageVersion("Exact version wanted; only for a single package.")),
    refresh: defaulted(flag("Read the lists of packages anew before installing."), false),
  },
  permissions(p, facts) {
    const names = namesOf(p);
    return packageGrant(names, facts, (manager) => ({
      run: [
        ...(p.refresh ? [manager.refreshProgram] : []),
        ...installPrograms(manager, wantedOf(p)),
        manager.removeProgram([]),
      ],
    }));
  },
  async check(p, host) {
    const versions = await versionsOf(host, managerOf(host.facts), namesOf(p));
    const drifts = wantedOf(p).flatMap((wanted) => driftOf(wanted, versions.get(wanted.name)));
    return drifts.length === 0 ? null : { diff: drifts.join("; ") };
  },
  async apply(p, host) {
    const manager = managerOf(host.facts);
    const names = namesOf(p);
    const before = await versionsOf(host, manager, names);
    const missing = wantedOf(p).filter((wanted) =>
      driftOf(wanted, before.get(wanted.name)).length > 0
    );
    if (missing.length === 0) return null;
    if (p.refresh) await tell(host, manager, manager.refreshProgram);
    await tell(host, manager, manager.installProgram(missing));
    const after = await versionsOf(host, manager, names);
    const left = missing.flatMap((wanted) => driftOf(wanted, after.get(wanted.name)));
    if (left.length > 0) {
      throw new Error(`${manager.name} reported success, but ${left.join("; ")}`);
    }
    const installed = missing.map(({ name }) => `${name} ${after.get(name)}`);
    return {
      diff: `installed ${installed.join(", ")} via ${manager.name}`,
      details: { package: names.join(" "), manager: manager.name },
      memo: memoOf(missing.map(({ name }) => name), before),
    };
  },
  revert: (_p, memo: VersionsMemo, host) => undoInstall(host, memo),
  examples: [
    { title: "One package", code: "zester 'web*' pkg.installed nginx" },
    {
      title: "Several, with fresh lists",
      code: `tools:
  pkg.installed:
    - pkgs: [curl, jq, htop]
    - refresh: true`,
    },
  ],
  differences: [
    "A failure to refresh fails the state.",
    "An undo removes only what was not installed before, and puts an older version back.",
  ],
});

interface Params {
  readonly name: string;
  readonly pkgs?: readonly string[] | undefined;
  readonly version?: string | undefined;
}

function wantedOf(p: Params): Wanted[] {
  if (p.version !== undefined && p.pkgs !== undefined) {
    throw new Error("version goes with a single package, not with pkgs");
  }
  return namesOf(p).map((name) => ({ name, version: p.version }));
}

/** The grant is a prefix: what is already there is not named again, so each package may come alone. */
function installPrograms(manager: PackageManager, wanted: readonly Wanted[]) {
  const [program, ...rest] = manager.installProgram(wanted);
  const fixed = rest.slice(0, rest.length - wanted.length);
  return wanted.length === 1 ? [manager.installProgram(wanted)] : [[program, ...fixed] as const];
}

/** What is wrong, in words; nothing when all is well. */
export function driftOf({ name, version }: Wanted, found: string | undefined): string[] {
  if (found === undefined) return [`${name} needs to be installed`];
  if (version === undefined || version === found) return [];
  return [
    `${name} version mismatch: got ${JSON.stringify(found)}, want ${JSON.stringify(version)}`,
  ];
}

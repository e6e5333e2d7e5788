/** What the states of the family share: several packages at once, and the way back. */
import { checked, type Facts, type Grant, optional, primary, textList } from "../../core/module.ts";
import { managerOf, packageName, wrongName } from "./_provider.ts";

/** One package, or several with `pkgs`. */
export const packages = {
  name: primary(packageName("Package."), "package", "pkg"),
  pkgs: optional(
    checked(
      textList("Several packages instead of one."),
      (names) => names.map(wrongName).find((wrong) => wrong !== null) ?? null,
    ),
  ),
};

/** The packages that are meant. */
export function namesOf(
  { name, pkgs }: { name: string; pkgs?: readonly string[] | undefined },
): readonly string[] {
  return pkgs === undefined ? [name] : [...new Set(pkgs)];
}

/** What was installed before, by name; absent ones are left out. */
export interface VersionsMemo {
  readonly names: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
}

/** The versions before, for an undo. */
export function memoOf(
  names: readonly string[],
  versions: ReadonlyMap<string, string>,
): VersionsMemo {
  return {
    names,
    versions: Object.fromEntries(names.flatMap((name) => {
      const version = versions.get(name);
      return version === undefined ? [] : [[name, version]];
    })),
  };
}

/** The grant of a state that looks at packages and installs or removes them. */
export function packageGrant(
  names: readonly string[],
  facts: Facts,
  more: (manager: ReturnType<typeof managerOf>) => Grant,
): Grant {
  const manager = managerOf(facts);
  const extra = more(manager);
  return { ...extra, probe: [manager.versionsProgram(names), ...(extra.probe ?? [])] };
}

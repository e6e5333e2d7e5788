/** zypper over rpm. Tested against recorded output only. */
import { dnf } from "./_rpm.ts";
import type { PackageManager } from "./_provider.ts";

export const zypper: PackageManager = {
  ...dnf,
  name: "zypper",
  installProgram(wanted) {
    const packages = wanted.map(({ name, version }) =>
      version === undefined ? name : `${name}=${version}`
    );
    return ["zypper", "--non-interactive", "install", "--oldpackage", "--", ...packages];
  },
  removeProgram: (names) => ["zypper", "--non-interactive", "remove", "--", ...names],
  purgeProgram: (names) => ["zypper", "--non-interactive", "remove", "--", ...names],
  refreshProgram: ["zypper", "--non-interactive", "refresh"],
  upgradesProgram: ["zypper", "--non-interactive", "--quiet", "list-updates"],
  readUpgrades({ stdout }) {
    // v | Main | nginx | 1.21 | 1.23 | x86_64
    const rows = stdout.split("\n").map((row) => row.split("|").map((cell) => cell.trim()));
    return new Map(
      rows.filter(([mark, , name]) => mark === "v" && name).map((row) => [row[2]!, row[4]!]),
    );
  },
  upgradeProgram: ["zypper", "--non-interactive", "update"],
  isLocked: ({ code, stderr, stdout }) =>
    code === 7 || /System management is locked/.test(stderr + stdout),
};

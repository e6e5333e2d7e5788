/** Homebrew. Tested against recorded output only. */
import { columns, only } from "./_lines.ts";
import type { PackageManager } from "./_provider.ts";

export const brew: PackageManager = {
  name: "brew",
  env: { HOMEBREW_NO_AUTO_UPDATE: "1" },
  versionsProgram: () => ["brew", "list", "--versions"],
  readVersions: (names, { stdout }) => only(names, columns(stdout)),
  listProgram: ["brew", "list", "--versions"],
  readList: ({ stdout }) => columns(stdout),
  installProgram: (wanted) => [
    "brew",
    "install",
    ...wanted.map(({ name, version }) => version === undefined ? name : `${name}@${version}`),
  ],
  removeProgram: (names) => ["brew", "uninstall", ...names],
  purgeProgram: (names) => ["brew", "uninstall", "--zap", ...names],
  refreshProgram: ["brew", "update"],
  upgradesProgram: ["brew", "outdated", "--verbose"],
  readUpgrades({ stdout }) {
    // nginx (1.25.1) < 1.25.3
    const rows = stdout.matchAll(/^(\S+) \(.*\) (?:<|!=) (\S+)$/gm);
    return new Map([...rows].map(([, name, version]) => [name!, version!]));
  },
  upgradeProgram: ["brew", "upgrade"],
  isLocked: ({ stderr }) => /has already locked/.test(stderr),
  leftoversProgram: () => ["brew", "list", "--versions"],
  readLeftovers: (names, { stdout }) => [...only(names, columns(stdout)).keys()],
};

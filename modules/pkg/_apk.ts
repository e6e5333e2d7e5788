/** apk of Alpine. Tested against recorded output only. */
import { only } from "./_lines.ts";
import type { Answer, PackageManager } from "./_provider.ts";

/** `nginx-1.24.0-r7 x86_64 {nginx} (BSD-2-Clause) [installed]` or `nginx-1.24.0-r7`. */
function readNames({ stdout }: Answer): Map<string, string> {
  const rows = stdout.matchAll(/^([A-Za-z0-9][\w+.-]*?)-(\d[\w.]*-r\d+)\b/gm);
  return new Map([...rows].map(([, name, version]) => [name!, version!]));
}

export const apk: PackageManager = {
  name: "apk",
  env: {},
  versionsProgram: () => ["apk", "list", "--installed"],
  readVersions: (names, answer) => only(names, readNames(answer)),
  listProgram: ["apk", "list", "--installed"],
  readList: readNames,
  installProgram: (wanted) => [
    "apk",
    "add",
    "--",
    ...wanted.map(({ name, version }) => version === undefined ? name : `${name}=${version}`),
  ],
  removeProgram: (names) => ["apk", "del", "--", ...names],
  purgeProgram: (names) => ["apk", "del", "--purge", "--", ...names],
  refreshProgram: ["apk", "update"],
  upgradesProgram: ["apk", "list", "--upgradable"],
  readUpgrades: readNames,
  upgradeProgram: ["apk", "upgrade"],
  isLocked: ({ stderr }) => /Unable to lock database/.test(stderr),
  leftoversProgram: () => ["apk", "list", "--installed"],
  readLeftovers: (names, answer) => [...only(names, readNames(answer)).keys()],
};

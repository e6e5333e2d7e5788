/** dnf and yum over rpm. Tested against recorded output only. */
import type { Program } from "../../core/module.ts";
import { columns, only } from "./_lines.ts";
import type { Answer, PackageManager } from "./_provider.ts";

const FORMAT = "%{NAME} %{VERSION}-%{RELEASE}\\n";

function rpmVersions(names: readonly string[]): Program {
  return ["rpm", "-q", "--qf", FORMAT, "--", ...names];
}

/** rpm ends with the number of packages that it does not know; those lines say "is not installed". */
function readRpm(names: readonly string[], { stdout }: Answer): Map<string, string> {
  const known = stdout.split("\n").filter((line) => !line.includes("is not installed"));
  return only(names, columns(known.join("\n")));
}

/** Upgrades are told by exit status 100; the architecture is cut off the name. */
function readCheckUpdate({ code, stdout, stderr }: Answer): Map<string, string> {
  if (code === 0) return new Map();
  if (code !== 100) throw new Error(`check-update: ${stderr.trim()}`);
  const [upgrades = ""] = stdout.split(/^Obsoleting/m);
  const rows = upgrades.split("\n").map((row) => row.trim().split(/\s+/)).filter(({ length }) =>
    length === 3
  );
  return new Map(rows.map(([name, version]) => [name!.replace(/\.[^.]+$/, ""), version!]));
}

function managerNamed(name: "dnf" | "yum"): PackageManager {
  return {
    name,
    env: {},
    versionsProgram: rpmVersions,
    readVersions: readRpm,
    listProgram: ["rpm", "-qa", "--qf", FORMAT],
    readList: ({ stdout }) => columns(stdout),
    installProgram(wanted) {
      const packages = wanted.map((each) =>
        each.version === undefined ? each.name : `${each.name}-${each.version}`
      );
      return [name, "install", "-y", "--", ...packages];
    },
    removeProgram: (names) => [name, "remove", "-y", "--", ...names],
    purgeProgram: (names) => [name, "remove", "-y", "--", ...names],
    refreshProgram: [name, "makecache"],
    upgradesProgram: [name, "-q", "check-update"],
    readUpgrades: readCheckUpdate,
    upgradeProgram: [name, "upgrade", "-y"],
    isLocked: ({ stderr }) => /holding the (yum|dnf)? ?lock|Waiting for process/i.test(stderr),
    leftoversProgram: rpmVersions,
    readLeftovers: (names, answer) => [...readRpm(names, answer).keys()],
  };
}

export const dnf = managerNamed("dnf");
export const yum = managerNamed("yum");

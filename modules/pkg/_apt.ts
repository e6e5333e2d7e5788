/** apt and dpkg, never asking anything: a question would wait for ever. */
import type { Program } from "../../core/module.ts";
import { only } from "./_lines.ts";
import type { Answer, PackageManager } from "./_provider.ts";

/** Configuration files that were edited stay; new ones are taken where nobody edited. Also waits for the lock itself. */
const OPTIONS = [
  "-y",
  "-o",
  "Dpkg::Options::=--force-confdef",
  "-o",
  "Dpkg::Options::=--force-confold",
  "-o",
  "DPkg::Lock::Timeout=60",
] as const;

/** `name[:arch] status version`, one line per package and architecture. */
const FORMAT = "-f=${binary:Package} ${db:Status-Status} ${Version}\\n";

function query(names: readonly string[]): Program {
  return ["dpkg-query", "-W", FORMAT, "--", ...names];
}

interface Row {
  readonly name: string;
  readonly status: string;
  readonly version: string;
}

function rowsOf({ stdout }: Answer): Row[] {
  return stdout.split("\n").flatMap((line) => {
    const [package_ = "", status = "", version = ""] = line.trim().split(" ");
    return package_ === "" ? [] : [{ name: package_.split(":")[0]!, status, version }];
  });
}

/** dpkg-query ends with 1 when it does not know a package: an answer. Anything else is a failure to look. */
function assertAsked(answer: Answer): void {
  if (answer.code > 1) throw new Error(`dpkg-query: ${answer.stderr.trim()}`);
}

function installed(answer: Answer): Map<string, string> {
  assertAsked(answer);
  return new Map(
    rowsOf(answer).filter(({ status }) => status === "installed")
      .map(({ name, version }) => [name, version]),
  );
}

export const apt: PackageManager = {
  name: "apt",
  env: { DEBIAN_FRONTEND: "noninteractive", NEEDRESTART_MODE: "l" },
  versionsProgram: query,
  readVersions: (names, answer) => only(names, installed(answer)),
  listProgram: ["dpkg-query", "-W", FORMAT],
  readList: installed,
  installProgram(wanted) {
    const isPinned = wanted.some(({ version }) => version !== undefined);
    const packages = wanted.map(({ name, version }) =>
      version === undefined ? name : `${name}=${version}`
    );
    const downgrade = isPinned ? ["--allow-downgrades"] : [];
    return ["apt-get", "install", ...OPTIONS, ...downgrade, "--", ...packages];
  },
  removeProgram: (names) => ["apt-get", "remove", ...OPTIONS, "--", ...names],
  purgeProgram: (names) => ["apt-get", "purge", ...OPTIONS, "--", ...names],
  refreshProgram: ["apt-get", "update", "-q"],
  upgradesProgram: ["apt-get", "-s", "-q", "upgrade", "--with-new-pkgs"],
  readUpgrades({ stdout }) {
    // Inst nginx [1.18] (1.22-1 Debian:12 [amd64])
    const rows = stdout.matchAll(/^Inst (\S+)(?: \[\S+\])? \((\S+)/gm);
    return new Map([...rows].map(([, name, version]) => [name!, version!]));
  },
  upgradeProgram: ["apt-get", "upgrade", "--with-new-pkgs", ...OPTIONS],
  isLocked: ({ stderr }) => /Could not get lock|is another process using it/.test(stderr),
  leftoversProgram: query,
  readLeftovers(names, answer) {
    assertAsked(answer);
    const there = rowsOf(answer).filter(({ status }) => status !== "not-installed");
    return names.filter((name) => there.some((row) => row.name === name));
  },
};

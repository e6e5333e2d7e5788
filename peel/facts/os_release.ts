/** Reads `os-release`: which system this is, of which family, in which release. */

export type OsFacts = {
  readonly os: string;
  readonly os_family: string;
  readonly os_release?: string;
  readonly os_name?: string;
};

/** Families by the names that systems call themselves or say they are like. */
const FAMILIES: Readonly<Record<string, string>> = {
  debian: "debian",
  ubuntu: "debian",
  rhel: "rhel",
  fedora: "fedora",
  centos: "rhel",
  suse: "suse",
  opensuse: "suse",
  sles: "suse",
  arch: "arch",
  alpine: "alpine",
  gentoo: "gentoo",
};

/** The facts in the text. A system that names no family is one of its own. */
export function readOsRelease(text: string): OsFacts {
  const values = new Map(text.split(/\r?\n/).flatMap(assignment));
  const os = values.get("ID") || "linux";
  const like = (values.get("ID_LIKE") ?? "").split(/\s+/);
  const release = values.get("VERSION_ID");
  const name = values.get("PRETTY_NAME");
  return {
    os,
    os_family: [os, ...like].map(familyOf).find((family) => family !== undefined) ?? os,
    ...(release === undefined ? {} : { os_release: release }),
    ...(name === undefined ? {} : { os_name: name }),
  };
}

function familyOf(name: string): string | undefined {
  return Object.hasOwn(FAMILIES, name) ? FAMILIES[name] : undefined;
}

/** `NAME=value`, the value plain or quoted as in a shell. */
function assignment(line: string): [name: string, value: string][] {
  const [, name, value] = /^\s*([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) return [];
  return [[name, unquoted(value.trim())]];
}

function unquoted(value: string): string {
  if (/^'.*'$/.test(value)) return value.slice(1, -1);
  const bare = /^".*"$/.test(value) ? value.slice(1, -1) : value;
  return bare.replace(/\\(.)/g, "$1");
}

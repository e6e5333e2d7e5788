/** Which kind of system a host is, from its facts: the one place that knows how facts spell it. */
import type { Facts } from "../module.ts";

/** Families whose tools differ. */
export type Family = "debian" | "redhat" | "suse" | "alpine" | "arch" | "darwin" | "unknown";

const FAMILIES: Readonly<Record<string, Family>> = {
  debian: "debian",
  ubuntu: "debian",
  redhat: "redhat",
  rhel: "redhat",
  fedora: "redhat",
  centos: "redhat",
  suse: "suse",
  opensuse: "suse",
  alpine: "alpine",
  arch: "arch",
  darwin: "darwin",
  macos: "darwin",
};

/** The family of the host. */
export function familyOf(facts: Facts): Family {
  const family = String(facts["os_family"] ?? "").toLowerCase();
  return FAMILIES[family] ?? "unknown";
}

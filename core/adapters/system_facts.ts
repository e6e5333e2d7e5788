/** What this machine is, as the runtime and `/etc/os-release` tell it. */
import { systemFiles } from "./system_files.ts";
import { CONFIG_BYTES_MAX } from "../limits.ts";

export interface NetworkAddress {
  readonly interface: string;
  readonly family: "IPv4" | "IPv6";
  readonly address: string;
}

/** What can be asked about a machine. Any of it may fail: then the facts that need it are missing. */
export interface SystemView {
  hostname(): string;
  /** Text of `os-release`; null where there is none. */
  osRelease(): Promise<string | null>;
  /** `linux`, `darwin`, `windows`, … */
  kernel(): string;
  kernelRelease(): string;
  /** `x86_64`, `aarch64`. */
  arch(): string;
  cpus(): number;
  memoryBytes(): number;
  addresses(): readonly NetworkAddress[];
  /** Whether systemd is what starts services here. */
  runsSystemd(): Promise<boolean>;
}

const OS_RELEASE_PATHS = ["/etc/os-release", "/usr/lib/os-release"];

/** There only while systemd runs, as its own manual says. */
const SYSTEMD_FOLDER = "/run/systemd/system";

/** The machine that this program runs on. */
export const systemView: SystemView = {
  hostname: () => Deno.hostname(),
  async osRelease() {
    for (const path of OS_RELEASE_PATHS) {
      const bytes = await systemFiles.read(path, CONFIG_BYTES_MAX);
      if (bytes !== null) return new TextDecoder().decode(bytes);
    }
    return null;
  },
  kernel: () => Deno.build.os,
  kernelRelease: () => Deno.osRelease(),
  arch: () => Deno.build.arch,
  cpus: () => navigator.hardwareConcurrency,
  memoryBytes: () => Deno.systemMemoryInfo().total,
  addresses: () =>
    Deno.networkInterfaces().map(({ name, family, address }) => ({
      interface: name,
      family,
      address,
    })),
  async runsSystemd() {
    try {
      return (await Deno.stat(SYSTEMD_FOLDER)).isDirectory;
    } catch (thrown) {
      if (thrown instanceof Deno.errors.NotFound) return false;
      throw thrown;
    }
  },
};

/** Collects what this peel says of itself. A collector that fails is named in the log; the others go on. */
import { toZesterError } from "../../core/errors.ts";
import type { SystemView } from "../../core/adapters/system_facts.ts";
import type { Log } from "../../core/log.ts";
import { readOsRelease } from "./os_release.ts";

/** Facts by name. Names are part of the interface: they are added, never renamed. */
export type FactValues = Readonly<Record<string, unknown>>;

/** What collectors may look at. */
export interface FactSources {
  readonly peelId: string;
  readonly version: string;
  readonly system: SystemView;
  /** What the owner of the host has set. */
  readonly custom?: () => Promise<FactValues>;
  /** What the peel can do beyond what it is shipped with, and what its host forbids it. */
  readonly abilities?: () => Promise<FactValues>;
}

type Collector = (sources: FactSources) => FactValues | Promise<FactValues>;

const BYTES_PER_MB = 1_048_576;

/** Every collector by name; later ones win where two give the same fact. */
const COLLECTORS: Readonly<Record<string, Collector>> = {
  identity: ({ peelId, version }) => ({ id: peelId, zester_version: version }),
  host: ({ system }) => ({ host: system.hostname() }),
  os: async ({ system }) => {
    const text = await system.osRelease();
    const kernel = system.kernel();
    return text === null ? { os: kernel, os_family: kernel } : readOsRelease(text);
  },
  kernel: ({ system }) => ({ kernel: system.kernel(), kernel_release: system.kernelRelease() }),
  hardware: ({ system }) => ({
    arch: system.arch(),
    cpus: system.cpus(),
    memory_mb: Math.round(system.memoryBytes() / BYTES_PER_MB),
  }),
  services: async ({ system }) => ({
    service_manager: await system.runsSystemd() ? "systemd" : "supervisor",
  }),
  network: ({ system }) => {
    const addresses = system.addresses();
    const of = (family: "IPv4" | "IPv6") =>
      [...new Set(addresses.filter((each) => each.family === family).map((each) => each.address))]
        .sort();
    return { ipv4: of("IPv4"), ipv6: of("IPv6") };
  },
  custom: async ({ custom }) => await custom?.() ?? {},
  abilities: async ({ abilities }) => await abilities?.() ?? {},
};

/** All facts, with those of failed collectors left out. */
export async function collectFacts(sources: FactSources, log: Log): Promise<FactValues> {
  const facts: Record<string, unknown> = {};
  for (const [name, collect] of Object.entries(COLLECTORS)) {
    try {
      Object.assign(facts, await collect(sources));
    } catch (thrown) {
      log.warn("facts not collected", { collector: name, error: toZesterError(thrown, name) });
    }
  }
  return facts;
}

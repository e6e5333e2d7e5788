/** Managers of services behind one small interface, and which of them a host has. */
import {
  checked,
  type Facts,
  type Grant,
  type Host,
  line,
  type Param,
  primary,
  type Program,
} from "../../core/module.ts";
import { supervisor } from "./_supervisor.ts";
import { systemd } from "./_systemd.ts";

/** What a manager can be told to do with a service: what undoes it, and how it is reported. */
export const VERBS = {
  start: { undo: "stop", past: "started" },
  stop: { undo: "start", past: "stopped" },
  restart: { undo: null, past: "restarted" },
  reload: { undo: null, past: "reloaded" },
  enable: { undo: "disable", past: "enabled" },
  disable: { undo: "enable", past: "disabled" },
  mask: { undo: "unmask", past: "masked" },
  unmask: { undo: "mask", past: "unmasked" },
} as const;

export type Verb = keyof typeof VERBS;

/**
 * Whether a service starts at boot. `fixed`: that is not for anybody to say, such as a static unit. `masked`: it cannot be
 * started at all.
 */
export type AtBoot = "yes" | "no" | "fixed" | "masked";

/** What is needed of a manager: a look, or a deed. */
export type ServiceNeed = "running" | "boot" | Verb;

/** One service in a list. A type, so that it counts as plain data. */
export type ServiceRow = {
  readonly name: string;
  readonly running: boolean;
  readonly at_boot: AtBoot;
};

/** What a manager can be asked and told. Each need has its grant, so that grants are made before anything runs. */
export interface ServiceManager {
  readonly name: string;
  grantFor(need: ServiceNeed, service: string): Grant;
  isRunning(host: Host, service: string): Promise<boolean>;
  atBoot(host: Host, service: string): Promise<AtBoot>;
  /** Throws with the manager's own words when it fails. */
  tell(host: Host, verb: Verb, service: string): Promise<void>;
  readonly listGrant: Grant;
  list(host: Host): Promise<ServiceRow[]>;
  logsGrant(service: string, lines: number): Grant;
  logs(host: Host, service: string, lines: number): Promise<string>;
}

const MANAGERS = { systemd, supervisor } as const satisfies Record<string, ServiceManager>;

/** There exactly when systemd runs, which is more than being installed. */
const SYSTEMD_RUNS = "/run/systemd/system";

/** The fact `service_manager` decides; without it the host is looked at when the call runs. */
function fixedBy(facts: Facts): ServiceManager | null {
  const named = String(facts["service_manager"] ?? "");
  return Object.hasOwn(MANAGERS, named) ? MANAGERS[named as keyof typeof MANAGERS] : null;
}

/** The manager of the host. */
export async function managerOn(host: Host): Promise<ServiceManager> {
  const fixed = fixedBy(host.facts);
  if (fixed !== null) return fixed;
  return await host.stat(SYSTEMD_RUNS) === null ? supervisor : systemd;
}

/** The grant for whichever manager the host turns out to have. */
export function managerGrant(facts: Facts, grantOf: (manager: ServiceManager) => Grant): Grant {
  const fixed = fixedBy(facts);
  if (fixed !== null) return grantOf(fixed);
  return joined([{ read: [SYSTEMD_RUNS] }, ...Object.values(MANAGERS).map(grantOf)]);
}

/** The grant of a call that needs these things of one service. */
export function serviceGrant(
  facts: Facts,
  service: string,
  needs: readonly ServiceNeed[],
): Grant {
  return managerGrant(
    facts,
    (manager) => joined(needs.map((need) => manager.grantFor(need, service))),
  );
}

type FileGrant = Required<Pick<Grant, "read" | "write" | "probe" | "run">>;

/** All of several grants, each thing once, and no kind without a thing. */
export function joined(grants: readonly Grant[]): Grant {
  const strings = (kind: "read" | "write") => [...new Set(grants.flatMap((g) => g[kind] ?? []))];
  const programs = (kind: "probe" | "run") => [
    ...new Map(
      grants.flatMap((g) => g[kind] ?? []).map((p): [string, Program] => [p.join("\0"), p]),
    )
      .values(),
  ];
  const all: FileGrant = {
    read: strings("read"),
    write: strings("write"),
    probe: programs("probe"),
    run: programs("run"),
  };
  return Object.fromEntries(Object.entries(all).filter(([, things]) => things.length > 0));
}

/** Nothing that could be taken for an option, a path or a pattern. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]*$/;

/** The service of a call. */
export function serviceName(): Param<string> {
  const name = checked(
    line("Service."),
    (value) => NAME.test(value) ? null : `${JSON.stringify(value)} is no name of a service`,
  );
  return primary(name, "service");
}

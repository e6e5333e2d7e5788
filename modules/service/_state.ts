/** What all states of services do: compare what is wanted with what is, take the steps between, and know the way back. */
import { type Change, type Facts, type Grant, type Host, StateFailure } from "../../core/module.ts";
import {
  type AtBoot,
  managerOn,
  serviceGrant,
  type ServiceManager,
  type ServiceNeed,
  type Verb,
  VERBS,
} from "./_manager.ts";

/** What is wanted of a service; what is absent is not looked at. */
export interface Wanted {
  readonly running?: boolean | undefined;
  readonly atBoot?: boolean | undefined;
  readonly masked?: boolean | undefined;
  /** What to do with a service that runs, when something that it watches has changed. */
  readonly onWatch?: "restart" | "reload";
}

/** What was found, as far as it was looked for. */
export interface Seen {
  readonly running?: boolean;
  readonly atBoot?: AtBoot;
}

interface Step {
  readonly verb: Verb;
  /** What is wrong without it. */
  readonly why: string;
}

/** Pure: the steps from what is to what is wanted, in the order in which they are taken. */
export function planService(service: string, want: Wanted, seen: Seen): Step[] {
  const steps: Step[] = [];
  if (want.masked === true && seen.atBoot !== "masked") {
    steps.push({ verb: "mask", why: `${service} is not masked` });
  }
  if (want.masked === false && seen.atBoot === "masked") {
    steps.push({ verb: "unmask", why: `${service} is masked` });
  }
  if (want.atBoot === true && (seen.atBoot === "no" || seen.atBoot === "masked")) {
    steps.push({ verb: "enable", why: `${service} is not enabled at boot` });
  }
  if (want.atBoot === false && seen.atBoot === "yes") {
    steps.push({ verb: "disable", why: `${service} is enabled at boot and should not be` });
  }
  if (want.running === true && seen.running === false) {
    steps.push({ verb: "start", why: `${service} is not running` });
  }
  if (want.running === false && seen.running === true) {
    steps.push({ verb: "stop", why: `${service} is running` });
  }
  return steps;
}

/** The steps that undo those which were taken, last one first. */
export interface ServiceMemo {
  readonly undo: readonly Verb[];
}

/** The grant: looks, deeds, and what undoes them. */
export function stateGrant(facts: Facts, service: string, want: Wanted): Grant {
  const needs: ServiceNeed[] = [];
  if (want.running !== undefined) needs.push("running", "start", "stop");
  if (want.atBoot !== undefined) needs.push("boot", "enable", "disable");
  if (want.masked !== undefined) needs.push("boot", "mask", "unmask");
  if (want.onWatch !== undefined) needs.push("restart");
  if (want.onWatch === "reload") needs.push("reload");
  return serviceGrant(facts, service, needs);
}

async function observe(
  manager: ServiceManager,
  host: Host,
  service: string,
  want: Wanted,
): Promise<Seen> {
  const asksBoot = want.atBoot !== undefined || want.masked !== undefined;
  return {
    ...(want.running === undefined ? {} : { running: await manager.isRunning(host, service) }),
    ...(asksBoot ? { atBoot: await manager.atBoot(host, service) } : {}),
  };
}

/** What differs, in words; null when nothing does. */
export async function checkService(host: Host, service: string, want: Wanted) {
  const manager = await managerOn(host);
  const steps = planService(service, want, await observe(manager, host, service, want));
  return steps.length === 0 ? null : { diff: steps.map(({ why }) => why).join("; ") };
}

/** Takes the steps that are needed; a watched change restarts or reloads what ran all along. */
export async function applyService(
  host: Host,
  service: string,
  { want, isForced }: { want: Wanted; isForced: boolean },
): Promise<(Change & { memo: ServiceMemo }) | null> {
  const manager = await managerOn(host);
  const seen = await observe(manager, host, service, want);
  const steps: Verb[] = planService(service, want, seen).map(({ verb }) => verb);
  if (isForced && seen.running && want.onWatch !== undefined) {
    // The plain supervisor knows no reload: a restart brings the change in as well.
    const isRestart = want.onWatch === "restart" || manager.name === "supervisor";
    steps.push(isRestart ? "restart" : "reload");
  }
  if (steps.length === 0) return null;
  const done = await take(steps, { manager, host, service });
  await requireReached({ manager, host, service, want, done });
  return {
    diff: `${service}: ${pastOf(done)} via ${manager.name}`,
    details: detailsOf(service, manager, done),
    memo: memoOf(done),
  };
}

interface Place {
  readonly manager: ServiceManager;
  readonly host: Host;
  readonly service: string;
}

/** One after the other. When one fails, what was done before is told, and can be undone. */
async function take(steps: readonly Verb[], { manager, host, service }: Place): Promise<Verb[]> {
  const done: Verb[] = [];
  for (const verb of steps) {
    try {
      await manager.tell(host, verb, service);
    } catch (thrown) {
      throw new StateFailure((thrown as Error).message, {
        details: detailsOf(service, manager, done),
        changed: done.length > 0,
        memo: memoOf(done),
      });
    }
    done.push(verb);
  }
  return done;
}

/** A manager may report success for a service that ends at once. */
async function requireReached(
  { manager, host, service, want, done }: Place & { want: Wanted; done: readonly Verb[] },
): Promise<void> {
  if (want.running === undefined) return;
  if (await manager.isRunning(host, service) === want.running) return;
  const found = want.running ? "is not running" : "is still running";
  throw new StateFailure(`${manager.name} reported success, but ${service} ${found}`, {
    details: detailsOf(service, manager, done),
    changed: true,
    memo: memoOf(done),
  });
}

function pastOf(done: readonly Verb[]): string {
  return done.map((verb) => VERBS[verb].past).join(", ");
}

function detailsOf(service: string, { name }: ServiceManager, done: readonly Verb[]) {
  return { service, action: pastOf(done), manager: name };
}

function memoOf(done: readonly Verb[]): ServiceMemo {
  return { undo: done.map((verb) => VERBS[verb].undo).filter((undo) => undo !== null).reverse() };
}

/** Takes the steps back. */
export async function revertService(
  host: Host,
  service: string,
  { undo }: ServiceMemo,
): Promise<Change | null> {
  if (undo.length === 0) return null;
  const manager = await managerOn(host);
  const done = await take(undo, { manager, host, service });
  return { diff: `${service}: ${pastOf(done)} via ${manager.name}` };
}

/** Package managers behind one small interface: what is asked of them, and which one a host has. */
import { LIST_OUTPUT_BYTES_MAX } from "../../core/limits.ts";
import {
  checked,
  type Facts,
  familyOf,
  type Host,
  line,
  type Param,
  type Program,
  type RunOptions,
} from "../../core/module.ts";
import { apk } from "./_apk.ts";
import { apt } from "./_apt.ts";
import { brew } from "./_brew.ts";
import { dnf, yum } from "./_rpm.ts";
import { zypper } from "./_zypper.ts";

/** One package as it is wanted. */
export interface Wanted {
  readonly name: string;
  readonly version?: string | undefined;
}

/** What a manager can be asked and told. Programs are data, so that grants can be made from them before anything runs. */
export interface PackageManager {
  readonly name: string;
  /** Added to the environment of every program. */
  readonly env: Readonly<Record<string, string>>;
  /** Asks for the installed version of some packages. */
  versionsProgram(names: readonly string[]): Program;
  /** Installed versions by name, from what that program printed. */
  readVersions(names: readonly string[], answer: Answer): ReadonlyMap<string, string>;
  /** Asks for all packages. */
  readonly listProgram: Program;
  readList(answer: Answer): ReadonlyMap<string, string>;
  installProgram(wanted: readonly Wanted[]): Program;
  removeProgram(names: readonly string[]): Program;
  /** Removes configuration too, where the manager knows the difference. */
  purgeProgram(names: readonly string[]): Program;
  refreshProgram: Program;
  /** Asks which packages could be newer. */
  upgradesProgram: Program;
  /** Versions that are on offer, by name, for what could be newer. */
  readUpgrades(answer: Answer): ReadonlyMap<string, string>;
  upgradeProgram: Program;
  /** Whether the program failed only because another one holds the lock. */
  isLocked(answer: Answer): boolean;
  /** Asks which of these packages are there or have left configuration behind. */
  leftoversProgram(names: readonly string[]): Program;
  readLeftovers(names: readonly string[], answer: Answer): readonly string[];
}

/** What a program answered. */
export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MANAGERS = { apt, dnf, yum, zypper, apk, brew } as const;

export type ManagerName = keyof typeof MANAGERS;

const BY_FAMILY: Readonly<Record<string, ManagerName>> = {
  debian: "apt",
  redhat: "dnf",
  suse: "zypper",
  alpine: "apk",
  darwin: "brew",
};

/** The manager of a host: the fact `package_manager` decides, then the family. */
export function managerOf(facts: Facts): PackageManager {
  const named = String(facts["package_manager"] ?? "");
  const name = Object.hasOwn(MANAGERS, named) ? named as ManagerName : BY_FAMILY[familyOf(facts)];
  if (name === undefined) throw new Error("no package provider available");
  return MANAGERS[name];
}

// ---- parameters ----------------------------------------------------------------------------------------------

/** Nothing that could be taken for an option, a path, a pattern or a shell word. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9+._:@-]*$/;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9+.:~_^-]*$/;

/** What is wrong with the name of a package; null when nothing is. */
export function wrongName(name: string): string | null {
  return NAME.test(name) ? null : `${JSON.stringify(name)} is no name of a package`;
}

/** A package name. */
export function packageName(usage: string): Param<string> {
  return checked(line(usage), wrongName);
}

/** A version as the manager spells it. */
export function packageVersion(usage: string): Param<string> {
  return checked(
    line(usage),
    (version) => VERSION.test(version) ? null : `${JSON.stringify(version)} is no version`,
  );
}

// ---- running -------------------------------------------------------------------------------------------------

/** Another program may hold the lock of the manager for minutes: it is waited for. */
const LOCK_WAIT_TRIES = 60;

/** Asks a program of the manager. What it answers is for the caller to judge. */
export async function ask(host: Host, manager: PackageManager, program: Program): Promise<Answer> {
  return await host.run(program, { env: manager.env, outputBytesMax: LIST_OUTPUT_BYTES_MAX });
}

/** Has the manager do something, waiting while another program holds its lock. Throws when it fails. */
export async function tell(
  host: Host,
  manager: PackageManager,
  program: Program,
  options: RunOptions = {},
): Promise<void> {
  for (let tries = 1;; tries++) {
    const answer = await host.run(program, {
      env: manager.env,
      outputBytesMax: LIST_OUTPUT_BYTES_MAX,
      ...options,
    });
    if (answer.code === 0) return;
    if (!manager.isLocked(answer) || tries >= LOCK_WAIT_TRIES) {
      throw new Error(`${program.slice(0, 2).join(" ")}: ${lastLines(answer)}`);
    }
    await host.sleep(1_000);
  }
}

const SHOWN_LINES = 5;

/** The end of what a program said: that is where the reason stands. */
export function lastLines({ code, stdout, stderr }: Answer): string {
  const said = (stderr.trim() || stdout.trim()).split("\n").slice(-SHOWN_LINES).join("\n");
  return said === "" ? `exit status ${code}` : `exit status ${code}: ${said}`;
}

/** Installed versions of some packages. */
export async function versionsOf(
  host: Host,
  manager: PackageManager,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return manager.readVersions(names, await ask(host, manager, manager.versionsProgram(names)));
}

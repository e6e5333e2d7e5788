/** systemd, through `systemctl` and `journalctl`. A failure to look is told apart from the answer "no". */
import { LIST_OUTPUT_BYTES_MAX } from "../../core/limits.ts";
import { failureOf, type Host, perform, type Program } from "../../core/module.ts";
import type { AtBoot, ServiceManager, ServiceNeed, ServiceRow, Verb } from "./_manager.ts";

const LIST_UNITS: Program = [
  "systemctl",
  "list-units",
  "--type=service",
  "--all",
  "--plain",
  "--no-legend",
  "--no-pager",
];
const LIST_FILES: Program = [
  "systemctl",
  "list-unit-files",
  "--type=service",
  "--no-legend",
  "--no-pager",
];

/** `systemctl is-active` prints the same word, but ends alike when it could not look and when the answer is no. */
function showProgram(service: string): Program {
  return ["systemctl", "show", "--property=ActiveState", "--", service];
}

function enabledProgram(service: string): Program {
  return ["systemctl", "is-enabled", "--", service];
}

function verbProgram(verb: Verb, service: string): Program {
  return ["systemctl", verb, "--", service];
}

function logsProgram(service: string, lines: number): Program {
  return [
    "journalctl",
    "--no-pager",
    "--output=short-iso",
    `--lines=${lines}`,
    `--unit=${service}`,
  ];
}

/** The words of `systemctl is-enabled`; what is not here means no. */
const AT_BOOT: Readonly<Record<string, AtBoot>> = {
  enabled: "yes",
  "enabled-runtime": "yes",
  alias: "yes",
  static: "fixed",
  indirect: "fixed",
  generated: "fixed",
  transient: "fixed",
  masked: "masked",
  "masked-runtime": "masked",
};

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether the answer of `systemctl show` says that it runs. */
export function readRunning(answer: Answer): boolean {
  const state = /^ActiveState=(.*)$/m.exec(answer.stdout)?.[1];
  if (answer.code !== 0 || state === undefined) {
    throw new Error(`systemctl show: ${failureOf(answer)}`);
  }
  return state === "active" || state === "reloading" || state === "refreshing";
}

/** The answer of `systemctl is-enabled`. A unit that does not exist does not start at boot. */
export function readAtBoot(answer: Answer): AtBoot {
  const word = answer.stdout.trim();
  if (word !== "") return wordAtBoot(word);
  if (/No such file|not found|does not exist/i.test(answer.stderr)) return "no";
  throw new Error(`systemctl is-enabled: ${failureOf(answer)}`);
}

function wordAtBoot(word: string): AtBoot {
  return Object.hasOwn(AT_BOOT, word) ? AT_BOOT[word]! : "no";
}

/** The services of `list-units` and `list-unit-files` together. */
export function readServices(units: string, files: string): ServiceRow[] {
  const atBoot = new Map(rowsOf(files).map(([unit = "", state = ""]) => [unit, wordAtBoot(state)]));
  const running = new Map(
    rowsOf(units).map(([unit = "", , active = ""]) => [unit, active === "active"]),
  );
  return [...new Set([...running.keys(), ...atBoot.keys()])].sort().map((unit) => ({
    name: unit.replace(/\.service$/, ""),
    running: running.get(unit) ?? false,
    at_boot: atBoot.get(unit) ?? "no",
  }));
}

/** A failed unit has a dot before it. */
function rowsOf(text: string): string[][] {
  return text.split("\n").map((line) => line.replace(/^[●*\s]+/, "").split(/\s+/))
    .filter(([unit]) => unit?.endsWith(".service"));
}

async function run(host: Host, program: Program): Promise<string> {
  return (await perform(host, program, { outputBytesMax: LIST_OUTPUT_BYTES_MAX })).stdout;
}

export const systemd: ServiceManager = {
  name: "systemd",
  grantFor(need: ServiceNeed, service) {
    if (need === "running") return { probe: [showProgram(service)] };
    if (need === "boot") return { probe: [enabledProgram(service)] };
    return { run: [verbProgram(need, service)] };
  },
  isRunning: async (host, service) => readRunning(await host.run(showProgram(service))),
  atBoot: async (host, service) => readAtBoot(await host.run(enabledProgram(service))),
  async tell(host, verb, service) {
    const answer = await host.run(verbProgram(verb, service));
    if (answer.code !== 0) throw new Error(`systemctl ${verb} ${service}: ${failureOf(answer)}`);
  },
  listGrant: { probe: [LIST_UNITS, LIST_FILES] },
  list: async (host) => readServices(await run(host, LIST_UNITS), await run(host, LIST_FILES)),
  logsGrant: (service, lines) => ({ probe: [logsProgram(service, lines)] }),
  logs: (host, service, lines) => run(host, logsProgram(service, lines)),
};

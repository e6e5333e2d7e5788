/**
 * A plain supervisor for hosts where systemd does not run, made of programs that every Debian has. A service is an
 * executable `/etc/zester/services/<name>/run` that stays in the foreground, as with runit; the file `enabled` beside it says
 * that it should start at boot.
 *
 * A running service is `start-stop-daemon` → `flock` → `timeout` → `run`, of which the first three become one process, the
 * leader of a group. `flock` holds a lock on the file with the process id for as long as the service lives, so a number that is
 * left from before a restart of the container, where the same numbers are given again soon, is never taken for the service:
 * nobody holds that lock. `timeout`, without a time, passes an end on to the whole group, and ends by force what does not go.
 *
 * The command is not part of any grant: the name of the service is, and with it the one file that is run.
 */
import { SERVICE_POLL_MS, SERVICE_POLLS_MAX, SERVICE_SETTLE_MS } from "../../core/limits.ts";
import { failureOf, type Grant, type Host, perform, type Program } from "../../core/module.ts";
import type { ServiceManager, ServiceNeed, ServiceRow, Verb } from "./_manager.ts";

const SERVICES = "/etc/zester/services";
const RUNNING = "/run/zester/services";
const LOGS = "/var/log/zester/services";
const LOCKS = "/proc/locks";
const FLOCK = "/usr/bin/flock";
const TIMEOUT = "/usr/bin/timeout";

/** What a service has to end in before it is killed; a little later `start-stop-daemon` gives up as well. */
const END_SECONDS = 10;
const GIVE_UP = `TERM/${END_SECONDS + 5}/KILL/2`;

/** A look holds the lock too, for a moment; a start waits for that long. */
const LOCK_SECONDS = 5;
const IS_LOCKED = 75;

const EXECUTABLE = 0o111;

interface Paths {
  readonly run: string;
  readonly enabled: string;
  readonly pid: string;
  readonly log: string;
}

function pathsOf(service: string): Paths {
  return {
    run: `${SERVICES}/${service}/run`,
    enabled: `${SERVICES}/${service}/enabled`,
    pid: `${RUNNING}/${service}.pid`,
    log: `${LOGS}/${service}.log`,
  };
}

function startProgram({ run, pid, log }: Paths): Program {
  return [
    "start-stop-daemon",
    "--start",
    "--background",
    "--make-pidfile",
    `--pidfile=${pid}`,
    `--output=${log}`,
    `--startas=${FLOCK}`,
    "--",
    "--no-fork",
    `--wait=${LOCK_SECONDS}`,
    pid,
    TIMEOUT,
    `--kill-after=${END_SECONDS}`,
    "0",
    run,
  ];
}

function stopProgram({ pid }: Paths): Program {
  return [
    "start-stop-daemon",
    "--stop",
    "--oknodo",
    "--remove-pidfile",
    `--retry=${GIVE_UP}`,
    `--exec=${TIMEOUT}`,
    `--pidfile=${pid}`,
  ];
}

function statusProgram({ pid }: Paths): Program {
  return ["start-stop-daemon", "--status", `--exec=${TIMEOUT}`, `--pidfile=${pid}`];
}

/** Ends with `IS_LOCKED` when the service holds its lock. */
function lockProgram({ pid }: Paths): Program {
  return ["flock", "--shared", "--nonblock", `--conflict-exit-code=${IS_LOCKED}`, pid, "true"];
}

function tailProgram({ log }: Paths, lines: number): Program {
  return ["tail", `--lines=${lines}`, "--", log];
}

// ---- looking -------------------------------------------------------------------------------------------------

/** What a service left behind may keep its lock, so the process itself is asked after too. */
async function isRunning(host: Host, service: string): Promise<boolean> {
  const paths = pathsOf(service);
  if (await host.stat(paths.pid) === null) return false;
  const lock = await host.run(lockProgram(paths));
  if (lock.code === 0) return false;
  if (lock.code !== IS_LOCKED) throw new Error(`flock: ${failureOf(lock)}`);
  return (await host.run(statusProgram(paths))).code === 0;
}

// ---- doing ---------------------------------------------------------------------------------------------------

async function requireService(host: Host, service: string): Promise<void> {
  const { run } = pathsOf(service);
  const found = await host.stat(run);
  if (found === null) throw new Error(`there is no service ${service}: ${run} is missing`);
  if (found.kind !== "file" || (found.mode & EXECUTABLE) === 0) {
    throw new Error(`${run} is no executable file`);
  }
}

async function start(host: Host, service: string): Promise<void> {
  if (await isRunning(host, service)) return;
  await requireService(host, service);
  const paths = pathsOf(service);
  for (const folder of [RUNNING, LOGS]) await host.makeFolder(folder, { parents: true });
  await host.remove(paths.pid); // The number in an old one may be somebody else's by now.
  await perform(host, startProgram(paths));
  await settle(host, service);
}

/** Waits until it runs, and a little longer, to see whether it stays. */
async function settle(host: Host, service: string): Promise<void> {
  for (let polls = 0; polls < SERVICE_POLLS_MAX && !await isRunning(host, service); polls++) {
    await host.sleep(SERVICE_POLL_MS);
  }
  await host.sleep(SERVICE_SETTLE_MS);
  if (await isRunning(host, service)) return;
  throw new Error(`${service} ended right after its start; ${pathsOf(service).log} may say why`);
}

async function stop(host: Host, service: string): Promise<void> {
  const paths = pathsOf(service);
  if (await isRunning(host, service)) await perform(host, stopProgram(paths));
  await host.remove(paths.pid);
}

const DEEDS: Readonly<Partial<Record<Verb, (host: Host, service: string) => Promise<void>>>> = {
  start,
  stop,
  async restart(host, service) {
    await stop(host, service);
    await start(host, service);
  },
  async enable(host, service) {
    await requireService(host, service);
    await host.replaceFile(pathsOf(service).enabled, "");
  },
  disable: (host, service) => host.remove(pathsOf(service).enabled),
};

// ---- grants --------------------------------------------------------------------------------------------------

function grantFor(need: ServiceNeed, service: string): Grant {
  const paths = pathsOf(service);
  const looks = { read: [paths.pid], probe: [lockProgram(paths), statusProgram(paths)] };
  const starts = { ...looks, read: [...looks.read, paths.run] };
  switch (need) {
    case "running":
      return looks;
    case "boot":
      return { read: [paths.enabled] };
    case "start":
      return { ...starts, write: [RUNNING, LOGS, paths.pid], run: [startProgram(paths)] };
    case "stop":
      return { ...looks, write: [paths.pid], run: [stopProgram(paths)] };
    case "restart":
      return {
        ...starts,
        write: [RUNNING, LOGS, paths.pid],
        run: [startProgram(paths), stopProgram(paths)],
      };
    case "enable":
      return { read: [paths.run], write: [paths.enabled] };
    case "disable":
      return { write: [paths.enabled] };
    case "reload":
    case "mask":
    case "unmask":
      return {};
  }
}

// ---- the list: no program can be granted for services whose names are not known beforehand ------------------------

/** The processes that hold a lock of the kind that `flock` takes, from `/proc/locks`. */
export function readLockers(text: string): ReadonlySet<string> {
  // 21: FLOCK  ADVISORY  WRITE 13378 fe:00:2179131 0 EOF
  const rows = text.matchAll(/^\d+: FLOCK\s+\S+\s+WRITE\s+(\d+)\s/gm);
  return new Set([...rows].map(([, pid]) => pid!));
}

interface PidFile {
  readonly name: string;
  readonly pid: string;
  readonly modifiedMs: number;
}

/** Pure: which services run. Of several that have the same number, all but the newest are left from before a restart. */
export function runningOf(
  files: readonly PidFile[],
  lockers: ReadonlySet<string>,
): ReadonlySet<string> {
  const oldestFirst = files.filter(({ pid }) => lockers.has(pid))
    .sort((one, other) => one.modifiedMs - other.modifiedMs);
  return new Set(new Map(oldestFirst.map(({ pid, name }) => [pid, name])).values());
}

async function list(host: Host): Promise<ServiceRow[]> {
  const folders = (await host.listFolder(SERVICES) ?? []).filter(({ kind }) => kind === "folder");
  const files: PidFile[] = [];
  for (const { name } of folders) files.push(...await readPidFile(host, name));
  const running = runningOf(files, readLockers(await readText(host, LOCKS) ?? ""));
  const rows: ServiceRow[] = [];
  for (const { name } of folders) {
    rows.push({ name, running: running.has(name), at_boot: await atBoot(host, name) });
  }
  return rows;
}

async function readPidFile(host: Host, name: string): Promise<PidFile[]> {
  const { pid: path } = pathsOf(name);
  const info = await host.stat(path);
  const pid = info === null ? null : await readText(host, path);
  return info === null || pid === null
    ? []
    : [{ name, pid: pid.trim(), modifiedMs: info.modifiedMs }];
}

async function readText(host: Host, path: string): Promise<string | null> {
  const bytes = await host.readFile(path);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

async function atBoot(host: Host, service: string): Promise<"yes" | "no"> {
  return await host.stat(pathsOf(service).enabled) === null ? "no" : "yes";
}

export const supervisor: ServiceManager = {
  name: "supervisor",
  grantFor,
  isRunning,
  atBoot,
  async tell(host, verb, service) {
    const deed = DEEDS[verb];
    if (deed === undefined) throw new Error(`the plain supervisor cannot ${verb} services`);
    await deed(host, service);
  },
  listGrant: { read: [SERVICES, `${SERVICES}/**`, `${RUNNING}/**`, LOCKS] },
  list,
  logsGrant: (service, lines) => ({
    read: [pathsOf(service).log],
    probe: [tailProgram(pathsOf(service), lines)],
  }),
  async logs(host, service, lines) {
    const paths = pathsOf(service);
    if (await host.stat(paths.log) === null) return "";
    return (await perform(host, tailProgram(paths, lines))).stdout;
  },
};

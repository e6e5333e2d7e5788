/** The plain supervisor with daemons of our own, in real workers, and what systemctl does for real without systemd. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import type { PlainValue } from "../../core/module.ts";
import { LAB_FACTS, type ModuleLab, openModuleLab } from "../../tests/fakes/module_lab.ts";

const SERVICES = "/etc/zester/services";

/** Folders that a service may be the first to need, inner ones first. */
const FOLDERS = ["/etc/zester", "/run/zester", "/var/log/zester"]
  .flatMap((folder) => [`${folder}/services`, folder]);

const isRoot = Deno.uid() === 0;

function hasTool(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function cannotSupervise(): boolean {
  return !isRoot || !hasTool("/usr/sbin/start-stop-daemon") || !hasTool("/usr/bin/flock");
}

interface Daemon {
  readonly name: string;
  readonly lab: ModuleLab;
  readonly pidFile: string;
  /** Where its script may leave things. */
  readonly folder: string;
}

/** Runs a test with a service whose script has `$0`'s folder to itself. */
async function withDaemon(
  name: string,
  script: string,
  test: (daemon: Daemon) => Promise<void>,
): Promise<void> {
  if (cannotSupervise()) return console.log("      skipped: needs root and start-stop-daemon");
  const folder = `${SERVICES}/${name}`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/run`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const lab = openModuleLab({ facts: { ...LAB_FACTS, service_manager: "supervisor" } });
  try {
    await test({ name, lab, folder, pidFile: `/run/zester/services/${name}.pid` });
  } finally {
    try {
      await lab.answer("service.stop", { id: name });
    } finally {
      lab.close();
      await Deno.remove(folder, { recursive: true });
      await Deno.remove(`/var/log/zester/services/${name}.log`).catch(() => {});
      for (const each of FOLDERS) await removeIfEmpty(each);
    }
  }
}

/** Leaves a folder that somebody else uses. */
async function removeIfEmpty(folder: string): Promise<void> {
  await Deno.remove(folder).catch(() => {});
}

/** One that has ended is there until somebody asks after it, which the first process of a container may never do. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => null);
  return stat !== null && !/\) [ZX] /.test(stat);
}

const readPid = async (path: string) => Number(await Deno.readTextFile(path));

function rowOf(list: PlainValue, name: string): PlainValue | undefined {
  return (list as PlainValue[]).find((row) => (row as { name: string }).name === name);
}

const SLEEPER =
  'echo "hello from $USER"\nsleep 600 &\necho $! > "$(dirname "$0")/child"\nexec sleep 600';

Deno.test("service.* starts, lists, restarts and stops a daemon with all that it started", () =>
  withDaemon("zt-sleeper", SLEEPER, async ({ name, lab, folder, pidFile }) => {
    const ask = (verb: string) => lab.answer(`service.${verb}`, { id: name });
    assert.equal(await ask("status"), "stopped");
    assert.equal(await ask("start"), `started ${name}`);
    assert.equal(await ask("status"), "running");
    const first = await readPid(pidFile);
    await ask("start");
    assert.equal(await readPid(pidFile), first, "what runs is not started again");
    assert.equal(await ask("logs"), "hello from root\n");

    await ask("enable");
    assert.deepEqual(rowOf(await lab.answer("service.list"), name), {
      name,
      running: true,
      at_boot: "yes",
    });
    await ask("disable");

    await ask("restart");
    assert.notEqual(await readPid(pidFile), first);
    const child = await readPid(`${folder}/child`);
    assert.ok(await isAlive(child));
    assert.equal(await ask("stop"), `stopped ${name}`);
    assert.equal(await ask("status"), "stopped");
    assert.equal(await isAlive(child), false, "the group goes, not only its leader");
    assert.deepEqual(rowOf(await lab.answer("service.list"), name), {
      name,
      running: false,
      at_boot: "no",
    });
    await assert.rejects(ask("reload"), /service\.reload: the plain supervisor cannot reload/);
  }));

Deno.test("service.status is not taken in by a number that belongs to another service now", () =>
  withDaemon("zt-other", SLEEPER, async ({ lab, pidFile }) => {
    await lab.answer("service.start", { id: "zt-other" });
    await withDaemon("zt-stale", SLEEPER, async (stale) => {
      await Deno.copyFile(pidFile, stale.pidFile);
      await Deno.utime(stale.pidFile, 1, 1);
      assert.equal(await lab.answer("service.status", { id: "zt-stale" }), "stopped");
      const row = rowOf(await lab.answer("service.list"), "zt-stale");
      assert.equal((row as { running: boolean }).running, false);
      await lab.answer("service.stop", { id: "zt-stale" });
      assert.equal(await lab.answer("service.status", { id: "zt-other" }), "running");
    });
  }));

Deno.test("service.running fails with the reason for what ends at once or is not there", async () => {
  await withDaemon("zt-brief", "exit 3", async ({ name, lab }) => {
    await assert.rejects(
      lab.apply("service.running", { id: name }),
      /service\.running: zt-brief ended right after its start/,
    );
    const missing = { id: "zt-missing" };
    assert.match((await lab.check("service.running", missing))!.diff, /is not running/);
    await assert.rejects(lab.apply("service.running", missing), /there is no service zt-missing/);
    assert.equal(await lab.check("service.dead", missing), null);
  });
});

Deno.test("service.running restarts on a watched change, and only then", () =>
  withDaemon("zt-watched", SLEEPER, async ({ name, lab, pidFile }) => {
    const given = { id: name, args: { reload: true } };
    const started = await lab.apply("service.running", given, { isForced: true });
    assert.deepEqual(started?.details, { service: name, action: "started", manager: "supervisor" });
    const first = await readPid(pidFile);
    assert.equal(await lab.apply("service.running", given), null);
    const forced = await lab.apply("service.running", given, { isForced: true });
    assert.equal(forced?.details?.["action"], "restarted");
    assert.notEqual(await readPid(pidFile), first);
    assert.equal(await lab.revert("service.running", given, forced?.memo), null);
  }));

Deno.test("service.stop ends by force what ignores the first signal", () =>
  withDaemon("zt-stubborn", 'trap "" TERM\nwhile :; do sleep 1; done', async ({ name, lab }) => {
    await lab.answer("service.start", { id: name });
    await lab.answer("service.stop", { id: name });
    assert.equal(await lab.answer("service.status", { id: name }), "stopped");
  }));

Deno.test("service.* refuses names that are options, paths or patterns", async () => {
  const lab = openModuleLab();
  try {
    for (const id of ["--now", "../x", "a/b", "a*", "a b", ".hidden", "a\nb"]) {
      await assert.rejects(lab.check("service.running", { id }), /parameter "name"/, id);
    }
  } finally {
    lab.close();
  }
});

Deno.test("service.* asks for the programs of one manager when the facts name it", async () => {
  const lab = openModuleLab({ facts: { ...LAB_FACTS, service_manager: "systemd" } });
  try {
    assert.deepEqual(await lab.grant("service.dead", { id: "nginx" }), {
      probe: [["systemctl", "show", "--property=ActiveState", "--", "nginx"]],
      run: [["systemctl", "start", "--", "nginx"], ["systemctl", "stop", "--", "nginx"]],
    });
  } finally {
    lab.close();
  }
});

const UNIT = "zt-unit.service";
const UNIT_PATH = `/etc/systemd/system/${UNIT}`;

/** `systemctl` enables and masks by links, which it does without a running systemd too. */
async function withUnit(folder: string, test: (lab: ModuleLab) => Promise<void>): Promise<void> {
  if (!isRoot || !hasTool("/usr/bin/systemctl")) return console.log("      skipped: no systemctl");
  const path = `${folder}/${UNIT}`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(
    path,
    "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
  );
  const lab = openModuleLab({ facts: { ...LAB_FACTS, service_manager: "systemd" } });
  try {
    await test(lab);
  } finally {
    lab.close();
    for (const each of [path, UNIT_PATH, `/etc/systemd/system/multi-user.target.wants/${UNIT}`]) {
      await Deno.remove(each).catch(() => {});
    }
    await removeIfEmpty(folder);
    await removeIfEmpty(dirname(folder));
  }
}

Deno.test("service.enabled and service.disabled move the links of a unit of systemd and back", () =>
  withUnit("/etc/systemd/system", async (lab) => {
    const given = { id: UNIT };
    assert.equal(await lab.check("service.disabled", given), null);
    const change = await lab.apply("service.enabled", given);
    assert.equal(change?.details?.["action"], "enabled");
    assert.equal(await lab.check("service.enabled", given), null);
    assert.equal(await lab.apply("service.enabled", given), null);
    const off = await lab.apply("service.disabled", given);
    await lab.revert("service.disabled", given, off?.memo);
    assert.equal(await lab.check("service.enabled", given), null);
    await lab.revert("service.enabled", given, change?.memo);
    assert.notEqual(await lab.check("service.enabled", given), null);
  }));

Deno.test("service.masked and service.unmasked move the mask of a unit of systemd and back", () =>
  withUnit("/usr/local/lib/systemd/system", async (lab) => {
    const given = { id: UNIT };
    assert.equal(await lab.check("service.unmasked", given), null);
    const change = await lab.apply("service.masked", given);
    assert.equal(await Deno.readLink(UNIT_PATH), "/dev/null");
    assert.equal(await lab.check("service.masked", given), null);
    const off = await lab.apply("service.unmasked", given);
    assert.equal(await lab.check("service.unmasked", given), null);
    await lab.revert("service.unmasked", given, off?.memo);
    assert.equal(await lab.check("service.masked", given), null);
    await lab.revert("service.masked", given, change?.memo);
    assert.notEqual(await lab.check("service.masked", given), null);
  }));

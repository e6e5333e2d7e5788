/**
 * Subjects of `service.*`: daemons of our own. Where systemd does not run they belong to the plain supervisor. Units of systemd
 * are enabled and masked for real too, since `systemctl` does that without a running systemd, but not through this suite: the
 * tests of the family do it.
 */
import assert from "node:assert/strict";
import type { ModuleFixture } from "../module_fixture.ts";
import { isThere, runTool } from "./_account_tools.ts";

const SERVICES = "/etc/zester/services";

/** Folders that a service may be the first to need, inner ones first. */
const FOLDERS = ["/etc/zester", "/run/zester", "/var/log/zester"]
  .flatMap((folder) => [`${folder}/services`, folder]);

async function skip(): Promise<string | null> {
  if (Deno.uid() !== 0) return "only root can start services";
  if (await isThere("/run/systemd/system")) return "systemd runs here: no plain supervisor";
  return await isThere("/usr/sbin/start-stop-daemon") ? null : "there is no start-stop-daemon";
}

const skipMasks = () =>
  Promise.resolve("masks are of systemd: modules/service/supervised_test.ts moves them for real");

async function pidOf(name: string): Promise<string | null> {
  const path = `/run/zester/services/${name}.pid`;
  return await isThere(path) ? (await Deno.readTextFile(path)).trim() : null;
}

async function isRunning(name: string): Promise<boolean> {
  const pid = await pidOf(name);
  return pid !== null && await isThere(`/proc/${pid}`);
}

async function stop(name: string): Promise<void> {
  const pid = await pidOf(name);
  if (pid !== null && await isThere(`/proc/${pid}`)) {
    await runTool("kill", ["-s", "KILL", "--", `-${pid}`]);
  }
}

/** A daemon of this name that sleeps, with a child that sleeps too. */
async function daemon(name: string) {
  const folder = `${SERVICES}/${name}`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/run`, "#!/bin/sh\nsleep 600 &\nexec sleep 600\n", {
    mode: 0o755,
  });
  return {
    look: async () => [await isRunning(name), await isThere(`${folder}/enabled`)],
    async cleanUp() {
      await stop(name);
      const files = [`/run/zester/services/${name}.pid`, `/var/log/zester/services/${name}.log`];
      for (const path of files) if (await isThere(path)) await Deno.remove(path);
      await Deno.remove(folder, { recursive: true });
      for (const each of FOLDERS) await Deno.remove(each).catch(() => {}); // somebody else may use it
    },
  };
}

async function started(name: string): Promise<void> {
  await runTool("start-stop-daemon", [
    "--start",
    "--background",
    "--make-pidfile",
    `--pidfile=/run/zester/services/${name}.pid`,
    "--startas=/usr/bin/flock",
    "--",
    "--no-fork",
    "--wait=5",
    `/run/zester/services/${name}.pid`,
    "/usr/bin/timeout",
    "--kill-after=10",
    "0",
    `${SERVICES}/${name}/run`,
  ]);
}

const SYSTEMD = /^(probe|run) systemctl /;

export const FIXTURES: readonly ModuleFixture[] = [
  {
    module: "service.running",
    title: "a stopped service that should start at boot",
    skip,
    async prepare() {
      const name = "zt-running";
      return {
        given: { id: name, args: { enable: true } },
        ...await daemon(name),
        verify: async () => assert.ok(await isRunning(name)),
      };
    },
    unused: [SYSTEMD],
  },
  {
    module: "service.dead",
    title: "a running service that starts at boot",
    skip,
    async prepare() {
      const name = "zt-dead";
      const made = await daemon(name);
      await Deno.mkdir("/run/zester/services", { recursive: true });
      await Deno.writeTextFile(`${SERVICES}/${name}/enabled`, "");
      await started(name);
      return {
        given: { id: name, args: { enable: false } },
        ...made,
        async verify() {
          assert.deepEqual(await made.look(), [false, false]);
        },
      };
    },
    unused: [SYSTEMD],
  },
  {
    module: "service.enabled",
    title: "a service that does not start at boot",
    skip,
    prepare: async () => ({ given: { id: "zt-enabled" }, ...await daemon("zt-enabled") }),
    unused: [SYSTEMD],
  },
  {
    module: "service.disabled",
    title: "a service that starts at boot",
    skip,
    async prepare() {
      const made = await daemon("zt-disabled");
      await Deno.writeTextFile(`${SERVICES}/zt-disabled/enabled`, "");
      return { given: { id: "zt-disabled" }, ...made };
    },
    unused: [SYSTEMD],
  },
  {
    module: "service.masked",
    title: "a service that is not masked",
    skip: skipMasks,
    prepare: () => Promise.resolve({ given: { id: "zt-masked" } }),
  },
  {
    module: "service.unmasked",
    title: "a service that is masked",
    skip: skipMasks,
    prepare: () => Promise.resolve({ given: { id: "zt-masked" } }),
  },
];

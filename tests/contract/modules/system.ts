/** Subjects of `sysctl.*`, `mount.*`, `timezone.*` and `locale.*`: harmless ones, each put back exactly as it was. */
import assert from "node:assert/strict";
import type { ModuleFixture, Prepared } from "../module_fixture.ts";
import { isThere, runTool } from "./_account_tools.ts";

async function rootWith(...tools: string[]): Promise<string | null> {
  if (Deno.uid() !== 0) return "only root can do this";
  for (const tool of tools) if (!await isThere(tool)) return `there is no ${tool}`;
  return null;
}

type Kept = { link: string } | { text: string } | null;

async function kept(path: string): Promise<Kept> {
  if (!await isThere(path)) return null;
  if ((await Deno.lstat(path)).isSymlink) return { link: await Deno.readLink(path) };
  return { text: await Deno.readTextFile(path) };
}

/** Looks at files, and puts them back in the end whatever happened. */
async function watched(
  paths: readonly string[],
): Promise<Required<Pick<Prepared, "look" | "cleanUp">>> {
  const look = () => Promise.all(paths.map(kept));
  const before = await look();
  return {
    look,
    async cleanUp() {
      for (const [index, path] of paths.entries()) {
        const was = before[index] ?? null;
        if (JSON.stringify(await kept(path)) === JSON.stringify(was)) continue;
        if (await isThere(path)) await Deno.remove(path);
        if (was !== null && "link" in was) await Deno.symlink(was.link, path);
        else if (was !== null) await Deno.writeTextFile(path, was.text);
      }
    },
  };
}

// ---- sysctl --------------------------------------------------------------------------------------------------

/** The NIS domain name, which nobody here uses. */
const KEY = "kernel.domainname";
const KEY_PATH = "/proc/sys/kernel/domainname";

async function sysctlSkip(): Promise<string | null> {
  const reason = await rootWith("/usr/sbin/sysctl", KEY_PATH);
  if (reason !== null) return reason;
  const was = await Deno.readTextFile(KEY_PATH);
  try {
    await Deno.writeTextFile(KEY_PATH, was);
    return null;
  } catch (thrown) {
    return `${KEY_PATH} cannot be written: ${(thrown as Error).message}`;
  }
}

async function sysctlSubject(file: string | null, folder: string): Promise<Prepared> {
  const config = `${folder}/99-zester.conf`;
  if (file !== null) await Deno.writeTextFile(config, file);
  const was = await Deno.readTextFile(KEY_PATH);
  return {
    given: { id: KEY, args: { value: "zt.example", config } },
    look: () => Deno.readTextFile(KEY_PATH),
    async verify() {
      assert.equal(await Deno.readTextFile(KEY_PATH), "zt.example\n");
      assert.match(await Deno.readTextFile(config), /^kernel\.domainname = zt\.example$/m);
    },
    cleanUp: () => Deno.writeTextFile(KEY_PATH, was),
  };
}

// ---- mounts --------------------------------------------------------------------------------------------------

const FSTAB = "/etc/fstab";

async function mountSkip(): Promise<string | null> {
  const reason = await rootWith("/usr/bin/mount", "/usr/bin/umount");
  if (reason !== null) return reason;
  const folder = await Deno.makeTempDir({ prefix: "zester-mount-" });
  try {
    await runTool("mount", ["-t", "tmpfs", "--", "tmpfs", folder]);
    await runTool("umount", ["--", folder]);
    return null;
  } catch (thrown) {
    return `mounts are not permitted here: ${(thrown as Error).message.trim()}`;
  } finally {
    await Deno.remove(folder);
  }
}

async function isMounted(point: string): Promise<boolean> {
  return (await Deno.readTextFile("/proc/mounts")).includes(` ${point} `);
}

/** A point that is looked at together with fstab. */
async function pointAt(point: string) {
  const fstab = await watched([FSTAB]);
  return {
    look: async () => [await isMounted(point), await fstab.look()],
    async cleanUp() {
      if (await isMounted(point)) await runTool("umount", ["--", point]);
      await fstab.cleanUp();
    },
  };
}

const TMPFS = { device: "tmpfs", fstype: "tmpfs", opts: "size=64k,mode=0700" };

// ---- time zones and locales ----------------------------------------------------------------------------------

const ZONES = "/usr/share/zoneinfo";
const zoneFiles = () => watched(["/etc/localtime", "/etc/timezone"]);

async function otherZone(): Promise<string> {
  const now = await Deno.readLink("/etc/localtime");
  return now.endsWith("Europe/Oslo") ? "Europe/Madrid" : "Europe/Oslo";
}

const LOCALE = "fur_IT.UTF-8";

async function localeSkip(): Promise<string | null> {
  const reason = await rootWith("/usr/sbin/locale-gen", "/etc/locale.gen");
  if (reason !== null) return reason;
  const made = await runTool("locale", ["-a"]);
  return made.split("\n").every((line) => ["C", "C.utf8", "POSIX", ""].includes(line))
    ? null
    : "this host has locales, which would all be made anew";
}

export const FIXTURES: readonly ModuleFixture[] = [
  {
    module: "sysctl.present",
    title: "a value that no file keeps",
    skip: sysctlSkip,
    prepare: (folder) => sysctlSubject(null, folder),
  },
  {
    module: "sysctl.present",
    title: "a value that a file keeps otherwise",
    skip: sysctlSkip,
    prepare: (folder) =>
      sysctlSubject("# ours\nvm.swappiness = 10\nkernel.domainname = old\nfs.x = 1\n", folder),
  },
  {
    module: "mount.mounted",
    title: "a tmpfs on a new folder, kept in fstab",
    skip: mountSkip,
    async prepare(folder) {
      const point = `${folder}/point`;
      return {
        given: { id: point, args: { ...TMPFS, mkmnt: true } },
        ...await pointAt(point),
        async verify() {
          assert.ok(await isMounted(point));
          assert.equal((await Deno.stat(point)).mode! & 0o777, 0o700);
          const line = `tmpfs\t${point}\ttmpfs\tsize=64k,mode=0700\t0\t0`;
          assert.ok((await Deno.readTextFile(FSTAB)).split("\n").includes(line));
        },
      };
    },
  },
  {
    module: "mount.mounted",
    title: "a tmpfs for now",
    skip: mountSkip,
    prepare: async (folder) => ({
      given: { id: folder, args: { ...TMPFS, persist: false } },
      ...await pointAt(folder),
    }),
  },
  {
    module: "mount.unmounted",
    title: "a tmpfs that fstab names",
    skip: mountSkip,
    async prepare(folder) {
      const point = `${folder}/point`;
      await Deno.mkdir(point);
      const { cleanUp } = await pointAt(point);
      const line = `tmpfs  ${point}  tmpfs  size=64k,mode=0700  0 0`;
      await Deno.writeTextFile(FSTAB, `${await Deno.readTextFile(FSTAB)}${line}\n`);
      await runTool("mount", ["--", point]);
      return {
        given: { id: point, args: { persist: true } },
        look: async () => [await isMounted(point), await kept(FSTAB)],
        verify: async () => assert.equal(await isMounted(point), false),
        cleanUp,
      };
    },
  },
  {
    module: "timezone.system",
    title: "another zone",
    skip: () => rootWith("/etc/localtime", `${ZONES}/Europe/Oslo`, `${ZONES}/Europe/Madrid`),
    async prepare() {
      const zone = await otherZone();
      return {
        given: { id: zone },
        ...await zoneFiles(),
        verify: async () => assert.equal(await Deno.readLink("/etc/localtime"), `${ZONES}/${zone}`),
      };
    },
  },
  {
    module: "locale.present",
    title: "a locale that is commented out",
    skip: localeSkip,
    async prepare() {
      const file = await watched(["/etc/locale.gen"]);
      return {
        given: { id: LOCALE },
        look: async () => [await file.look(), await runTool("locale", ["-a"])],
        verify: async () => assert.match(await runTool("locale", ["-a"]), /^fur_IT\.utf8$/m),
        cleanUp: file.cleanUp,
      };
    },
  },
];

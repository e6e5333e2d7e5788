/** Subjects of `cron.*`: the crontab of `nobody`, put back as it was. */
import assert from "node:assert/strict";
import type { ModuleFixture } from "../module_fixture.ts";
import { isThere } from "./_account_tools.ts";

const USER = "nobody";
const OTHERS = "# somebody's\nMAILTO=root\n5 4 * * 0 /bin/weekly\n@reboot /bin/boot\n";

async function skip(): Promise<string | null> {
  if (Deno.uid() !== 0) return "only root can edit the crontab of another user";
  return await isThere("/usr/bin/crontab") || await isThere("/usr/local/sbin/crontab")
    ? null
    : "crontab is not installed";
}

async function crontab(args: readonly string[], stdin = ""): Promise<string | null> {
  const child = new Deno.Command("crontab", {
    args: ["-u", USER, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(stdin));
  await writer.close();
  const { code, stdout } = await child.output();
  return code === 0 ? new TextDecoder().decode(stdout) : null;
}

const look = () => crontab(["-l"]);

async function put(table: string | null): Promise<void> {
  if (table !== null) await crontab(["-"], table);
  else if (await look() !== null) await crontab(["-r"]);
}

/** Puts a table in place of the user's own, until it is cleaned up. */
async function withTable(table: string | null) {
  const own = await look();
  await put(table);
  return { look, cleanUp: () => put(own) };
}

const given = { id: "zt-backup", args: { user: USER, command: "/bin/backup --all", hour: 2 } };
const entry = "# ZESTER_CRON_ID: zt-backup\n* 2 * * * /bin/backup --all\n";

export const FIXTURES: readonly ModuleFixture[] = [
  {
    module: "cron.present",
    title: "the first entry of a user",
    skip,
    prepare: async () => ({
      given,
      ...await withTable(null),
      verify: async () => assert.equal(await look(), entry),
    }),
  },
  {
    module: "cron.present",
    title: "an adopted entry among others",
    skip,
    prepare: async () => ({
      given,
      ...await withTable(`7 3 * * * /bin/backup  --all\n${OTHERS}`),
      verify: async () => assert.equal(await look(), `${entry}${OTHERS}`),
    }),
    unused: [/^run crontab -u nobody -r$/],
  },
  {
    module: "cron.absent",
    title: "an entry among others",
    skip,
    cannotRevert: true,
    prepare: async () => ({
      given: { id: "zt-backup", args: { user: USER, command: "/bin/backup --all" } },
      ...await withTable(`${entry}${OTHERS}`),
      verify: async () => assert.equal(await look(), OTHERS),
    }),
  },
];

/** What a crontab must not be given, and what a host without cron is told, shown in real workers. */
import assert from "node:assert/strict";
import { openModuleLab } from "../../tests/fakes/module_lab.ts";

Deno.test("cron.present refuses what would be another line or another field", async () => {
  const lab = openModuleLab();
  const command = "/bin/x";
  const bad: Record<string, unknown>[] = [
    {},
    { command: "/bin/x\n* * * * * /bin/evil" },
    { command, minute: "1 2" },
    { command, hour: "*;" },
    { command, user: "-l" },
    { command, name: "a\nb" },
    { command, special: "@never" },
  ];
  try {
    for (const args of bad) {
      const tried = lab.check("cron.present", { id: "zt", args });
      await assert.rejects(tried, /parameter/, JSON.stringify(args));
    }
  } finally {
    lab.close();
  }
});

Deno.test("cron.present asks for the crontab of one user only", async () => {
  const lab = openModuleLab();
  try {
    const args = { user: "www-data", command: "/bin/x", special: "@daily" };
    assert.deepEqual(await lab.grant("cron.present", { id: "zt", args }), {
      probe: [["crontab", "-u", "www-data", "-l"]],
      run: [["crontab", "-u", "www-data", "-"], ["crontab", "-u", "www-data", "-r"]],
    });
  } finally {
    lab.close();
  }
});

Deno.test("cron.absent says that there is no cron where there is none", async () => {
  const { code } = await new Deno.Command("sh", { args: ["-c", "command -v crontab"] }).output();
  if (code === 0) return console.log("      skipped: this host has a crontab program");
  const lab = openModuleLab();
  try {
    await assert.rejects(
      lab.check("cron.absent", { id: "zt", args: { command: "/bin/x" } }),
      /cron\.absent: no cron provider available: crontab is not installed/,
    );
  } finally {
    lab.close();
  }
});

/** `cron.absent`: keeps a command out of a user's crontab. */
import { defineModule, line } from "../../core/module.ts";
import { withoutCommand } from "./_crontab.ts";
import { entryParams, listProgram, readTable, writeProgram, writeTable } from "./_table.ts";

export default defineModule({
  name: "cron.absent",
  summary: "Keeps a command out of the crontab of a user.",
  description: "Every entry that runs the command goes, whatever its label and schedule.",
  params: { ...entryParams, command: line("The command to look for.") },
  permissions: (p) => ({ probe: [listProgram(p.user)], run: [writeProgram(p.user)] }),
  async check(p, host) {
    const text = await readTable(host, p.user) ?? "";
    if (withoutCommand(text, p.command) === text) return null;
    return { diff: `cron entry ${JSON.stringify(p.command)} exists` };
  },
  async apply(p, host) {
    const text = await readTable(host, p.user) ?? "";
    const left = withoutCommand(text, p.command);
    if (left === text) return null;
    await writeTable(host, p.user, left);
    return {
      diff: `removed cron entry ${JSON.stringify(p.command)}`,
      details: { user: p.user, command: p.command },
    };
  },
  whyNoRevert: "what was removed is not kept",
  examples: [
    {
      title: "On the command line",
      code: "zester 'db*' cron.absent backup command=/usr/local/bin/backup",
    },
    {
      title: "As a state",
      code: "backup:\n  cron.absent:\n    - command: /usr/local/bin/backup",
    },
  ],
  differences: ["The name is only a label: the command decides."],
});

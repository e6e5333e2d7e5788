/** `cron.present`: keeps an entry in a user's crontab. */
import {
  checked,
  defaulted,
  defineModule,
  line,
  oneOf,
  optional,
  type Param,
  perform,
} from "../../core/module.ts";
import { type Entry, entryDrift, findEntry, linesAt, linesOf, spliced } from "./_crontab.ts";
import {
  entryParams,
  listProgram,
  readTable,
  removeProgram,
  writeProgram,
  writeTable,
} from "./_table.ts";

/** The lines that were there before, none for a new entry; and whether there was a table at all. */
interface Memo {
  readonly lines: readonly string[];
  readonly hadTable: boolean;
}

const NICKNAMES = [
  "reboot",
  "yearly",
  "annually",
  "monthly",
  "weekly",
  "daily",
  "midnight",
  "hourly",
] as const;

export default defineModule({
  name: "cron.present",
  summary: "Keeps an entry in the crontab of a user.",
  description:
    `An entry is known by its label, which stands in a comment before it (\`# ZESTER_CRON_ID: <label>\`). An entry without a
label that runs the same command is adopted. All other lines stay as they are. A percent sign in the command means what it
means to cron: the end of the line.`,
  params: {
    ...entryParams,
    command: line("What cron runs."),
    minute: field("Minute."),
    hour: field("Hour."),
    daymonth: field("Day of the month."),
    month: field("Month."),
    dayweek: field("Day of the week."),
    special: optional(
      atSign(oneOf(NICKNAMES, "A nickname such as `@daily` instead of the five fields.")),
    ),
  },
  permissions: (p) => ({
    probe: [listProgram(p.user)],
    run: [writeProgram(p.user), removeProgram(p.user)],
  }),
  async check(p, host) {
    const want = entryOf(p);
    const drift = entryDrift(want, findEntry(await readTable(host, p.user) ?? "", want));
    return drift.length === 0 ? null : { diff: drift.join("; ") };
  },
  async apply(p, host) {
    const want = entryOf(p);
    const table = await readTable(host, p.user);
    const text = table ?? "";
    const found = findEntry(text, want);
    const drift = entryDrift(want, found);
    if (drift.length === 0) return null;
    await writeTable(host, p.user, spliced(text, found, linesOf(want)));
    const memo: Memo = {
      lines: found === null ? [] : linesAt(text, found),
      hadTable: table !== null,
    };
    const did = found === null ? "added" : "changed";
    return {
      diff: `${did} cron entry ${JSON.stringify(want.label)}: ${want.schedule} ${want.command}`,
      details: { user: p.user, command: p.command, schedule: want.schedule },
      memo,
    };
  },
  async revert(p, { lines, hadTable }: Memo, host) {
    const text = await readTable(host, p.user) ?? "";
    const found = findEntry(text, entryOf(p));
    if (found === null || found.label !== p.name) return null;
    const left = spliced(text, found, lines);
    if (left.trim() === "" && !hadTable) await perform(host, removeProgram(p.user));
    else await writeTable(host, p.user, left);
    return { diff: `reverted cron entry ${JSON.stringify(p.name)}` };
  },
  examples: [
    {
      title: "Every night",
      code: "zester 'db*' cron.present backup command=/usr/local/bin/backup minute=30 hour=2",
    },
    {
      title: "As a state",
      code: `backup:
  cron.present:
    - user: postgres
    - command: /usr/local/bin/backup --quiet
    - minute: 30
    - hour: 2`,
    },
  ],
  differences: [
    "The name is the label, Salt's `identifier`; what is run is `command`.",
    "`comment` and `commented` are not parameters.",
  ],
});

const FIELD = /^[0-9A-Za-z*,/~-]+$/;

function field(usage: string): Param<string> {
  const base = checked(
    line(usage),
    (value) => FIELD.test(value) ? null : `${JSON.stringify(value)} is no field of a schedule`,
  );
  return defaulted(base, "*");
}

/** Takes the word with its sign or without. */
function atSign<T>(base: Param<T>): Param<T> {
  return { ...base, decode: (value) => base.decode(String(value).replace(/^@/, "")) };
}

interface Params {
  readonly name: string;
  readonly command: string;
  readonly minute: string;
  readonly hour: string;
  readonly daymonth: string;
  readonly month: string;
  readonly dayweek: string;
  readonly special?: string | undefined;
}

function entryOf(p: Params): Entry {
  const fields = [p.minute, p.hour, p.daymonth, p.month, p.dayweek].join(" ");
  const schedule = p.special === undefined ? fields : `@${p.special}`;
  return { label: p.name, schedule, command: p.command.trim() };
}

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Entry,
  entryDrift,
  findEntry,
  linesAt,
  linesOf,
  readEntries,
  spliced,
  withoutCommand,
} from "./_crontab.ts";

const TABLE = `# m h dom mon dow command
MAILTO=root
PATH = /usr/bin:/bin
5 4 * * 0 /bin/weekly
# ZESTER_CRON_ID: backup
30 2 * * * /bin/backup --all
@reboot /bin/boot
# ZESTER_CRON_ID: nightly
@daily /bin/night
  */5	*	1-5 jan,feb mon   A=b /bin/five
# 1 2 3 4 5 /bin/commented
`;

Deno.test("readEntries() finds entries and labels, not settings, comments or foreign nicknames", () =>
  assert.deepEqual(
    readEntries(TABLE).map(({ label, schedule, command }) => [label, schedule, command]),
    [
      [null, "5 4 * * 0", "/bin/weekly"],
      ["backup", "30 2 * * *", "/bin/backup --all"],
      ["nightly", "@daily", "/bin/night"],
      [null, "*/5 * 1-5 jan,feb mon", "A=b /bin/five"],
    ],
  ));

const BACKUP: Entry = { label: "backup", schedule: "30 2 * * *", command: "/bin/backup --all" };

const drifts: [name: string, table: string, want: Entry, drift: string[]][] = [
  ["nothing", TABLE, BACKUP, []],
  ["that only blanks differ", TABLE, { ...BACKUP, command: "/bin/backup   --all" }, []],
  ["an entry that is missing", "", BACKUP, ['cron entry "backup" does not exist']],
  ["another schedule", TABLE, { ...BACKUP, schedule: "@daily" }, ["schedule differs"]],
  ["another command", TABLE, { ...BACKUP, command: "/bin/x" }, ["command differs"]],
  ["an entry to adopt", "30 2 * * * /bin/backup --all\n", BACKUP, [
    'entry is missing identifier comment "backup"',
  ]],
  ["no entry to adopt under another label", TABLE, { ...BACKUP, label: "b2" }, [
    'cron entry "b2" does not exist',
  ]],
];
for (const [name, table, want, drift] of drifts) {
  Deno.test(`entryDrift() finds ${name}`, () =>
    assert.deepEqual(entryDrift(want, findEntry(table, want)), drift));
}

Deno.test("spliced() puts an entry in the place of the old one, and touches no other line", () => {
  const want = { ...BACKUP, schedule: "0 3 * * *" };
  const after = spliced(TABLE, findEntry(TABLE, want), linesOf(want));
  assert.equal(after, TABLE.replace("30 2 * * * /bin/backup", "0 3 * * * /bin/backup"));
});

Deno.test("spliced() adds to the end, also of a table whose last line is not ended", () => {
  assert.equal(spliced("", null, ["a", "b"]), "a\nb\n");
  assert.equal(spliced("x", null, ["a"]), "x\na\n");
  assert.equal(spliced("x\n", null, ["a"]), "x\na\n");
});

Deno.test("withoutCommand() takes every entry of the command and its marker, and nothing else", () => {
  const table = "7 7 * * * /bin/backup  --all\n" + TABLE;
  const left = withoutCommand(table, "/bin/backup --all");
  assert.equal(left, TABLE.replace(/# ZESTER_CRON_ID: backup\n.*\n/, ""));
  assert.equal(withoutCommand(left, "/bin/backup --all"), left);
});

const line = fc.oneof(
  fc.constantFrom("# note", "", "MAILTO=x", "@reboot /bin/b", "1 2 * * * /bin/other", "  "),
  fc.constantFrom("# ZESTER_CRON_ID: other", "30 2 * * * /bin/backup --all", "* * * * * /bin/x"),
  fc.string({ maxLength: 20 }).map((text) => text.replace(/[\n\r]/g, "")),
);

Deno.test("spliced() converges, and what was replaced can be put back, whatever the table", () =>
  fc.assert(fc.property(fc.array(line), (lines) => {
    const table = lines.map((each) => `${each}\n`).join("");
    const found = findEntry(table, BACKUP);
    const after = spliced(table, found, linesOf(BACKUP));
    assert.deepEqual(entryDrift(BACKUP, findEntry(after, BACKUP)), []);
    const before = found === null ? [] : linesAt(table, found);
    assert.equal(spliced(after, findEntry(after, BACKUP), before), table);
  })));

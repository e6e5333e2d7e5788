import assert from "node:assert/strict";
import { DIFF_LINES_SHOWN_MAX } from "../../core/limits.ts";
import { diffInShort, diffLines } from "./diff_text.ts";
import { PLAIN_LOOK } from "./result_text.ts";
import type { Outcome, RunResult } from "./run_model.ts";
import { outcomeLines } from "./run_text.ts";
import { PLAIN } from "./style.ts";

const PATCH = "--- /etc/motd\n+++ /etc/motd\n@@ -1,1 +1,2 @@\n-old\n+new\n+more\n";

const result = (change: Partial<RunResult>): RunResult => ({
  name: "file.managed",
  changed: false,
  diff: "",
  durationMs: 3,
  details: {},
  ...change,
});
const outcome = (change: Partial<Outcome>, ...results: RunResult[]): Outcome => ({
  peel: "a",
  status: "ok",
  durationMs: 12,
  results,
  ...change,
});

const screens: [name: string, outcome: Outcome, want: string[]][] = [
  [
    "a change with its diff",
    outcome({ status: "changed" }, result({ changed: true, diff: PATCH })),
    [
      "a  changed  12ms",
      ...PATCH.trimEnd().split("\n").map((line) => `    ${line}`),
    ],
  ],
  [
    "a dry run as what would be",
    outcome(
      { status: "changed", test: true },
      result({ changed: true, diff: "package x will be installed", details: { grant: "run apt" } }),
    ),
    ["a  would change  12ms", "    package x will be installed"],
  ],
  [
    "a dry run that cannot look",
    outcome(
      { status: "changed", test: true },
      result({ changed: true, diff: "cannot say: it is rendered elsewhere" }),
    ),
    ["a  cannot say  12ms", "    it is rendered elsewhere"],
  ],
  [
    "the output of a command, what it said on the side marked",
    outcome(
      { status: "changed" },
      result({
        changed: true,
        diff: "executed",
        details: { stdout: "one", stderr: "x\ny", exitcode: "0" },
      }),
    ),
    ["a  changed  12ms", "    one", "    stderr: x", "            y"],
  ],
  [
    "a failed command with all that it said",
    outcome(
      { status: "failed", error: 'cmd.run: "x": exit status 2' },
      result({
        changed: true,
        error: 'cmd.run: "x": exit status 2',
        details: { stdout: "one", stderr: "two", exitcode: "2" },
      }),
    ),
    ["a  failed  12ms", '    cmd.run: "x": exit status 2', "    stdout: one", "    stderr: two"],
  ],
  [
    "a refusal with its code and what to do",
    outcome(
      { status: "failed", error: "denied" },
      result({ error: "denied", details: { code: "grant_denied", fix: "zester peel show" } }),
    ),
    ["a  failed  12ms", "    denied (grant_denied)", "    fix:    zester peel show"],
  ],
  [
    "several states, those that stayed as they were left out",
    outcome(
      { status: "failed", error: "1 of 4 states failed" },
      result({ name: "pkg.installed:nginx" }),
      result({ name: "file.managed:/etc/motd", changed: true, diff: "+x" }),
      result({ name: "cmd.run:migrate", error: "exit status 1" }),
      result({ name: "service.running:nginx", skipped: true, skipReason: "require_failed" }),
    ),
    [
      "a  failed  12ms",
      "    1 of 4 states failed",
      "    ~ file.managed:/etc/motd   3ms",
      "        +x",
      "    ✗ cmd.run:migrate   3ms",
      "        exit status 1",
      "    ○ service.running:nginx   skipped: require_failed",
    ],
  ],
  [
    "a map as text",
    outcome({}, result({ details: { result: '{"os":"debian","ipv4":["10.0.0.1"]}' } })),
    ["a  ok     12ms", "    os: debian", "    ipv4: [10.0.0.1]"],
  ],
  ["an empty list on the line", outcome({}, result({ details: { result: "[]" } })), [
    "a  []     12ms",
  ]],
];
for (const [name, given, want] of screens) {
  Deno.test(`outcomeLines() shows ${name}`, () => {
    assert.equal(outcomeLines(given, 1, PLAIN_LOOK), `${want.join("\n")}\n`);
  });
}

Deno.test("outcomeLines() shows all of it when that is wanted, with what a dry run may touch", () => {
  const details = { grant: "read /etc/passwd\nwrite /etc/motd" };
  const dry = outcome(
    { status: "changed", test: true },
    result({ changed: true, diff: "+x", details }),
  );
  assert.equal(
    outcomeLines(dry, 1, { ...PLAIN_LOOK, isWhole: true }),
    "a  would change  12ms\n    +x\n    grant:  read /etc/passwd\n            write /etc/motd\n",
  );
});

Deno.test("diffLines() cuts a long diff and says how to see the rest, unless all of it is wanted", () => {
  const long = PATCH + "+x\n".repeat(100);
  const shown = diffLines(long, PLAIN, false);
  assert.equal(shown.length, DIFF_LINES_SHOWN_MAX + 1);
  assert.equal(shown.at(-1), "… 66 more lines (--show all prints them)");
  assert.equal(diffLines(long, PLAIN, true).length, 106);
});

Deno.test("diffLines() paints what was added and taken away, and only in a diff", () => {
  const colors = { color: true, unicode: true };
  const painted = diffLines(`- in words\n${PATCH}`, colors, false);
  assert.equal(painted[0], "- in words");
  assert.equal(painted[4], "\u001b[31m-old\u001b[0m");
  assert.equal(painted[5], "\u001b[32m+new\u001b[0m");
  assert.deepEqual(diffLines("+ nginx", colors, false), ["+ nginx"]);
});

const shorts: [diff: string, want: string][] = [
  [PATCH, "/etc/motd +2 -1"],
  ["--- /dev/null\n+++ /etc/motd\n@@ -0,0 +1,1 @@\n+x\n", "/etc/motd +1 -0"],
  ["--- /etc/motd\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n", "/etc/motd +0 -1"],
  ["mode 0644 → 0600\nowner a → b", "mode 0644 → 0600"],
];
for (const [diff, want] of shorts) {
  Deno.test(`diffInShort() says ${want}`, () => assert.equal(diffInShort(diff), want));
}

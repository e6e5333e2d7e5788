/** Help: examples first, then commands, flags last. */
import { nearest } from "../../core/nearest.ts";
import { flagHelp, RUN_FLAG_NAMES } from "../commands/flags.ts";
import { EXIT_CODES } from "./exit_code.ts";
import { targetHelp } from "./target_help.ts";

/** Every command with its verbs: routing, did-you-mean and help are made from it. */
export const COMMANDS = {
  run: { brief: "run a function: the long form of zester '<target>' …", verbs: null },
  job: {
    brief: "find, follow and repeat jobs",
    verbs: {
      list: "recent jobs",
      show: "one job, all returns",
      watch: "follow one to its end",
      active: "jobs under way",
      cancel: "stop one, and say who stopped it",
      rerun: "again, all or part",
    },
  },
  peel: {
    brief: "who is enrolled, and who is there",
    verbs: { list: "all peels", show: "one peel" },
  },
  master: { brief: "who answers", verbs: { list: "masters that are alive" } },
  target: { brief: "who matches a target, and why each one does", verbs: null },
  doc: { brief: "which functions there are, and how each is used", verbs: null },
  context: {
    brief: "which fleet this is",
    verbs: { show: "the context in force", list: "all contexts" },
  },
  version: { brief: "version of this program", verbs: null },
  help: { brief: "help for a command or a topic", verbs: null },
} as const satisfies Record<string, { brief: string; verbs: Record<string, string> | null }>;

export type CommandName = keyof typeof COMMANDS;

const RUN_USAGE = "zester '<target>' <module.function> [arg …] [key=value …] [flags]";

const TOPICS: Readonly<Record<string, () => string>> = {
  flags: () => `Flags mean the same everywhere; \`--\` ends them.\n\n${flagHelp()}\n`,
  "exit-codes": exitCodeHelp,
  output: outputHelp,
  run: runHelp,
  job: jobHelp,
  peel: peelHelp,
  master: masterHelp,
  target: targetHelp,
  doc: docHelp,
  context: contextHelp,
  version: () =>
    "Prints the version. Needs no fleet.\n\n  zester version\n  zester version -o json\n",
  help: () => `Help for a command or a topic.\n\n  zester help run\n  zester help exit-codes\n`,
};

/** Help for the words given, or null when there is none; then `nearestTopic` may know what was meant. */
export function helpFor(words: readonly string[]): string | null {
  const topic = words[0];
  if (topic === undefined) return rootHelp();
  return Object.hasOwn(TOPICS, topic) ? TOPICS[topic]!() : null;
}

/** The topic that was probably meant. */
export function nearestTopic(word: string): string | null {
  return nearest(word, Object.keys(TOPICS));
}

function rootHelp(): string {
  const commands = Object.entries(COMMANDS).map(([name, { brief, verbs }]) =>
    `  ${name.padEnd(9)}${verbs === null ? brief : `${brief}: ${Object.keys(verbs).join(", ")}`}`
  );
  return `Run functions on a fleet, and see what came of it.

  zester '*' test.ping                       who answers
  zester 'web-*' pkg.installed nginx --test  what would change; without --test, change it
  zester web-01 cmd.run 'df -h'              what a command says there
  zester doc file.managed                    how a function is used
  zester '*' test.ping -o json               the answer, for scripts
  zester job list --failed --since 24h       what went wrong today
  zester context show --origin               which fleet this is, and why

USAGE
  ${RUN_USAGE}
  zester <noun> <verb> [id] [flags]

COMMANDS
${commands.join("\n")}

FLAGS
${flagHelp()}

More: zester help target, zester help output, zester help exit-codes
`;
}

function runHelp(): string {
  return `Runs one function on every peel that the target matches.

  zester '*' test.ping                     who answers
  zester web-01 file.managed /etc/motd content=hello --test
                                           what would change; without --test, change it
  zester web-01 facts.set role frontend    bare words, where a function takes some
  zester web-01 file.managed /etc/motd content=@motd.txt
                                           key=@file reads the value from a file
  zester web-01 cmd.run 'df -h'            what a command says there
  zester web-01 sys.grants cmd.run uptime  what a call may touch, without running it
  zester run context test.ping             a peel that is called like a command
  zester '*' test.ping -- -5               after -- nothing is a flag
  zester '*' state.apply web --async       only start it; the answer is the job id
  zester '*' state.apply web --batch 10% --max-fail 2
                                           a tenth at a time; stop after the third failure
  zester web-01 test.ping --direct         past the masters, by whoever has that role

Which functions there are: zester doc. How one is used: zester doc file.managed, or
zester '*' file.managed --help.

Ctrl-C once detaches, and the job goes on; twice within 2s cancels it. With --direct there
is no job: nothing is stored but what each peel journals, and an audit event that it leaves.

USAGE
  ${RUN_USAGE}

FLAGS
${flagHelp(RUN_FLAG_NAMES)}
`;
}

function jobHelp(): string {
  return `Find, follow and repeat jobs. The beginning of a job id is enough, if it is the only one.

  zester job list --failed --since 24h        what went wrong today
  zester job show 2hPx1                        one job, and what came back
  zester job watch 2hPx1                       follow a running job
  zester job cancel 2hPx1                      stop it
  zester job rerun 2hPx1 --failed --silent     again, only where needed

COMMANDS
${verbHelp(COMMANDS.job.verbs)}

Common flags: -o, -w, --fields, --since, --limit (zester help flags)
`;
}

function peelHelp(): string {
  return `The peels of the fleet, and which of them were heard from lately.

  zester peel list                     all of them
  zester peel list -o ids              their ids, one per line
  zester peel show web-01              one of them

COMMANDS
${verbHelp(COMMANDS.peel.verbs)}
`;
}

function masterHelp(): string {
  return `The masters that are alive, and how many jobs each of them holds.

  zester master list

COMMANDS
${verbHelp(COMMANDS.master.verbs)}
`;
}

function verbHelp(verbs: Readonly<Record<string, string>>): string {
  return Object.entries(verbs).map(([verb, brief]) => `  ${verb.padEnd(9)}${brief}`).join("\n");
}

function docHelp(): string {
  return `Which functions there are, and how each is used. Needs no fleet.

  zester doc                       all functions, by namespace
  zester doc file                  those of one namespace
  zester doc file.managed          one function: parameters, examples, what differs from Salt
  zester doc file.managed -o json  the same for programs

Modules of a fleet's own state tree are not in it: zester '*' sys.list_functions names them.
`;
}

function contextHelp(): string {
  return `A context says which fleet to talk to and who you are there.

  zester context show --origin     every value, and where it comes from
  zester context list              all of them, the one in force marked
  ZESTER_CONTEXT=lab zester '*' test.ping

COMMANDS
${verbHelp(COMMANDS.context.verbs)}

Files: ~/.config/zester/contexts/<name>.yaml; the file \`current\` beside that folder names the usual one.
`;
}

function outputHelp(): string {
  return `-o chooses the form of the answer; the story around it goes to stderr.

  text    one line per peel as it answers, then the sum (default)
  table   all peels in one table, sorted
  wide    the same, with nothing left out or cut
  json    one array of {peel_id, status, success, results, error}
  jsonl   one object per event, as it happens
  yaml    one document per peel
  ids     ids of the peels that did not fail, one per line

Lists (job list, peel list, master list) are tables; json is one array, jsonl one object per row,
ids one id per line. Times in data are RFC 3339 in UTC, durations are nanoseconds.

--fields jid,status   only these members, in any form; names are those of json, a.b goes deeper
--show                how much of a run: changes (default: what changed, answered or failed),
                      failed (with who was silent), all, summary
-w                    stays and updates a list; with jsonl, one line per change
`;
}

function exitCodeHelp(): string {
  const lines = Object.entries(EXIT_CODES).map(([code, meaning]) =>
    `  ${code.padStart(3)}  ${meaning}`
  );
  return `What the exit code says; of several, the first of 7, 8, 3, 9, 4, 5, 6 wins.\n\n${
    lines.join("\n")
  }\n`;
}

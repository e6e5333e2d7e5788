/** Help: examples first, then commands, flags last. */
import { nearest } from "../../core/nearest.ts";
import { flagHelp } from "../commands/flags.ts";
import { EXIT_CODES } from "./exit_code.ts";

/** Every command with its verbs: routing, did-you-mean and help are made from it. */
export const COMMANDS = {
  run: { brief: "run a function: the long form of zester '<target>' …", verbs: null },
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

  zester '*' test.ping                    who answers
  zester 'web-*' test.echo text=hello     a function with an argument
  zester '*' test.ping -o json            the same, for scripts
  zester context show --origin            which fleet this is, and why

USAGE
  ${RUN_USAGE}
  zester <noun> <verb> [flags]

COMMANDS
${commands.join("\n")}

FLAGS
${flagHelp()}

More: zester help output, zester help exit-codes
`;
}

function runHelp(): string {
  return `Runs one function on every peel that the target matches.

  zester '*' test.ping                     who answers
  zester 'web-*' test.echo text=hello      arguments are key=value
  zester web-01 test.echo text=@notes.txt  key=@file reads the value from a file
  zester run context test.ping             a peel that is called like a command
  zester '*' test.ping -- -5               after -- nothing is a flag

USAGE
  ${RUN_USAGE}

FLAGS
${flagHelp()}
`;
}

function contextHelp(): string {
  const { show, list } = COMMANDS.context.verbs;
  return `A context says which fleet to talk to and who you are there.

  zester context show --origin     every value, and where it comes from
  zester context list              all of them, the one in force marked
  ZESTER_CONTEXT=lab zester '*' test.ping

COMMANDS
  show     ${show}
  list     ${list}

Files: ~/.config/zester/contexts/<name>.yaml; the file \`current\` beside that folder names the usual one.
`;
}

function outputHelp(): string {
  return `-o chooses the form of the answer; the story around it goes to stderr.

  text    one line per peel as it answers, then the sum (default)
  table   all peels in one table, sorted
  json    one array of {peel_id, status, success, results, error}
  jsonl   one object per event, as it happens
  yaml    one document per peel
  ids     ids of the peels that did not fail, one per line
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

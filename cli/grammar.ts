/**
 * Which of the two forms a command line is. A run is `<target> <module.function> …`; everything else is `<noun> <verb>`.
 * The second word of a run must look like `module.function`: otherwise the first is a mistyped noun, not a target, so
 * that `zester contxt list` never runs anything anywhere.
 */
import { ZesterError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { printable } from "../core/printable.ts";
import { takesNextWord } from "./commands/flags.ts";
import { type CommandName, COMMANDS } from "./render/help.ts";

const FUNCTION = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;

/** What a command line asks for. `inputs` start with the command's own words; flags come after. */
export type Invocation =
  | { readonly kind: "help"; readonly words: readonly string[] }
  | { readonly kind: "version" }
  | { readonly kind: "command"; readonly inputs: readonly string[] };

/** Reads a command line, or throws a `usage` error that says what was probably meant. */
export function readInvocation(argv: readonly string[]): Invocation {
  const words = wordsOf(argv);
  const flags = flagsOf(argv);
  const [first, second] = words.map(({ word }) => word);
  if (first === "help") return { kind: "help", words: words.slice(1).map(({ word }) => word) };
  if (flags.includes("--help") || flags.includes("-h")) {
    if (first !== undefined && isCommand(first)) return { kind: "help", words: [first] };
    // On the line of a run, help on what it would run.
    const isRun = second !== undefined && FUNCTION.test(second);
    return isRun ? { kind: "command", inputs: ["doc", second] } : { kind: "help", words: [] };
  }
  if (first === undefined) return withoutWords(argv, flags);
  if (!isCommand(first)) {
    requireFunction(first, second);
    return { kind: "command", inputs: ["run", ...argv] };
  }
  if (first === "version" && argv.length === 1) return { kind: "version" };
  return { kind: "command", inputs: routed(argv, first, words) };
}

function withoutWords(argv: readonly string[], flags: readonly string[]): Invocation {
  if (flags.includes("--version")) return { kind: "version" };
  if (argv.length === 0) return { kind: "help", words: [] };
  throw new ZesterError("usage", "flags alone do nothing", {
    fix: "zester '*' test.ping, or zester --help",
  });
}

/** Moves the words of the command to the front: the parser wants them before any flag. */
function routed(
  argv: readonly string[],
  command: CommandName,
  words: readonly { word: string; at: number }[],
): string[] {
  const { verbs } = COMMANDS[command];
  const route = words.slice(0, verbs === null ? 1 : 2);
  if (verbs !== null) requireVerb(command, Object.keys(verbs), route[1]?.word);
  const taken = new Set(route.map(({ at }) => at));
  return [...route.map(({ word }) => word), ...argv.filter((_, at) => !taken.has(at))];
}

function requireVerb(
  command: CommandName,
  verbs: readonly string[],
  verb: string | undefined,
): void {
  if (verb !== undefined && verbs.includes(verb)) return;
  const near = verb === undefined ? null : nearest(verb, verbs);
  const problem = verb === undefined
    ? `${command} needs a verb`
    : `${command} has no verb "${printable(verb)}"`;
  const fix = near === null
    ? `one of: ${verbs.join(", ")}`
    : `did you mean \`zester ${command} ${near}\`?`;
  throw new ZesterError("usage", problem, { fix });
}

function requireFunction(first: string, second: string | undefined): void {
  if (second !== undefined && FUNCTION.test(second)) return;
  const near = nearest(first, Object.keys(COMMANDS));
  if (near !== null) {
    throw new ZesterError("usage", `no such command: ${printable(first)}`, {
      fix: `did you mean \`zester ${near}\`?`,
    });
  }
  const target = printable(first);
  const problem = second === undefined
    ? `nothing to run on "${target}"`
    : `"${printable(second)}" is not a function: it must look like module.function`;
  throw new ZesterError("usage", problem, { fix: `say what to run: zester '${target}' test.ping` });
}

function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

function wordsOf(argv: readonly string[]): { word: string; at: number }[] {
  const words: { word: string; at: number }[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!;
    if (word === "--") return words;
    if (takesNextWord(word)) at++;
    else if (!isFlag(word)) words.push({ word, at });
  }
  return words;
}

function flagsOf(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  const before = end < 0 ? argv : argv.slice(0, end);
  return before.filter((word, at) => isFlag(word) && (at === 0 || !takesNextWord(before[at - 1]!)));
}

function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith("-");
}

/** What `deno task up` and `deno task demo` can be told. */
import { ZesterError } from "../../core/errors.ts";
import { nearest } from "../../core/nearest.ts";

export const BROKERS = ["auto", "embedded", "nats-server"] as const;
export type BrokerChoice = typeof BROKERS[number];

export interface UpOptions {
  masters: number;
  peels: number;
  broker: BrokerChoice;
  /** Port of the broker; 0 lets the system choose. */
  port: number;
  /** Folder that keeps everything; a temporary one when absent. */
  data: string | undefined;
  /** Folder of the state tree that the peels get; an empty one each when absent. */
  states: string | undefined;
  /** Folder of programs made by `deno task compile`, to be run instead of the sources. */
  bin: string | undefined;
  /** What to run on the fleet; without it, the fleet stays up. */
  command: readonly string[];
  help: boolean;
}

export const UP_HELP = `deno task up: a whole fleet on this machine

  deno task up                                          stays up; talk to it from another terminal
  deno task up --peels 5 -- zester '*' test.ping        runs one command on it, then takes it down

  --masters N   masters to start (1)
  --peels N     peels to start, called peel-1, peel-2, … (3)
  --broker B    auto, embedded or nats-server (auto: nats-server if there is one that is new enough)
  --port N      port of the broker (any free one)
  --data DIR    keep everything in this folder, and start again on it (a temporary folder)
  --states DIR  state tree of the peels: sources of files (zester://) and custom modules
  --bin DIR     run the programs that \`deno task compile\` made, in this folder
  -- command    run this with zester on PATH, then stop everything and exit with its status`;

const COUNT_MAX = 200;

/** Reads the arguments. Throws `usage` with what is wrong. */
export function parseUpOptions(args: readonly string[]): UpOptions {
  const options: UpOptions = {
    masters: 1,
    peels: 3,
    broker: "auto",
    port: 0,
    data: undefined,
    states: undefined,
    bin: undefined,
    command: [],
    help: false,
  };
  const cut = args.indexOf("--");
  const own = cut < 0 ? [...args] : args.slice(0, cut);
  if (cut >= 0) {
    options.command = args.slice(cut + 1);
    if (options.command.length === 0) throw usage("-- is not followed by a command");
  }
  const words = own.flatMap((word) =>
    /^--[a-z]+=/.test(word) ? splitAt(word, word.indexOf("=")) : [word]
  );
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const take = SETTERS[word];
    if (take === undefined) throw unknown(word);
    if (word === "--help" || word === "-h") options.help = true;
    else take(options, value(word, words[++at]));
  }
  return options;
}

const SETTERS: Record<string, (options: UpOptions, text: string) => void> = {
  "--masters": (options, text) => options.masters = integer("--masters", text, 1, COUNT_MAX),
  "--peels": (options, text) => options.peels = integer("--peels", text, 0, COUNT_MAX),
  "--port": (options, text) => options.port = integer("--port", text, 0, 65_535),
  "--data": (options, text) => options.data = text,
  "--states": (options, text) => options.states = text,
  "--bin": (options, text) => options.bin = text,
  "--broker": (options, text) => {
    const found = BROKERS.find((each) => each === text);
    if (found === undefined) throw usage(`--broker ${text}: expected ${BROKERS.join(", ")}`);
    options.broker = found;
  },
  "--help": () => {},
  "-h": () => {},
};

function splitAt(word: string, at: number): string[] {
  return [word.slice(0, at), word.slice(at + 1)];
}

function value(flag: string, text: string | undefined): string {
  if (text === undefined || text === "") throw usage(`${flag} needs a value`);
  return text;
}

function integer(flag: string, text: string, min: number, max: number): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw usage(`${flag} ${text}: expected a whole number from ${min} to ${max}`);
}

function unknown(word: string): ZesterError {
  const close = nearest(word, Object.keys(SETTERS));
  return usage(`unknown option ${word}${close === null ? "" : `: did you mean ${close}?`}`);
}

function usage(message: string): ZesterError {
  return new ZesterError("usage", `up: ${message}`, { fix: "deno task up --help" });
}

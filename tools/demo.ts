/**
 * `deno task demo`: shows a fleet at work on this machine, with nothing else installed. Each step says what it does, runs the
 * real command, and shows what it printed. Stays up afterwards; `--once` exits.
 */
import { dirname, join } from "node:path";
import { errorText } from "../core/error_text.ts";
import { toZesterError, ZesterError } from "../core/errors.ts";
import { ROOT } from "./repository.ts";
import { stayUp, withFleet } from "./up.ts";
import { parseUpOptions } from "./up/options.ts";
import type { RunningFleet } from "./up/run.ts";
import { Interrupted } from "./up/stop_request.ts";

const HELP = `deno task demo [--once]: a fleet at work on this machine

  --once   exit at the end instead of staying up`;

interface Step {
  readonly say: string;
  /** What is shown before the command: a file that it needs. */
  readonly file?: string;
  readonly command: readonly string[];
  /** Exit code that the step must have: a demo that fails must not look fine. */
  readonly exit: number;
  before?(fleet: RunningFleet): void;
}

/** Where a module of one's own lies in the state tree: its path is its name. */
const CUSTOM_PATH = "_modules/demo/lines.ts";
const CUSTOM = `import { absolutePath, defineFunction, primary } from "zester";

export default defineFunction({
  name: "demo.lines",
  summary: "Counts the lines of a file.",
  params: { path: primary(absolutePath("File to count.")) },
  isReadOnly: true,
  permissions: ({ path }) => ({ read: [path] }),
  async run({ path }, host) {
    const content = await host.readFile(path);
    return content === null ? 0 : content.filter((byte) => byte === 10).length;
  },
});
`;

/** The steps; all that they write is below `folder`. */
function stepsIn(folder: string): readonly Step[] {
  const page = join(folder, "www/index.html");
  const write = ["zester", "peel-1", "file.managed", page, "source=zester://web/index.html"];
  return [
    {
      say: "Every peel answers a signed ping: operator → master → peel, and back.",
      command: ["zester", "*", "test.ping"],
      exit: 0,
    },
    {
      say: "What would it take to have this page there? A dry run says, and changes nothing.",
      command: [...write, "--test"],
      exit: 0,
    },
    { say: "Now for real.", command: write, exit: 0 },
    { say: "Again: it is as it should be, so nothing is done.", command: write, exit: 0 },
    {
      say: "Each call runs in a worker that may touch what it declared and nothing else.\n" +
        "   This is all that the last one had:",
      command: ["zester", "peel-1", "sys.grants", ...write.slice(2)],
      exit: 0,
    },
    {
      say: "A command, when nothing else will do. A failure shows what it said.",
      command: ["zester", "peel-2", "cmd.run", `ls ${folder}/www ${folder}/none`],
      exit: 3,
    },
    {
      say: `A function of one's own is one file in the state tree, ${CUSTOM_PATH}.\n` +
        "   It reads the file that it is asked about, and cannot read another:",
      file: CUSTOM,
      command: ["zester", "*", "demo.lines", page],
      exit: 0,
    },
    {
      say: "A mistake gets an answer that helps, and nothing is sent to any peel.",
      command: ["zester", "*", "demo.line", page],
      exit: 2,
    },
    {
      say:
        "One peel is stopped. The job says who did not answer\n   instead of calling it a success.",
      before: (fleet) => fleet.children.find(({ id }) => id === "peel-3")?.kill("SIGTERM"),
      command: ["zester", "*", "test.ping", "--timeout", "2s"],
      exit: 4,
    },
  ];
}

async function demo(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(HELP);
    return 0;
  }
  const unknown = args.find((arg) => arg !== "--once");
  if (unknown !== undefined) {
    throw new ZesterError("usage", `demo: unknown option ${unknown}`, {
      fix: "deno task demo --help",
    });
  }
  return await withFolder((folder) => play(folder, args.includes("--once")));
}

async function play(folder: string, isOnce: boolean): Promise<number> {
  const states = await makeTree(folder);
  await Deno.mkdir(join(folder, "www"));
  console.log(`Starting a broker, a master and three peels … (what they write is in ${folder})`);
  const options = parseUpOptions(["--broker", "embedded", "--peels", "3", "--states", states]);
  return await withFleet(options, async (fleet, stop) => {
    console.log(`They are up, on the embedded broker at ${fleet.broker.url}.`);
    for (const [index, step] of stepsIn(folder).entries()) {
      await stop.unless(show(step, index + 1, fleet));
    }
    console.log(CLOSING);
    return isOnce ? 0 : await stayUp(fleet, { stop, tolerated: ["peel-3"] });
  });
}

/** A folder for all that the demo touches, gone when it ends. */
async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "zester-demo-" });
  try {
    return await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A state tree: that of `examples/`, and a module of its own. */
async function makeTree(folder: string): Promise<string> {
  const states = join(folder, "states");
  await copyFolder(join(ROOT, "examples"), states);
  await Deno.mkdir(join(states, dirname(CUSTOM_PATH)), { recursive: true });
  await Deno.writeTextFile(join(states, CUSTOM_PATH), CUSTOM);
  return states;
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const copy = isDirectory ? copyFolder : Deno.copyFile;
    await copy(join(from, name), join(to, name));
  }
}

const CLOSING = `
zester doc lists the functions, examples/ has states that use them, and docs/architecture.md
tells how it works.`;

async function show(step: Step, number: number, fleet: RunningFleet): Promise<void> {
  step.before?.(fleet);
  const file = step.file === undefined ? "" : `\n${indented(step.file.trimEnd(), "   │ ")}\n`;
  console.log(
    `\n${number}. ${step.say}\n${file}\n   $ ${step.command.map(quoted).join(" ")}`,
  );
  const [, ...args] = step.command;
  const { code, stdout, stderr } = await new Deno.Command(`${fleet.binFolder}/zester`, {
    args,
    env: { ZESTER_CONTEXT: fleet.contextFile },
  }).output();
  const text = new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
  console.log(indented(text.trimEnd(), "   "));
  if (code !== step.exit) {
    throw new ZesterError(
      "internal",
      `demo: step ${number} ended with ${code}, expected ${step.exit}`,
    );
  }
}

function indented(text: string, by: string): string {
  return text.split("\n").map((line) => `${by}${line}`.trimEnd()).join("\n");
}

function quoted(word: string): string {
  return /^[\w.\-/=:]+$/.test(word) ? word : `'${word}'`;
}

if (import.meta.main) {
  try {
    Deno.exit(await demo(Deno.args));
  } catch (thrown) {
    if (thrown instanceof Interrupted) Deno.exit(thrown.exitCode);
    const error = toZesterError(thrown, "demo");
    console.error(errorText(error));
    Deno.exit(error.code === "internal" ? 1 : 2);
  }
}

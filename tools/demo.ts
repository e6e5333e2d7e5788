/**
 * `deno task demo`: shows a fleet at work on this machine, with nothing else installed. Each step says what it does, runs the
 * real command, and shows what it printed. Stays up afterwards; `--once` exits.
 */
import { errorText } from "../core/error_text.ts";
import { toZesterError, ZesterError } from "../core/errors.ts";
import { stayUp, withFleet } from "./up.ts";
import { parseUpOptions } from "./up/options.ts";
import type { RunningFleet } from "./up/run.ts";
import { Interrupted } from "./up/stop_request.ts";

const HELP = `deno task demo [--once]: a fleet at work on this machine

  --once   exit at the end instead of staying up`;

interface Step {
  readonly say: string;
  readonly command: readonly string[];
  /** Exit code that the step must have: a demo that fails must not look fine. */
  readonly exit: number;
  before?(fleet: RunningFleet): void;
}

const STEPS: readonly Step[] = [
  {
    say: "Every peel answers a signed ping: operator → master → peel, and back.",
    command: ["zester", "*", "test.ping"],
    exit: 0,
  },
  {
    say:
      "A function that does more than compute runs in a worker of its own,\n   here one that may touch nothing.",
    command: ["zester", "peel-2", "test.echo", "text=hello from a worker"],
    exit: 0,
  },
  {
    say: "A mistake gets an answer that helps.",
    command: ["zester", "peel-1", "test.pong"],
    exit: 3,
  },
  {
    say:
      "One peel is stopped. The job says who did not answer\n   instead of calling it a success.",
    before: (fleet) => fleet.children.find(({ id }) => id === "peel-3")?.kill("SIGTERM"),
    command: ["zester", "*", "test.ping", "--timeout", "2s"],
    exit: 4,
  },
];

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
  console.log("Starting a broker, a master and three peels …");
  const options = parseUpOptions(["--broker", "embedded", "--peels", "3"]);
  return await withFleet(options, async (fleet, stop) => {
    console.log(`They are up, on the embedded broker at ${fleet.broker.url}.`);
    for (const [index, step] of STEPS.entries()) {
      await stop.unless(show(step, index + 1, fleet));
    }
    console.log(CLOSING);
    return args.includes("--once") ? 0 : await stayUp(fleet, { stop, tolerated: ["peel-3"] });
  });
}

const CLOSING = `
That is what there is so far. docs/architecture.md tells how it works.`;

async function show(step: Step, number: number, fleet: RunningFleet): Promise<void> {
  step.before?.(fleet);
  console.log(`\n${number}. ${step.say}\n\n   $ ${step.command.map(quoted).join(" ")}`);
  const [, ...args] = step.command;
  const { code, stdout, stderr } = await new Deno.Command(`${fleet.binFolder}/zester`, {
    args,
    env: { ZESTER_CONTEXT: fleet.contextFile },
  }).output();
  const text = new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
  console.log(text.trimEnd().split("\n").map((line) => `   ${line}`).join("\n"));
  if (code !== step.exit) {
    throw new ZesterError(
      "internal",
      `demo: step ${number} ended with ${code}, expected ${step.exit}`,
    );
  }
}

function quoted(word: string): string {
  return /^[\w.\-/=]+$/.test(word) ? word : `'${word}'`;
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

/** What it costs to start the CLI, beside an empty Deno program with the same flags. */
import { join } from "node:path";
import { entrypointFlags } from "../tools/permissions.ts";
import { ROOT } from "../tools/repository.ts";
import { cpuOfEndedChildren } from "./cpu.ts";
import { type Opened, sample, type Scenario, type Side } from "./harness.ts";

/** One start is too short for the kernel's ticks: a sample is this many. */
const STARTS_PER_SAMPLE = 20;

/** `zester --help` and `zester version`. */
export async function open(): Promise<Opened> {
  const { flags, main } = entrypointFlags("cli");
  if (!await isThere(join(ROOT, main))) return { skipped: `there is no ${main}` };
  const folder = await Deno.makeTempDir({ prefix: "zester-bench-" });
  const empty = join(folder, "empty.ts");
  await Deno.writeTextFile(empty, "");
  const floor = starts("empty program", [...flags, empty]);
  const scenario = (name: string, args: string[]): Scenario => ({
    name: `cli_start/${name}`,
    what: `zester ${args.join(" ")} beside an empty program`,
    floor,
    subject: starts(`zester ${args.join(" ")}`, [...flags, join(ROOT, main), ...args]),
    aim: { ratio: 1.5, of: "cpuSeconds" },
  });
  return {
    scenarios: [scenario("help", ["--help"]), scenario("version", ["version"])],
    close: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Starts a program several times, one after the other; the figures are per start. */
function starts(name: string, args: readonly string[]): Side {
  return {
    name,
    run: async () => {
      const { seconds, cpuSeconds } = await sample(async () => {
        for (let i = 0; i < STARTS_PER_SAMPLE; i++) await startOnce(name, args);
      }, cpuOfEndedChildren);
      return { seconds: seconds / STARTS_PER_SAMPLE, cpuSeconds: cpuSeconds / STARTS_PER_SAMPLE };
    },
  };
}

async function startOnce(name: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", ...args],
    cwd: ROOT,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (code !== 0) throw new Error(`${name}: exit ${code}: ${new TextDecoder().decode(stderr)}`);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

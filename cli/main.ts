/** The `zester` command: hands the machine to `app.ts` and ends with its exit code. */
import { systemClock } from "../core/adapters/system_clock.ts";
import { listFolder, systemFiles } from "../core/adapters/system_files.ts";
import { systemRandom } from "../core/adapters/system_random.ts";
import { type Fleet, runCli } from "./app.ts";
import type { Io } from "./io.ts";

const encoder = new TextEncoder();
const COLUMNS_DEFAULT = 80;

function main(): Promise<number> {
  const io = systemIo();
  return runCli(Deno.args, io, async (context): Promise<Fleet> => {
    const { openFleet } = await import("./fleet.ts");
    return await openFleet(context, io);
  });
}

function systemIo(): Io {
  return {
    stdout: (text) => writeAll(Deno.stdout, text),
    stderr: (text) => writeAll(Deno.stderr, text),
    stdoutIsTerminal: Deno.stdout.isTerminal(),
    stderrIsTerminal: Deno.stderr.isTerminal(),
    env: Deno.env.toObject(),
    home: Deno.env.get("HOME"),
    clock: systemClock,
    random: systemRandom,
    files: systemFiles,
    listFolder,
    columns,
    onInterrupt(heard) {
      Deno.addSignalListener("SIGINT", heard);
      return { stop: () => Deno.removeSignalListener("SIGINT", heard) };
    },
  };
}

function columns(): number {
  try {
    return Deno.consoleSize().columns || COLUMNS_DEFAULT;
  } catch {
    return COLUMNS_DEFAULT; // no terminal to ask
  }
}

/** A reader that went away (`zester … | head`) is no fault of ours: what it did not want is dropped. */
function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = encoder.encode(text);
  try {
    for (let done = 0; done < bytes.length;) done += stream.writeSync(bytes.subarray(done));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

// Ends the process even if something still holds it: the answer is out, and nobody waits for the rest.
if (import.meta.main) Deno.exit(await main());

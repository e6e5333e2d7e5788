/** The `zester` command. Plain help and version load next to nothing; else the machine is handed to `app.ts`. */
import type { Io } from "./io.ts";

const encoder = new TextEncoder();
const COLUMNS_DEFAULT = 80;

async function main(): Promise<number> {
  const [word, ...more] = Deno.args;
  const stdout = (text: string): void => writeAll(Deno.stdout, text);
  if (more.length === 0 && (word === "--help" || word === "-h")) {
    const { helpFor } = await import("./render/help.ts");
    stdout(helpFor([]) ?? "");
    return 0;
  }
  if (more.length === 0 && (word === "version" || word === "--version")) {
    return (await import("./commands/version.ts")).version(undefined, { stdout });
  }
  const { runCli } = await import("./app.ts");
  const io = await systemIo();
  return await runCli(Deno.args, io, {
    open: async (context) => (await import("./fleet.ts")).openFleet(context, io),
    openDirect: async (context) => (await import("./direct_fleet.ts")).openDirect(context, io),
  });
}

async function systemIo(): Promise<Io> {
  const [{ systemClock }, { listFolder, systemFiles }, { systemRandom }] = await Promise.all([
    import("../core/adapters/system_clock.ts"),
    import("../core/adapters/system_files.ts"),
    import("../core/adapters/system_random.ts"),
  ]);
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

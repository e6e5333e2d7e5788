/** Makes a running fleet known to `zester` in other terminals: a context of its own, gone when the fleet is. */
import { join } from "node:path";
import { systemFiles } from "../../core/adapters/system_files.ts";
import { configFolder, contextsFolder, CURRENT_FILE } from "../../core/context.ts";
import { CONFIG_BYTES_MAX } from "../../core/limits.ts";

export interface Registration {
  readonly name: string;
  /** Whether `zester` takes it without being told. */
  readonly isCurrent: boolean;
  remove(): Promise<void>;
}

/** Registers the fleet's context, or gives null where there is no home folder to write to. */
export async function register(contextFile: string): Promise<Registration | null> {
  const env = Deno.env.toObject();
  const home = env["HOME"];
  if (home === undefined) return null;
  const folder = contextsFolder(env, home);
  await systemFiles.makeFolder(folder, 0o700);
  const text = `${OWNER}${Deno.pid}\n${await Deno.readTextFile(contextFile)}`;
  const { name, file } = await takeName(folder, text);
  const current = join(configFolder(env, home), CURRENT_FILE);
  // Somebody's own choice is left alone; one that an earlier fleet left behind is not somebody's.
  const chosen = (await read(current))?.trim() ?? "";
  const isFree = chosen === "" && await read(join(folder, "default.yaml")) === null;
  const isCurrent = isFree || chosen === name;
  if (isCurrent) await write(current, `${name}\n`);
  return {
    name,
    isCurrent,
    async remove() {
      await systemFiles.remove(file);
      if (isCurrent && (await read(current))?.trim() === name) await systemFiles.remove(current);
    },
  };
}

const OWNER = "# of the fleet that process ";

/** Takes `up`, or `up-2`, … while others are up too. The file is created, never replaced: of two that start at once one wins. */
async function takeName(folder: string, text: string): Promise<{ name: string; file: string }> {
  for (let number = 1;; number++) {
    const name = number === 1 ? "up" : `up-${number}`;
    const file = join(folder, `${name}.yaml`);
    if (isLeftBehind(await read(file))) await systemFiles.remove(file);
    try {
      await Deno.writeTextFile(file, text, { createNew: true, mode: 0o600 });
      return { name, file };
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }
}

/** Whether it is the context of a fleet whose process is gone. */
function isLeftBehind(text: string | null): boolean {
  const pid = Number(text?.startsWith(OWNER) ? text.slice(OWNER.length).split("\n")[0] : NaN);
  return Number.isInteger(pid) && !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT"); // does nothing to a process that runs
    return true;
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied; // somebody else's, but there
  }
}

async function read(path: string): Promise<string | null> {
  const bytes = await systemFiles.read(path, CONFIG_BYTES_MAX);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

async function write(path: string, text: string): Promise<void> {
  await systemFiles.replace(path, new TextEncoder().encode(text), 0o600);
}

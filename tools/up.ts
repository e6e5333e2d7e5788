/**
 * `deno task up`: a broker, masters and peels on this machine, with keys and logins of their own. With a command after `--`
 * it runs that on the fleet, takes everything down and exits with its status; without, it stays up until Ctrl-C.
 */
import { errorText } from "../core/error_text.ts";
import { toZesterError, ZesterError } from "../core/errors.ts";
import { openDataFolder } from "./up/data_folder.ts";
import { parseUpOptions, UP_HELP, type UpOptions } from "./up/options.ts";
import { register, type Registration } from "./up/registration.ts";
import { type RunningFleet, startFleet } from "./up/run.ts";
import { Interrupted, type StopRequest, stopRequest } from "./up/stop_request.ts";

/** Runs `up` with these arguments and gives the exit code. */
export async function up(args: readonly string[]): Promise<number> {
  try {
    const options = parseUpOptions(args);
    if (options.help) {
      console.log(UP_HELP);
      return 0;
    }
    return await withFleet(
      options,
      (fleet, stop) =>
        options.command.length > 0
          ? runCommand(options.command, fleet, stop)
          : stayUp(fleet, { stop }),
    );
  } catch (thrown) {
    if (thrown instanceof Interrupted) return thrown.exitCode;
    const error = toZesterError(thrown, "up");
    console.error(errorText(error));
    return error.code === "internal" ? 1 : 2;
  }
}

/** Starts a fleet, does something with it, and leaves nothing behind but a data folder that was asked for. */
export async function withFleet<T>(
  options: UpOptions,
  use: (fleet: RunningFleet, stop: StopRequest) => Promise<T>,
): Promise<T> {
  const stop = stopRequest();
  const data = await openDataFolder(options.data);
  try {
    const fleet = await startFleet(options, data.path, stop);
    try {
      return await use(fleet, stop);
    } finally {
      await fleet.stop();
    }
  } finally {
    await data.close();
    stop.release();
  }
}

/**
 * Runs the command with the fleet in its environment. Ctrl-C reaches it by itself, since it is of the same terminal; SIGTERM is
 * for us alone and is passed on. Either way we wait for its status and then take the fleet down.
 */
async function runCommand(
  command: readonly string[],
  fleet: RunningFleet,
  stop: StopRequest,
): Promise<number> {
  const [program = "", ...args] = command;
  try {
    const path = `${fleet.binFolder}:${Deno.env.get("PATH") ?? ""}`;
    const child = new Deno.Command(program === "zester" ? `${fleet.binFolder}/zester` : program, {
      args,
      env: { PATH: path, ZESTER_CONTEXT: fleet.contextFile, ZESTER_UP_STATE: fleet.stateFile },
    }).spawn();
    let running = true;
    stop.made.then((signal) => signal === "SIGTERM" && running && child.kill(signal));
    const { code } = await child.status;
    running = false;
    return code;
  } catch (cause) {
    throw notStarted(program, cause);
  }
}

function notStarted(program: string, cause: unknown): unknown {
  if (cause instanceof Deno.errors.NotFound) {
    return new ZesterError("usage", `up: no program ${program}`, { cause });
  }
  if (cause instanceof Deno.errors.PermissionDenied) {
    return new ZesterError("usage", `up: ${program} cannot be run: permission denied`, { cause });
  }
  return cause;
}

/** Keeps the fleet up, and known to other terminals, until Ctrl-C or until one of its processes ends that may not. */
export async function stayUp(
  fleet: RunningFleet,
  { stop, tolerated = [] }: { stop: StopRequest; tolerated?: readonly string[] },
): Promise<number> {
  const registration = await register(fleet.contextFile);
  try {
    console.log(describe(fleet, registration));
    const watched = fleet.children.filter((child) => !tolerated.includes(child.id));
    const died = Promise.race(watched.map((child) => child.ended.then(() => child)));
    const end = await Promise.race([stop.made, died]);
    // A Ctrl-C goes to the whole terminal, so a child may be gone before we hear of it ourselves.
    if (typeof end !== "string" && !stop.isMade) throw end.obituary();
    console.log("stopping …");
    return 0;
  } finally {
    await registration?.remove();
  }
}

function describe(
  { broker, children, contextFile }: RunningFleet,
  registration: Registration | null,
): string {
  const version = broker.kind === "embedded" ? "" : ` ${broker.version}`;
  const rows = children.map(({ role, id, pid }) =>
    `  ${role.padEnd(7)} ${id.padEnd(12)} pid ${pid}`
  );
  const chooses = registration === null
    ? `ZESTER_CONTEXT=${contextFile} `
    : registration.isCurrent
    ? ""
    : `ZESTER_CONTEXT=${registration.name} `;
  return [
    `Fleet is up on ${broker.kind}${version} at ${broker.url}`,
    ...rows,
    "",
    "Talk to it from another terminal:",
    `  ${chooses}deno task zester '*' test.ping`,
    "",
    "Ctrl-C stops everything.",
  ].join("\n");
}

if (import.meta.main) Deno.exit(await up(Deno.args));

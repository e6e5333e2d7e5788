/** The processes of a local fleet: started with their output in a file, stopped all together, none left behind. */
import { join } from "node:path";
import { toZesterError, ZesterError } from "../../core/errors.ts";
import { DRAIN_MS } from "../../core/limits.ts";

export interface ChildSpec {
  readonly role: "broker" | "master" | "peel";
  readonly id: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Which line of its output (stdout and stderr) says where it listens; gives the address, or null. */
  readonly listening: (line: string) => string | null;
}

export interface Child {
  readonly role: ChildSpec["role"];
  readonly id: string;
  readonly pid: number;
  readonly log: string;
  /** Where it listens, once it has said so. Rejects if it ends before. */
  readonly address: Promise<string>;
  readonly ended: Promise<Deno.CommandStatus>;
  readonly isRunning: boolean;
  /** Why it ended, as far as its last lines tell. */
  obituary(): ZesterError;
  kill(signal: Deno.Signal): void;
}

/** Starts one process. Its standard input stays open: daemons stop when it ends, so they never outlive us. */
export function startChild(spec: ChildSpec, logFolder: string): Child {
  const log = join(logFolder, `${spec.id}.log`);
  const file = Deno.openSync(log, { create: true, append: true, mode: 0o600 });
  const child = new Deno.Command(spec.program, {
    args: [...spec.args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    clearEnv: true,
    env: environment(),
  }).spawn();
  const { promise: address, resolve, reject } = Promise.withResolvers<string>();
  address.catch(() => {}); // whoever cares awaits it; nobody may be there yet
  const tail: string[] = [];
  let isLogged = true;
  function take(line: string): void {
    if (isLogged) isLogged = isWritten(file, line, log);
    tail.push(line);
    if (tail.length > 5) tail.shift();
    const found = spec.listening(line);
    if (found !== null) resolve(found);
  }
  const drained = Promise.all([lines(child.stdout, take), lines(child.stderr, take)]);
  let running = true;
  const ended = child.status.then(async (status) => {
    await drained;
    running = false;
    file.close();
    reject(obituary());
    return status;
  });
  function obituary(): ZesterError {
    const errors = tail.filter((line) => line.startsWith("error "));
    const words = (errors.length > 0 ? errors : tail).join("\n  ").replaceAll(
      /^error ZE\d+: /gm,
      "",
    );
    return new ZesterError("config_invalid", `${spec.role} ${spec.id} ended: ${words}`, {
      fix: `see ${log}`,
    });
  }
  return {
    role: spec.role,
    id: spec.id,
    pid: child.pid,
    log,
    address,
    ended,
    get isRunning() {
      return running;
    },
    obituary,
    kill(signal) {
      if (running) child.kill(signal);
    },
  };
}

/** A full disk costs us the log of a child, not the fleet. Said once, since every further line would fail too. */
function isWritten(file: Deno.FsFile, line: string, path: string): boolean {
  try {
    file.writeSync(new TextEncoder().encode(`${line}\n`));
    return true;
  } catch (error) {
    console.error(`up: ${path} is not written any more: ${toZesterError(error, "log").message}`);
    return false;
  }
}

/** Nothing of the caller's own Zester settings may leak into the fleet's programs. */
function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(Deno.env.toObject()).filter(([name]) => !name.startsWith("ZESTER_")),
  );
}

async function lines(
  stream: ReadableStream<Uint8Array>,
  take: (line: string) => void,
): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    parts.forEach(take);
  }
  if (rest !== "") take(rest);
}

/** Stops children in the order given, all of a rank at once; kills what does not go in time. */
export async function stopChildren(ranks: readonly (readonly Child[])[]): Promise<void> {
  for (const rank of ranks) {
    rank.forEach((child) => child.kill("SIGTERM"));
    const timer = setTimeout(
      () => rank.forEach((child) => child.kill("SIGKILL")),
      DRAIN_MS + 1_000,
    );
    await Promise.all(rank.map((child) => child.ended));
    clearTimeout(timer);
  }
}

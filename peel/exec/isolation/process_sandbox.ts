/**
 * Runs modules of the state tree in a process of their own: a Deno without permissions and without the environment of the
 * peel, whose heap is bounded by the engine and whose whole memory is bounded by a watch kept here. When it grows too large
 * or dies, its task fails and the peel goes on.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ZesterError } from "../../../core/errors.ts";
import {
  MODULE_HEAP_MIB_MAX,
  MODULE_RESIDENT_BYTES_MAX,
  MODULE_RESIDENT_POLL_MS,
} from "../../../core/limits.ts";
import type { Clock } from "../../../core/ports.ts";
import { type Exchange, openExchange, type Sandbox } from "../exchange.ts";
import type { PassedError, ToWorker } from "../protocol.ts";
import { encodeFrame, FrameReader } from "./frames.ts";

/** Starts one process. It starts at once, so that it is warm when its first task comes. Throws `config_invalid` where there can be none. */
export function openProcessSandbox(clock: Clock): Sandbox {
  requireRuntime();
  const child = spawn();
  const input = child.stdin.getWriter();
  const exchange = openExchange({
    send: (message) => say(input, message),
    end() {
      watch.cancel();
      kill(child);
      void input.abort().catch(() => {}); // What was still on its way is for nobody now.
    },
  }, clock);
  const watch = clock.every(MODULE_RESIDENT_POLL_MS, () => {
    if (residentBytes(child.pid) > MODULE_RESIDENT_BYTES_MAX) exchange.close(OUTGROWN);
  });
  giveUpFirst(child.pid);
  void listen(child, exchange);
  void child.status.then((status) => exchange.close(whyEnded(status)));
  return exchange.sandbox;
}

/** A program made by `deno compile` holds no Deno that could run something else. */
function requireRuntime(): void {
  if (!Deno.build.standalone) return;
  throw new ZesterError(
    "config_invalid",
    "isolation: process is not possible here: this peel is a program made by deno compile",
    { fix: "install the self-extracting peel, or run it with deno; or use isolation: worker" },
  );
}

// ---- the process ---------------------------------------------------------------------------------------------

/** Nothing is fetched, whatever a module asks for. A bundled program brings all that it needs along. */
const SEALED = ["--no-config", "--no-lock", "--no-remote", "--no-npm"];

/** What Deno needs to find its own cache. The module cannot see even these. */
const ENVIRONMENT = ["HOME", "DENO_DIR", "XDG_CACHE_HOME"];

function spawn(): Deno.ChildProcess {
  const entry = fileURLToPath(new URL("./child.ts", import.meta.url));
  const isBundled = entry.endsWith(".js");
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--cached-only",
      "--quiet",
      `--v8-flags=--max-old-space-size=${MODULE_HEAP_MIB_MAX}`,
      ...(isBundled ? SEALED : []),
      entry,
    ],
    cwd: "/",
    clearEnv: true,
    env: Object.fromEntries(
      ENVIRONMENT.flatMap((name) => {
        const value = Deno.env.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

function say(input: WritableStreamDefaultWriter<Uint8Array>, message: ToWorker): void {
  // Whether it still listens is told by its end, not by this.
  input.write(encodeFrame(message)).catch(() => {});
}

async function listen(child: Deno.ChildProcess, exchange: Exchange): Promise<void> {
  const reader = new FrameReader();
  try {
    for await (const piece of child.stdout) {
      for (const message of reader.add(piece)) exchange.take(message);
    }
  } catch (thrown) {
    exchange.close({ message: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It is gone already.
  }
}

// ---- its memory ----------------------------------------------------------------------------------------------

const MIB = 1024 * 1024;

const OUTGROWN: PassedError = {
  message: `it used more than ${MODULE_RESIDENT_BYTES_MAX / MIB} MiB of memory and was ended`,
  code: "execution_failed",
};

function whyEnded({ code, signal }: Deno.CommandStatus): PassedError {
  const how = signal === null ? `exit status ${code}` : signal;
  // The engine ends itself this way when its heap is full; anything else is rare enough to be called by its name.
  const why = signal === "SIGTRAP" || signal === "SIGABRT" || signal === "SIGILL"
    ? `most likely its heap of ${MODULE_HEAP_MIB_MAX} MiB was full`
    : "nothing is known of why";
  return { message: `its process ended (${how}): ${why}`, code: "execution_failed" };
}

const PAGE_BYTES = 4096;

/** Zero where it cannot be told. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
  } catch {
    return 0; // It is gone, or this system has no such file.
  }
}

/** When the whole machine runs out of memory, this process is the one to go. */
function giveUpFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // Not on this system, or not allowed: then the order is the system's own.
  }
}

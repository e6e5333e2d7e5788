/** The `zester` command as a process, on a fleet that `up` started. */
import assert from "node:assert/strict";
import type { RunningFleet } from "../../tools/up/run.ts";

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly said: Promise<Said>;
  signal(name: Deno.Signal): void;
  /** Resolves when stderr holds this. */
  tells(text: string): Promise<void>;
}

/** Starts `zester` in the fleet's context, or another one. */
export function start(
  fleet: RunningFleet,
  args: readonly string[],
  context = fleet.contextFile,
): Running {
  const child = new Deno.Command(`${fleet.binFolder}/zester`, {
    args: [...args],
    env: { ZESTER_CONTEXT: context },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let stderr = "";
  const heard = new Set<() => void>();
  const reading = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      stderr += text;
      for (const each of heard) each();
    }
  })();
  const stdout = new Response(child.stdout).text();
  return {
    said: Promise.all([child.status, stdout, reading]).then(([{ code }, out]) => ({
      code,
      stdout: out,
      stderr,
    })),
    signal: (name) => child.kill(name),
    tells: (text) =>
      new Promise((resolve) => {
        const look = () => void (stderr.includes(text) && resolve());
        heard.add(look);
        look();
      }),
  };
}

/** Runs `zester` to its end. */
export async function zester(fleet: RunningFleet, ...args: string[]): Promise<Said> {
  return await start(fleet, args).said;
}

/** Process of a child by its id. */
export function childOf(fleet: RunningFleet, id: string): number {
  return fleet.children.find((child) => child.id === id)?.pid ?? assert.fail(`no child ${id}`);
}

/** A terminal in memory, for tests of the CLI. */
import type { Io } from "../../cli/io.ts";
import type { Clock } from "../../core/ports.ts";

export interface FakeIo extends Io {
  readonly out: string[];
  readonly err: string[];
  /** All that went to stdout and stderr. */
  text(): { stdout: string; stderr: string };
  /** As if Ctrl-C was pressed. */
  interrupt(): void;
}

export interface FakeIoOptions {
  env?: Record<string, string>;
  disk?: Readonly<Record<string, string>>;
  terminal?: boolean;
  clock?: Clock;
}

/** A clock that stands still, but that its monotonic time is 24 ms further on after the first reading. Its timers never fire. */
function steppingClock(): Clock {
  let wasRead = false;
  const timer = { cancel: () => {} };
  const monotonic = () => {
    const elapsedMs = wasRead ? 24 : 0;
    wasRead = true;
    return elapsedMs;
  };
  return {
    now: () => Date.UTC(2026, 10, 18),
    monotonic,
    after: () => timer,
    every: () => timer,
    sleep: () => Promise.resolve(),
  };
}

/** Makes one; `disk` maps paths to texts. */
export function fakeIo(
  { env = {}, disk = {}, terminal = false, clock = steppingClock() }: FakeIoOptions = {},
): FakeIo {
  const [out, err]: [string[], string[]] = [[], []];
  const interrupted = new Set<() => void>();
  return {
    out,
    err,
    text: () => ({ stdout: out.join(""), stderr: err.join("") }),
    interrupt: () => interrupted.forEach((heard) => heard()),
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    stdoutIsTerminal: terminal,
    stderrIsTerminal: terminal,
    env: { LANG: "C.UTF-8", ...env },
    home: "/home/a",
    clock,
    random: { bytes: (length) => new Uint8Array(length), float: () => 0 },
    files: {
      read: (path) =>
        Promise.resolve(disk[path] === undefined ? null : new TextEncoder().encode(disk[path])),
    },
    listFolder: (folder) =>
      Promise.resolve(
        Object.keys(disk).filter((path) => path.startsWith(`${folder}/`))
          .map((path) => path.slice(folder.length + 1)),
      ),
    columns: () => 100,
    onInterrupt(heard) {
      interrupted.add(heard);
      return { stop: () => void interrupted.delete(heard) };
    },
  };
}

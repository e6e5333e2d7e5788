/** All that a command touches of the outside. `main.ts` builds it once; tests build their own. */
import type { Environment } from "../core/config.ts";
import type { Clock, Files, Random } from "../core/ports.ts";

export interface Io {
  /** The answer. */
  stdout(text: string): void;
  /** The story around it. */
  stderr(text: string): void;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  readonly env: Environment;
  readonly home: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: Pick<Files, "read">;
  /** Names in a folder; empty when there is no such folder. */
  listFolder(path: string): Promise<string[]>;
  /** Width of the terminal. */
  columns(): number;
  /** Calls back each time the user presses Ctrl-C, until stopped. */
  onInterrupt(heard: () => void): { stop(): void };
}

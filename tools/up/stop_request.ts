/**
 * Ctrl-C, SIGTERM or a closed terminal, from the first moment on: whatever stage a local fleet is in, it is taken down and its
 * temporary folder, which holds secrets, is removed.
 */
import { ZesterError } from "../../core/errors.ts";

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof EXIT_CODES;

export interface StopRequest {
  readonly isMade: boolean;
  /** Resolves with the first signal. */
  readonly made: Promise<StopSignal>;
  /** The work, or an `Interrupted` as soon as a stop is asked for; the work then goes on unheard. */
  unless<T>(work: Promise<T>): Promise<T>;
  /** Lets signals do again what they did before. */
  release(): void;
}

/** Thrown instead of a result when somebody asked to stop. */
export class Interrupted extends ZesterError {
  readonly exitCode: number;

  constructor(signal: StopSignal) {
    super("closed", `stopped by ${signal}`);
    this.exitCode = EXIT_CODES[signal];
  }
}

/** Starts to listen; a second signal changes nothing, because taking the fleet down is bounded in time. */
export function stopRequest(): StopRequest {
  const { promise: made, resolve } = Promise.withResolvers<StopSignal>();
  let isMade = false;
  const signals = Object.keys(EXIT_CODES) as StopSignal[];
  const listeners = signals.map((signal) => {
    const listener = (): void => {
      isMade = true;
      resolve(signal);
    };
    Deno.addSignalListener(signal, listener);
    return { signal, listener };
  });
  return {
    get isMade() {
      return isMade;
    },
    made,
    unless<T>(work: Promise<T>): Promise<T> {
      work.catch(() => {}); // nobody may be left to hear it
      return Promise.race([
        work,
        made.then((signal): never => {
          throw new Interrupted(signal);
        }),
      ]);
    },
    release() {
      for (const { signal, listener } of listeners) Deno.removeSignalListener(signal, listener);
    },
  };
}

/** How a long-running program learns that it should stop. */

/** Argument that makes a program stop when its standard input ends, as it does when whoever started it dies. */
export const PARENT_FLAG = "--stop-with-parent";

/** Resolves with the reason at the first SIGTERM or SIGINT, or when the parent is gone. */
export function stopSignal({ withParent }: { withParent: boolean }): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    Deno.addSignalListener(signal, () => resolve(signal));
  }
  if (withParent) endOfInput().then(() => resolve("parent gone"));
  return promise;
}

async function endOfInput(): Promise<void> {
  for await (const _ of Deno.stdin.readable) continue;
}

/** Errors of the operating system in the words of this project: who, doing what, what was found. */
import { type ErrorCode, ZesterError } from "../../../core/errors.ts";

/** The system's own name of what went wrong, such as `ENOENT`. */
export function errnoOf(thrown: unknown): string | undefined {
  const code = thrown instanceof Error ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Does `work` and says what was being done to what when it fails. `doing` is such as `open "/etc/x"`. */
export async function named<T>(doing: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw describedError(doing, thrown);
  }
}

/** The error as it is told to a module. One that was already put in words passes as it is. */
export function describedError(doing: string, thrown: unknown): ZesterError {
  if (thrown instanceof ZesterError) return thrown;
  const errno = errnoOf(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  // The runtime puts a path behind a comma, which is one of ours below /proc: it would mislead.
  const words = errno === undefined ? message : /^\w+: ([^,]+)/.exec(message)?.[1] ?? message;
  const found = errno === undefined ? words : `${words} (${errno})`;
  return new ZesterError(codeOf(errno), `${doing}: ${found}`, { cause: thrown });
}

function codeOf(errno: string | undefined): ErrorCode {
  if (errno === "ENOENT" || errno === "ESRCH") return "not_found";
  // Links that may be followed were followed by hand: here one has come in between.
  return errno === "ELOOP" ? "unsafe_path" : "io_failed";
}

/** Looks at arguments of host calls once more: they come from a worker, where their types bind nobody. */
import { ZesterError } from "../../../core/errors.ts";
import { isPlainPath } from "../../../core/module/grant.ts";

/** Refuses what is no whole number from 0 to `max`. Absent is fine. */
export function requireWhole(what: string, value: unknown, max: number): void {
  if (value === undefined) return;
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max) return;
  throw new ZesterError("bad_params", `${what} must be a whole number from 0 to ${max}`);
}

/** Refuses what is no text, or holds a NUL, at which the system would stop reading. */
export function requireText(what: string, value: unknown): void {
  if (typeof value === "string" && !value.includes("\0") && value.isWellFormed()) return;
  throw new ZesterError("bad_params", `${what} must be text without NUL`);
}

/** Refuses what is no absolute path that says what it means. */
export function requirePath(value: unknown): void {
  requireText("a path", value);
  if (isPlainPath(value as string)) return;
  const shown = JSON.stringify(value);
  throw new ZesterError("bad_params", `${shown} is not an absolute path without . and ..`);
}

/** Keeps what must not be seen out of results: the values of sensitive parameters, wherever a program printed them. */
import type { PreparedCall } from "../../core/module/prepare.ts";
import type { StateResult } from "../../core/wire/exec.ts";

const HIDDEN = "<redacted>";

/** Shorter values would hide half of every text, and are no secrets. */
const HIDDEN_LETTERS_MIN = 4;

type Result = Omit<StateResult, "durationMs">;

/** Gives the function that takes the sensitive values of a call out of a result. */
export function hiding(
  { sensitive, params }: Pick<PreparedCall, "sensitive" | "params">,
): (result: Result) => Result {
  const secrets = sensitive
    .flatMap((name) => textsIn(params[name]))
    .filter((text) => text.length >= HIDDEN_LETTERS_MIN)
    .sort((one, other) => other.length - one.length); // a longer one may hold a shorter one
  if (secrets.length === 0) return (result) => result;
  const hide = (text: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
  return (result) => ({
    ...result,
    diff: hide(result.diff),
    details: Object.fromEntries(
      Object.entries(result.details).map(([key, value]) => [key, hide(value)]),
    ),
    ...(result.error === undefined ? {} : { error: hide(result.error) }),
  });
}

/** Every text in a value, and the lines of each: programs print them one by one. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value, ...value.split("\n").map((line) => line.trim())];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** Reads the arguments of a call by position or name, as a function declares them. */
import { Problem } from "./_problem.ts";
import { type Call, kindOf, Missing, refuseOpaque, Rendered } from "./_values.ts";

/** Values in the order of `names`; undefined for those not given. Too many, or an unknown name, is refused. */
export function read(call: Call, ...names: readonly string[]): unknown[] {
  if (call.positional.length > names.length) {
    throw new Problem(`takes at most ${names.length} arguments, not ${call.positional.length}`);
  }
  const values: unknown[] = names.map((name, at) =>
    at < call.positional.length ? call.positional[at] : call.named.get(name)
  );
  for (const name of call.named.keys()) {
    if (!names.includes(name)) throw new Problem(`has no argument \`${name}\``);
  }
  return values.map((value) => value instanceof Missing ? undefined : value);
}

/** A text, or what is meant when it was left out. */
export function text(value: unknown, otherwise?: string): string {
  refuseOpaque(value);
  if (value instanceof Rendered) return value.text;
  if (typeof value === "string") return value;
  if (value === undefined && otherwise !== undefined) return otherwise;
  throw new Problem(`needs a text, not ${kindOf(value ?? null)}`);
}

/** A number, or what is meant when it was left out. */
export function number(value: unknown, otherwise?: number): number {
  refuseOpaque(value);
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  if (value === undefined && otherwise !== undefined) return otherwise;
  throw new Problem(`needs a number, not ${kindOf(value ?? null)}`);
}

/** A whole number that is not negative, or what is meant when it was left out. */
export function count(value: unknown, otherwise?: number): number {
  const found = number(value, otherwise);
  if (Number.isSafeInteger(found) && found >= 0) return found;
  throw new Problem(`needs a whole number that is not negative, not ${found}`);
}

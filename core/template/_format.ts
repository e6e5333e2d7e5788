/** Python's two ways to format a text: `"%s" % x` and `"{}".format(x)`, as far as configuration uses them. */
import * as args from "./_arguments.ts";
import type { Budget } from "./_budget.ts";
import { Problem } from "./_problem.ts";
import { type Call, memberOf, textOf } from "./_values.ts";

const PERCENT = /%(?:\((\w+)\))?([-+ 0#]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g;
const BRACES = /\{\{|\}\}|\{([\w.]*)(?:\[(\w+)\])?(?:![rs])?(?::([^{}]*))?\}/g;
const SPEC = /^(?:(.)?([<>^]))?([-+ ]?)(0?)(\d*)(,?)(?:\.(\d+))?([a-zA-Z%]?)$/s;

/** `template % values`; values are one value, a list of them, or a dict for `%(name)s`. */
export function percentFormatted(template: string, values: unknown, budget: Budget): string {
  const list = Array.isArray(values) ? values : [values];
  let next = 0;
  return template.replace(
    PERCENT,
    (_whole, name, flags: string, width, precision, kind: string) => {
      if (kind === "%") return "%";
      const value = name === undefined ? list[next++] : memberOf(values, name);
      if (value === undefined) throw new Problem("there are fewer values than the format asks for");
      const text = converted(value, { kind, precision, plus: flags.includes("+") }, budget);
      return aligned(text, {
        width: args.count(Number(width ?? 0)),
        fill: flags.includes("0") ? "0" : " ",
        side: flags.includes("-") ? "<" : ">",
      }, budget);
    },
  );
}

/** `template.format(...)`. */
export function formatted(template: string, call: Call, budget: Budget): string {
  let next = 0;
  return template.replace(BRACES, (whole, path: string | undefined, key, spec = "") => {
    if (whole === "{{") return "{";
    if (whole === "}}") return "}";
    const [head = "", ...rest] = (path ?? "").split(".");
    const first = head === "" ? call.positional[next++] : argument(call, head);
    const value = [...rest, ...(key === undefined ? [] : [key])].reduce<unknown>(memberOf, first);
    if (value === undefined) throw new Problem(`there is no value for \`${whole}\``);
    return bySpec(value, spec, budget);
  });
}

function argument(call: Call, head: string): unknown {
  return /^\d+$/.test(head) ? call.positional[Number(head)] : call.named.get(head);
}

function bySpec(value: unknown, spec: string, budget: Budget): string {
  const parts = SPEC.exec(spec);
  if (parts === null) throw new Problem(`the format \`${spec}\` is not understood`);
  const [, fill, side, sign, zero, width, comma, precision, kind = ""] = parts;
  const shape = { kind: kind || "s", precision, plus: sign === "+" };
  let text = kind === "" && precision === undefined
    ? textOf(value, budget)
    : converted(value, shape, budget);
  const isNumber = typeof value === "number";
  if (comma === "," && isNumber) {
    text = text.replace(/^-?\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
  }
  return aligned(text, {
    width: args.count(Number(width || 0)),
    fill: fill ?? (zero === "0" ? "0" : " "),
    side: side ?? (isNumber ? ">" : "<"),
  }, budget);
}

function converted(
  value: unknown,
  shape: { kind: string; precision: string | undefined; plus: boolean },
  budget: Budget,
): string {
  const digits = shape.precision === undefined ? undefined : Math.min(100, Number(shape.precision));
  const signed = (text: string) => shape.plus && !text.startsWith("-") ? `+${text}` : text;
  switch (shape.kind) {
    case "s":
    case "r":
      return digits === undefined ? textOf(value, budget) : textOf(value, budget).slice(0, digits);
    case "d":
    case "i":
    case "u":
      return signed(String(Math.trunc(args.number(value))));
    case "f":
    case "F":
      return signed(args.number(value).toFixed(digits ?? 6));
    case "e":
      return signed(args.number(value).toExponential(digits ?? 6));
    case "g":
      return signed(String(Number(args.number(value).toPrecision(Math.max(1, digits ?? 6)))));
    case "x":
      return signed(Math.trunc(args.number(value)).toString(16));
    case "X":
      return signed(Math.trunc(args.number(value)).toString(16).toUpperCase());
    case "o":
      return signed(Math.trunc(args.number(value)).toString(8));
    case "b":
      return signed(Math.trunc(args.number(value)).toString(2));
    default:
      throw new Problem(`the format \`${shape.kind}\` is not known`);
  }
}

function aligned(
  text: string,
  how: { width: number; fill: string; side: string },
  budget: Budget,
): string {
  budget.text(Math.max(text.length, how.width));
  if (how.side === "<") return text.padEnd(how.width, how.fill);
  if (how.side === ">") return padNumber(text, how);
  const left = Math.floor(Math.max(0, how.width - text.length) / 2);
  return text.padStart(text.length + left, how.fill).padEnd(how.width, how.fill);
}

/** Zeros go between the sign and the digits. */
function padNumber(text: string, how: { width: number; fill: string }): string {
  const sign = how.fill === "0" && /^[-+]/.test(text) ? text[0]! : "";
  return sign + text.slice(sign.length).padStart(how.width - sign.length, how.fill);
}

/** Decides on colours and signs. No meaning is carried by colour alone. */
import type { Environment } from "../../core/config.ts";
import type { Color } from "../commands/flags.ts";

const CODES = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;
export type Paint = keyof typeof CODES;

/** How to draw: with colour or not, with signs beyond ASCII or not. */
export interface Style {
  readonly color: boolean;
  readonly unicode: boolean;
}

/** Without any decoration: for files and tests. */
export const PLAIN: Style = { color: false, unicode: true };

/** Chooses the style for a stream. An explicit flag wins, then NO_COLOR, then FORCE_COLOR, then the terminal. */
export function chooseStyle(
  { flag, env, isTerminal }: { flag: Color; env: Environment; isTerminal: boolean },
): Style {
  return { color: wantsColor(flag, env, isTerminal), unicode: isUnicode(env) };
}

function wantsColor(flag: Color, env: Environment, isTerminal: boolean): boolean {
  if (flag !== "auto") return flag === "always";
  if (isSet(env["NO_COLOR"])) return false;
  if (isSet(env["FORCE_COLOR"])) return env["FORCE_COLOR"] !== "0";
  return isTerminal && isCapable(env);
}

/** Whether live regions may be drawn on a terminal: not on a dumb one, not in a CI log. */
export function isCapable(env: Environment): boolean {
  return env["TERM"] !== "dumb" && !isSet(env["CI"]);
}

function isUnicode(env: Environment): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  return locale === undefined || /utf-?8/i.test(locale);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

/** Colours a text, if colours are on. */
export function paint(style: Style, how: Paint, text: string): string {
  return style.color ? `\u001b[${CODES[how]}m${text}\u001b[0m` : text;
}

/** The separator between counts. */
export function dot(style: Style): string {
  return style.unicode ? "·" : "|";
}

/** A text of at most so many characters, with a sign where some were left out. */
export function cut(text: string, length: number, style: Style): string {
  const sign = ellipsis(style);
  return text.length <= length
    ? text
    : `${text.slice(0, Math.max(0, length - sign.length))}${sign}`;
}

/** The sign for what was left out. */
export function ellipsis({ unicode }: Style): string {
  return unicode ? "…" : "...";
}

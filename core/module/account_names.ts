/** What users and groups may be called in parameters, so that no name is an option, a list or a line of its own. */
import { checked, line, type Param, textList } from "./params.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,254}\$?$/;

function wrongName(name: string): string | null {
  return NAME.test(name) ? null : `${JSON.stringify(name)} is no name of a user or group`;
}

/** The name of a user or group. */
export function accountName(usage: string): Param<string> {
  return checked(line(usage), wrongName);
}

/** Names of users or groups. */
export function accountNames(usage: string): Param<readonly string[]> {
  return checked(
    textList(usage),
    (names) => names.map(wrongName).find((wrong) => wrong !== null) ?? null,
  );
}

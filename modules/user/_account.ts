/** What is known of one user of this host, what differs from what is wanted, and the arguments that mend it. */
import {
  GROUP_PATH,
  type GroupRef,
  type Host,
  PASSWD_PATH,
  type Program,
  readGroups,
} from "../../core/module.ts";

export const SHADOW_PATH = "/etc/shadow";

/** The password goes in by stdin: an argument can be seen by every user of the host. */
export const SET_PASSWORD: Program = ["chpasswd", "--encrypted"];

/** What is wanted of a user; what is absent is left alone. */
export interface Wanted {
  readonly name: string;
  readonly uid?: number | undefined;
  readonly gid?: GroupRef | undefined;
  readonly primary_group?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly optional_groups?: readonly string[] | undefined;
  readonly remove_groups: boolean;
  readonly home?: string | undefined;
  readonly shell?: string | undefined;
  readonly fullname?: string | undefined;
  readonly password?: string | undefined;
  readonly createhome: boolean;
  readonly system: boolean;
}

/** A user as the files of the host have it. */
export interface Seen {
  readonly uid: number;
  readonly gid: number;
  readonly gecos: string;
  readonly home: string;
  readonly shell: string;
  /** Null when it was not asked for, or cannot be told. */
  readonly hash: string | null;
}

/** The groups of the host, as far as they were asked for. */
export interface Groups {
  readonly gids: ReadonlyMap<string, number>;
  /** Those that the user is a member of, besides its primary one. */
  readonly member: readonly string[];
}

// ---- programs ------------------------------------------------------------------------------------------------

/** Makes the user, without its further groups and its password. */
export function createProgram(want: Wanted): Program {
  const primary = primaryOf(want);
  return [
    "useradd",
    ...(want.uid === undefined ? [] : ["--uid", String(want.uid)]),
    ...(primary === null ? [] : ["--gid", String(primary)]),
    ...(want.home === undefined ? [] : ["--home-dir", want.home]),
    ...(want.shell === undefined ? [] : ["--shell", want.shell]),
    ...(want.fullname === undefined ? [] : ["--comment", want.fullname]),
    ...(want.system ? ["--system"] : []),
    want.createhome ? "--create-home" : "--no-create-home",
    "--",
    want.name,
  ];
}

/** The name comes first, so that a grant of the beginning is for this user alone. */
export function modifyProgram(name: string, args: readonly string[] = []): Program {
  return ["usermod", name, ...args];
}

/** Removes the user; `purge`: with its home and mail. */
export function deleteProgram(
  name: string,
  { purge, force = false }: { purge: boolean; force?: boolean },
): Program {
  return [
    "userdel",
    ...(purge ? ["--remove"] : []),
    ...(force ? ["--force"] : []),
    "--",
    name,
  ];
}

/** The primary group that is wanted, by name or number: a name wins. */
export function primaryOf({ gid, primary_group }: Wanted): string | number | null {
  if (gid !== undefined && "group" in gid) return gid.group;
  return primary_group ?? gid?.gid ?? null;
}

// ---- looking -------------------------------------------------------------------------------------------------

/** Whether any look needs the groups. */
export function needsGroups(want: Wanted): boolean {
  return want.groups !== undefined || typeof primaryOf(want) === "string";
}

/** The files that a look reads. */
export function readsOf(want: Wanted): string[] {
  return [
    PASSWD_PATH,
    ...(needsGroups(want) ? [GROUP_PATH] : []),
    ...(want.password === undefined ? [] : [SHADOW_PATH]),
  ];
}

/** The user; null when there is none. */
export async function observe(host: Host, want: Wanted): Promise<Seen | null> {
  const row = await rowOf(host, PASSWD_PATH, want.name);
  if (row === null) return null;
  const [, , uid, gid, gecos = "", home = "", shell = ""] = row;
  const hash = want.password === undefined ? null : await hashOf(host, want.name);
  return { uid: Number(uid), gid: Number(gid), gecos, home, shell, hash };
}

async function hashOf(host: Host, name: string): Promise<string | null> {
  const row = await rowOf(host, SHADOW_PATH, name);
  return row?.[1] ?? null;
}

async function rowOf(host: Host, path: string, name: string): Promise<string[] | null> {
  const bytes = await host.readFile(path);
  if (bytes === null) throw new Error(`${path} is missing`);
  const rows = new TextDecoder().decode(bytes).split("\n").map((line) => line.split(":"));
  return rows.find(([own]) => own === name) ?? null;
}

/** The groups, or none where nothing asks for them. */
export async function observeGroups(host: Host, want: Wanted): Promise<Groups> {
  if (!needsGroups(want)) return { gids: new Map(), member: [] };
  const all = await readGroups(host);
  return {
    gids: new Map(all.map(({ name, gid }) => [name, gid])),
    member: all.filter(({ members }) => members.includes(want.name)).map(({ name }) => name),
  };
}

// ---- comparing -----------------------------------------------------------------------------------------------

/** One thing that differs: in words, how `usermod` mends it and how it takes that back. */
export interface Difference {
  readonly why: string;
  readonly mend: readonly string[];
  readonly undo: readonly string[];
}

/** Pure: what `usermod` would have to change. */
export function planUser(want: Wanted, seen: Seen, groups: Groups): Difference[] {
  return [
    ...plain("uid", ["--uid", want.uid, seen.uid]),
    ...planPrimary(want, seen, groups),
    ...plain("home", ["--home", want.home, seen.home]),
    ...plain("shell", ["--shell", want.shell, seen.shell]),
    ...planFullname(want, seen),
    ...planGroups(want, groups),
  ];
}

function plain(
  what: string,
  [option, want, seen]: [option: string, want: string | number | undefined, seen: string | number],
): Difference[] {
  if (want === undefined || want === seen) return [];
  return [{
    why: `${what} ${seen} != ${want}`,
    mend: [option, String(want)],
    undo: [option, String(seen)],
  }];
}

function planPrimary(want: Wanted, { gid }: Seen, { gids }: Groups): Difference[] {
  const primary = primaryOf(want);
  if (typeof primary === "number") return plain("gid", ["--gid", primary, gid]);
  if (primary === null || gids.get(primary) === gid) return [];
  const isThere = gids.has(primary);
  const why = `primary group ${isThere ? "is not " : ""}${JSON.stringify(primary)}${
    isThere ? "" : " does not exist"
  }`;
  return [{ why, mend: ["--gid", primary], undo: ["--gid", String(gid)] }];
}

/** The further parts of the field, such as a room number, stay. */
function planFullname({ fullname }: Wanted, { gecos }: Seen): Difference[] {
  const [old = "", ...rest] = gecos.split(",");
  if (fullname === undefined || fullname === old) return [];
  return [{
    why: `fullname ${JSON.stringify(old)} != ${JSON.stringify(fullname)}`,
    mend: ["--comment", [fullname, ...rest].join(",")],
    undo: ["--comment", gecos],
  }];
}

function planGroups(want: Wanted, { gids, member }: Groups): Difference[] {
  const wanted = groupsOf(want, { gids, member });
  if (wanted === null) return [];
  const isSame = wanted.length === member.length && wanted.every((name) => member.includes(name));
  if (isSame) return [];
  const shown = (names: readonly string[]) => [...names].sort().join(",") || "none";
  return [{
    why: `groups ${shown(member)} != ${shown(wanted)}`,
    mend: ["--groups", wanted.join(",")],
    undo: ["--groups", member.join(",")],
  }];
}

/** The further groups that are wanted in the end; null when nothing is said of them. */
export function groupsOf(want: Wanted, { gids, member }: Groups): string[] | null {
  if (want.groups === undefined) return null;
  const optional = (want.optional_groups ?? []).filter((name) => gids.has(name));
  const kept = want.remove_groups ? [] : member;
  const primary = primaryOf(want);
  return [...new Set([...kept, ...want.groups, ...optional])].filter((name) => name !== primary);
}

/** Whether the password is another one than declared. One that cannot be told counts as another. */
export function isOtherPassword({ password }: Wanted, { hash }: Seen): boolean {
  return password !== undefined && password !== hash;
}

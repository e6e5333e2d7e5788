/** Users and groups of the host, as its own files say. Only "no such line" means absent: a file that cannot be read is an error. */
import type { Host } from "./host.ts";

export const PASSWD_PATH = "/etc/passwd";
export const GROUP_PATH = "/etc/group";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly fullName: string;
  readonly home: string;
  readonly shell: string;
}

export interface Group {
  readonly name: string;
  readonly gid: number;
  readonly members: readonly string[];
}

type Reader = Pick<Host, "readFile">;

/** All users. The call needs a grant to read `PASSWD_PATH`. */
export async function readAccounts(host: Reader): Promise<Account[]> {
  return (await readRows(host, PASSWD_PATH)).map((
    [name = "", , uid, gid, gecos = "", home = "", shell = ""],
  ) => ({
    name,
    uid: Number(uid),
    gid: Number(gid),
    fullName: gecos.split(",", 1)[0]!,
    home,
    shell,
  }));
}

/** All groups. The call needs a grant to read `GROUP_PATH`. */
export async function readGroups(host: Reader): Promise<Group[]> {
  return (await readRows(host, GROUP_PATH)).map(([name = "", , gid, members = ""]) => ({
    name,
    gid: Number(gid),
    members: members.split(",").filter((member) => member !== ""),
  }));
}

/** The user of that name or number; null when there is none. */
export async function findAccount(host: Reader, nameOrUid: string): Promise<Account | null> {
  const accounts = await readAccounts(host);
  return accounts.find(({ name }) => name === nameOrUid) ??
    accounts.find(({ uid }) => String(uid) === nameOrUid) ?? null;
}

/** The group of that name or number; null when there is none. */
export async function findGroup(host: Reader, nameOrGid: string): Promise<Group | null> {
  const groups = await readGroups(host);
  return groups.find(({ name }) => name === nameOrGid) ??
    groups.find(({ gid }) => String(gid) === nameOrGid) ?? null;
}

async function readRows(host: Reader, path: string): Promise<string[][]> {
  const bytes = await host.readFile(path);
  if (bytes === null) throw new Error(`${path} is missing`);
  return new TextDecoder().decode(bytes).split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(":"));
}

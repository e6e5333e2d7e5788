/** Edits the text of an authorized_keys file, and finds where it is. A key is known by its blob. */
import {
  absolutePath,
  checked,
  findAccount,
  type Grant,
  type Host,
  line,
  optional,
  PASSWD_PATH,
  primary,
} from "../../core/module.ts";

export const FILE_MODE = 0o600;
export const FOLDER_MODE = 0o700;

export const keyParams = {
  name: primary(line("The key: its blob alone, or a whole line with type and comment.")),
  user: optional(
    checked(
      line("Whose keys."),
      (user) => /^[A-Za-z_][\w.-]*\$?$/.test(user) ? null : "a user name is wanted",
    ),
  ),
  config: optional(absolutePath("The file itself, instead of the one of the user.")),
};

/** Finds the blob in a line: the base64 that begins as every public key does. */
export function blobOf(text: string): string {
  const words = text.trim().split(/\s+/);
  return words.find((word) => /^AAAA[A-Za-z0-9+/]+=*$/.test(word)) ?? words[0] ?? "";
}

function holds(text: string, blob: string): boolean {
  return text.trim().split(/\s+/).includes(blob);
}

/** The text with exactly one line for the key. */
export function withKey(text: string, wanted: string): string {
  const blob = blobOf(wanted);
  const lines = text.split("\n");
  const at = lines.findIndex((each) => holds(each, blob));
  if (at < 0) {
    const separator = text === "" || text.endsWith("\n") ? "" : "\n";
    return `${text}${separator}${wanted}\n`;
  }
  lines[at] = wanted;
  return lines.filter((each, index) => index <= at || !holds(each, blob)).join("\n");
}

/** The text without the key. */
export function withoutKey(text: string, key: string): string {
  const blob = blobOf(key);
  return text.split("\n").filter((each) => !holds(each, blob)).join("\n");
}

// ---- where ---------------------------------------------------------------------------------------------------

export interface Whose {
  readonly user?: string | undefined;
  readonly config?: string | undefined;
}

/** The file of the keys and who should own it. */
export interface KeyFile {
  readonly path: string;
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

/**
 * The home of a user is known only after a look, but a grant must be exact before: so it is taken from what the system makes
 * of names, and a home elsewhere needs `config`.
 */
export function keyPath({ user, config }: Whose): string {
  if (config !== undefined) return config;
  if (user === undefined) throw new Error("user or config path is required");
  const home = user === "root" ? `/${user}` : `/home/${user}`;
  return `${home}/.ssh/authorized_keys`;
}

/** What looking at and writing the file needs. */
export function keyGrant(whose: Whose): Grant {
  const path = keyPath(whose);
  const folder = path.slice(0, path.lastIndexOf("/"));
  return {
    read: [
      ...(whose.config === undefined ? [folder] : []),
      ...(whose.user === undefined ? [] : [PASSWD_PATH]),
    ],
    write: [path, ...(whose.config === undefined ? [folder] : [])],
  };
}

/** Finds the file, and refuses to guess when the user lives elsewhere. */
export async function findKeyFile(host: Host, whose: Whose): Promise<KeyFile> {
  const path = keyPath(whose);
  if (whose.user === undefined) return { path, owner: null };
  const account = await findAccount(host, whose.user);
  if (account === null) throw new Error(`there is no user ${whose.user}`);
  if (whose.config === undefined && path !== `${account.home}/.ssh/authorized_keys`) {
    throw new Error(
      `the home of ${whose.user} is ${account.home}: set config to its authorized_keys`,
    );
  }
  return { path, owner: { uid: account.uid, gid: account.gid } };
}

/**
 * A grant: all that one call of a module may touch. It is made from the call's parameters before anything runs, shown to
 * whoever asks, checked against the host's policy, and then every host call is checked against it. Pure.
 *
 * Paths are absolute and spelled without `.`, `..` or doubled slashes; `/srv/www/**` means all below `/srv/www`.
 * A program is granted with its leading arguments: `["systemctl", "restart", "nginx"]` does not allow `stop`.
 */

/** A program with the arguments that it must begin with. */
export type Program = readonly [program: string, ...leadingArguments: string[]];

/** Doors of the peel itself that a call may knock at. */
export const PEEL_SERVICES = {
  catalog: "lists the functions of the peel and works out their grants",
  event: "sends events in the name of the peel",
  facts: "writes custom facts of the peel",
  settings: "reads the settings of the peel",
} as const;

export type PeelService = keyof typeof PEEL_SERVICES;

export interface Grant {
  /** Files and folders that may be looked at. What may be written may also be read. */
  readonly read?: readonly string[];
  /** Files and folders that may be made, replaced, changed or removed. */
  readonly write?: readonly string[];
  /** Programs that only look: a dry run may run them. */
  readonly probe?: readonly Program[];
  /** Programs that change something. */
  readonly run?: readonly Program[];
  /** Names of variables that programs may be given, besides those that every program may have. */
  readonly env?: readonly string[];
  /** `host:port` that may be spoken to. */
  readonly net?: readonly string[];
  /** Process ids that may be sent a signal. */
  readonly signal?: readonly string[];
  /** Files of the state tree; `nginx/**` means all below `nginx`. */
  readonly tree?: readonly string[];
  readonly peel?: readonly PeelService[];
}

/** Every kind of grant: what it is called on screen, and whether a dry run gets it. */
export const GRANT_KINDS = {
  read: { looks: true, says: "reads" },
  tree: { looks: true, says: "reads of the state tree" },
  probe: { looks: true, says: "asks" },
  write: { looks: false, says: "writes" },
  run: { looks: false, says: "runs" },
  env: { looks: true, says: "sets for programs" },
  net: { looks: false, says: "speaks to" },
  signal: { looks: false, says: "signals" },
  peel: { looks: false, says: "uses of the peel" },
} as const satisfies Record<keyof Grant, { looks: boolean; says: string }>;

export type GrantKind = keyof typeof GRANT_KINDS;

/** One thing that a host call asks for. */
export type Need =
  | { readonly kind: "read" | "write"; readonly what: string }
  | { readonly kind: "tree" | "env" | "net" | "signal" | "peel"; readonly what: string }
  | { readonly kind: "run"; readonly program: Program };

/** Why the grant does not cover the need; null when it does. */
export function refusal(grant: Grant, need: Need): string | null {
  if (need.kind === "run") {
    const programs = [...(grant.probe ?? []), ...(grant.run ?? [])];
    if (programs.some((granted) => begins(need.program, granted))) return null;
    return `running ${shownProgram(need.program)} was not granted`;
  }
  if (need.kind === "read" || need.kind === "write") return pathRefusal(grant, need);
  if (need.kind === "tree") return treeRefusal(grant, need.what);
  if (need.kind === "env" && HARMLESS_VARIABLES.test(need.what)) return null;
  if ((grant[need.kind] as readonly string[] | undefined)?.includes(need.what)) return null;
  return `${need.kind} ${JSON.stringify(need.what)} was not granted`;
}

/**
 * Variables that only change how a program speaks, or that keep it from asking. Others can change what it does, `PATH` and
 * `GIT_SSH_COMMAND` which programs it starts: those must be granted like the program itself.
 */
const HARMLESS_VARIABLES =
  /^(LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|DEBIAN_FRONTEND|NEEDRESTART_MODE|HOMEBREW_NO_[A-Z_]+|GIT_TERMINAL_PROMPT)$/;

function pathRefusal(
  grant: Grant,
  { kind, what }: { kind: "read" | "write"; what: string },
): string | null {
  if (!isPlainPath(what)) return `${JSON.stringify(what)} is not an absolute path without . and ..`;
  const granted = kind === "write"
    ? grant.write ?? []
    : [...(grant.read ?? []), ...(grant.write ?? [])];
  if (granted.some((pattern) => coversPath(pattern, what))) return null;
  return `${kind === "read" ? "reading" : "writing"} ${JSON.stringify(what)} was not granted`;
}

/** Paths of the state tree begin at its top, without a slash. */
function treeRefusal({ tree = [] }: Grant, path: string): string | null {
  if (isPlainPath(`/${path}`) && tree.some((pattern) => coversPath(pattern, path))) return null;
  return `tree ${JSON.stringify(path)} was not granted`;
}

/** Whether a path is absolute and says what it means: no `.`, `..`, doubled or trailing slash, no NUL. */
export function isPlainPath(path: string): boolean {
  if (path === "/") return true;
  if (!path.startsWith("/") || path.includes("\0")) return false;
  return path.slice(1).split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

const TREE_SUFFIX = "/**";

function coversPath(pattern: string, path: string): boolean {
  if (!pattern.endsWith(TREE_SUFFIX)) return pattern === path;
  const folder = pattern.slice(0, -TREE_SUFFIX.length);
  return path.startsWith(`${folder}/`);
}

function begins(program: Program, granted: Program): boolean {
  return granted.every((part, index) => program[index] === part);
}

/** What a dry run gets: the looking part. What could be written can be looked at. */
export function lookingPart({ write, ...grant }: Grant): Grant {
  const looking = Object.fromEntries(
    Object.entries(grant).filter(([kind]) => GRANT_KINDS[kind as GrantKind].looks),
  );
  return write === undefined ? looking : unionOf([looking, { read: write }]);
}

/** All of several grants, each thing once. */
export function unionOf(grants: readonly Grant[]): Grant {
  const all: Partial<Record<GrantKind, unknown[]>> = {};
  const seen = new Set<string>();
  for (const grant of grants) {
    for (const [kind, things] of Object.entries(grant) as [GrantKind, readonly unknown[]][]) {
      for (const thing of things) {
        const key = JSON.stringify([kind, thing]);
        if (seen.has(key)) continue;
        seen.add(key);
        (all[kind] ??= []).push(thing);
      }
    }
  }
  return all as Grant;
}

/** One granted thing as the policy and the screen spell it. */
export interface GrantRow {
  readonly kind: GrantKind;
  readonly what: string;
}

/** The grant in rows, in the order of the kinds. */
export function grantRows(grant: Grant): GrantRow[] {
  return (Object.keys(GRANT_KINDS) as GrantKind[]).flatMap((kind) =>
    (grant[kind] ?? []).map((thing) => ({
      kind,
      what: typeof thing === "string" ? thing : shownProgram(thing as Program),
    }))
  );
}

function shownProgram(program: Program): string {
  return program.map((part) => /^[\w@%+=:,./-]+$/.test(part) ? part : JSON.stringify(part)).join(
    " ",
  );
}

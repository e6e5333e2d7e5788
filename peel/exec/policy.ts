/**
 * What this host lets modules touch, whatever a state asks for: `policy.zy`. Rows name modules by a glob, then kinds of
 * grants, then what is allowed or denied, with globs too. A deny wins. With an `allow` part, what no row of it allows is
 * denied; without one, everything is allowed that is not denied. Pure.
 *
 * ```yaml
 * allow:
 *   "file.*": { read: ["**"], write: ["/etc/**", "/srv/**"] }
 *   "cmd.*": { run: ["/bin/sh -c *"] }
 * deny:
 *   "*": { write: ["/etc/shadow", "/etc/sudoers.d/**"] }
 * ```
 */
import { ZesterError } from "../../core/errors.ts";
import {
  type Grant,
  GRANT_KINDS,
  type GrantKind,
  type GrantRow,
  grantRows,
} from "../../core/module/grant.ts";
import { nearest } from "../../core/nearest.ts";
import { matchesGlob } from "../../core/target/glob.ts";
import { readYamlMap } from "../../core/yaml_map.ts";

type Kinds = Partial<Readonly<Record<GrantKind, readonly string[]>>>;
type Rows = Readonly<Record<string, Kinds>>;

export interface Policy {
  readonly allow?: Rows;
  readonly deny?: Rows;
}

/** What holds where there is no policy file: the grants alone decide. */
export const DEFAULT_POLICY: Policy = {};

/** Why the policy does not let the module have its grant; null when it does. */
export function policyRefusal(policy: Policy, module: string, grant: Grant): string | null {
  for (const row of grantRows(grant)) {
    const denied = find(
      policy.deny,
      module,
      (pattern, kind) => (kind === row.kind || kind === IMPLIED[row.kind]) && touches(pattern, row),
    );
    if (denied !== null) return `${row.kind} ${row.what} is denied by the row ${denied}`;
    if (policy.allow === undefined) continue;
    const allowed = find(
      policy.allow,
      module,
      (pattern, kind) => kind === row.kind && matchesGlob(pattern, row.what),
    );
    if (allowed === null) return `${row.kind} ${row.what} is allowed by no row`;
  }
  return null;
}

/**
 * What comes along with a kind and may be denied by its name too: what may be written may be read, and that a program only
 * looks is the word of the module.
 */
const IMPLIED: Partial<Readonly<Record<GrantKind, GrantKind>>> = { write: "read", probe: "run" };

/** The first row that fits, as `cmd.*: run "/bin/sh *"`. */
function find(
  rows: Rows | undefined,
  module: string,
  fits: (pattern: string, kind: GrantKind) => boolean,
): string | null {
  for (const [name, kinds] of Object.entries(rows ?? {})) {
    if (!matchesGlob(name, module)) continue;
    for (const [kind, patterns] of Object.entries(kinds) as [GrantKind, readonly string[]][]) {
      const found = patterns.find((pattern) => fits(pattern, kind));
      if (found !== undefined) return `${name}: ${kind} ${JSON.stringify(found)}`;
    }
  }
  return null;
}

/** Whether a denied pattern and a granted thing have anything in common: a grant of `/srv/**` holds the denied `/srv/key`. */
function touches(pattern: string, { kind, what }: GrantRow): boolean {
  if (matchesGlob(pattern, what)) return true;
  const literal = pattern.slice(0, (pattern.search(/[*?[\\]/) + 1 || pattern.length + 1) - 1);
  if (kind === "run" || kind === "probe") return literal.startsWith(`${what} `);
  if (!what.endsWith("/**")) return false;
  const folder = what.slice(0, -2);
  return literal.startsWith(folder) ||
    (literal.length < pattern.length && folder.startsWith(literal));
}

// ---- reading -------------------------------------------------------------------------------------------------

const PARTS = ["allow", "deny"] as const;

/** Reads a policy file. Throws `config_invalid` naming the file, the key and what may stand there. */
export async function readPolicy(path: string, text: string): Promise<Policy> {
  const entries = await readYamlMap(path, text, () => false);
  const policy: Record<string, Rows> = {};
  for (const { key, value, line } of entries) {
    if (!PARTS.some((part) => part === key)) {
      throw invalid(`${path}:${line}`, `there is no part "${key}" (allow or deny)`);
    }
    policy[key] = rowsOf(`${path}:${line}`, key, value);
  }
  return policy;
}

function rowsOf(where: string, part: string, value: unknown): Rows {
  const rows: Record<string, Kinds> = {};
  for (const [module, kinds] of entriesOf(where, part, value)) {
    rows[module] = Object.fromEntries(
      entriesOf(where, `${part}.${module}`, kinds).map(([kind, patterns]) => {
        if (!Object.hasOwn(GRANT_KINDS, kind)) throw unknownKind(where, `${part}.${module}`, kind);
        return [kind, patternsOf(where, `${part}.${module}.${kind}`, patterns)];
      }),
    );
  }
  return rows;
}

function entriesOf(where: string, key: string, value: unknown): [string, unknown][] {
  if (!(value instanceof Map)) throw invalid(where, `${key} is not a map`);
  return [...value].map(([name, each]) => [String(name), each]);
}

function patternsOf(where: string, key: string, value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.every((each) => typeof each === "string" && each !== "")) return list;
  throw invalid(where, `${key} is not a list of patterns`);
}

function unknownKind(where: string, key: string, kind: string): ZesterError {
  const close = nearest(kind, Object.keys(GRANT_KINDS));
  const hint = close === null ? "" : `: did you mean ${close}?`;
  return invalid(
    where,
    `${key}: there is no kind "${kind}"${hint} (${Object.keys(GRANT_KINDS).join(", ")})`,
  );
}

function invalid(where: string, what: string): ZesterError {
  return new ZesterError("config_invalid", `policy: ${where}: ${what}`, {
    fix: "docs/sandbox.md shows the form of a policy",
  });
}

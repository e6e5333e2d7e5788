/** `file.find`: answers with paths below a folder, chosen by name, kind, size and time. */
import {
  absolutePath,
  checked,
  defaulted,
  defineFunction,
  type FileInfo,
  FILES_FOUND_MAX,
  type Host,
  integer,
  line,
  matchesGlob,
  optional,
  primary,
} from "../../core/module.ts";
import { childOf, type Visited, walk, wholeTree } from "./_walk.ts";

const KINDS: Readonly<Record<string, FileInfo["kind"]>> = {
  file: "file",
  f: "file",
  folder: "folder",
  directory: "folder",
  d: "folder",
  link: "link",
  l: "link",
  other: "other",
};

export default defineFunction({
  name: "file.find",
  summary: "Answers with paths below a folder, chosen by name, kind, size and time.",
  description:
    `Links are found, not followed. A glob without a slash is held against names, one with a slash against whole paths below the
folder. The answer has a bounded number of paths, and says so when there are more.`,
  params: {
    path: primary(absolutePath("Folder to look through.")),
    glob: optional(line("Such as `*.log`."), "anything"),
    type: optional(checked(line("file, folder, link or other."), notKind), "any"),
    size: optional(checked(line("`+10M` for larger ones, `-4k` for smaller ones."), notSize)),
    mtime: optional(
      checked(line("`+30d` for those changed longer ago, `-2h` for later ones."), notAge),
    ),
    maxdepth: optional(checked(integer("1 for the folder itself only."), notDepth), "any"),
    limit: defaulted(checked(integer("Paths to answer with."), notLimit), FILES_FOUND_MAX),
  },
  positional: ["glob"],
  isReadOnly: true,
  permissions: ({ path }) => ({ read: wholeTree(path) }),
  async run(p, host) {
    if ((await host.stat(p.path, { follow: true }))?.kind !== "folder") {
      throw new Error(`${p.path} is no folder`);
    }
    const paths: string[] = [];
    const nowMs = Date.now();
    const depthMax = p.maxdepth ?? Infinity;
    for await (const found of walk(host, p.path, { depthMax })) {
      if (!await isWanted(p, host, found, nowMs)) continue;
      if (paths.length === p.limit) return { paths, truncated: true };
      paths.push(childOf(p.path, found.below));
    }
    return { paths, truncated: false };
  },
  examples: [
    { title: "Old logs", code: "zester 'web*' file.find /var/log '*.gz' mtime=+30d" },
    { title: "Large files", code: "zester '*' file.find /home type=file size=+1G limit=20" },
  ],
  differences: [
    "The name is matched by `glob`; `iname`, `regex`, `owner`, `grep` and `exec` are not parameters.",
    "The answer is a map with `paths` and `truncated`.",
  ],
});

interface Params {
  readonly path: string;
  readonly glob?: string | undefined;
  readonly type?: string | undefined;
  readonly size?: string | undefined;
  readonly mtime?: string | undefined;
}

/** What a listing tells comes first: a look at each file costs a call. */
async function isWanted(
  p: Params,
  host: Host,
  { below, kind }: Visited,
  nowMs: number,
): Promise<boolean> {
  if (p.type !== undefined && KINDS[p.type.toLowerCase()] !== kind) return false;
  if (p.glob !== undefined && !matchesPath(p.glob, below)) return false;
  if (p.size === undefined && p.mtime === undefined) return true;
  const info = await host.stat(childOf(p.path, below));
  if (info === null) return false; // it went away meanwhile
  return isWithin(p.size, SIZES, info.size) && isWithin(p.mtime, AGES, nowMs - info.modifiedMs);
}

function matchesPath(glob: string, below: string): boolean {
  return matchesGlob(glob, glob.includes("/") ? below : below.split("/").at(-1)!);
}

// ---- bounds --------------------------------------------------------------------------------------------------

type Units = Readonly<Record<string, number>>;

const SIZES: Units = { "": 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const AGES: Units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

interface Bound {
  readonly isOver: boolean;
  readonly amount: number;
}

/** Reads `+10M`; null when it is no such thing. */
function boundOf(text: string, units: Units): Bound | null {
  const [, sign, digits, unit = ""] = /^([+-])(\d{1,15})([a-z]?)$/i.exec(text.trim()) ?? [];
  const each = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined;
  if (digits === undefined || each === undefined) return null;
  return { isOver: sign === "+", amount: Number(digits) * each };
}

/** Whether a value keeps to a bound; without one it does. */
export function isWithin(text: string | undefined, units: Units, value: number): boolean {
  const bound = text === undefined ? null : boundOf(text, units);
  if (bound === null) return true;
  return bound.isOver ? value > bound.amount : value < bound.amount;
}

function notSize(text: string): string | null {
  return boundOf(text, SIZES) === null ? "+ or -, a number and b, k, M, G or T is wanted" : null;
}

function notAge(text: string): string | null {
  return boundOf(text, AGES) === null ? "+ or -, a number and s, m, h, d or w is wanted" : null;
}

function notKind(text: string): string | null {
  return Object.hasOwn(KINDS, text.toLowerCase()) ? null : "file, folder, link or other is wanted";
}

function notDepth(depth: number): string | null {
  return depth < 1 ? "1 or more is wanted" : null;
}

function notLimit(limit: number): string | null {
  return limit < 1 || limit > FILES_FOUND_MAX ? `1 to ${FILES_FOUND_MAX} is wanted` : null;
}

/**
 * Makes the source of a module from the state tree fit for a worker, or says what is wrong with it. A worker's static imports
 * are resolved with the rights of the peel, so a source may import nothing but `zester`, and that by one statement at its
 * beginning, which is replaced by a look at what our worker has put in place. Pure.
 */
import { ZesterError } from "../../core/errors.ts";

/** Under this name our worker keeps what `zester` exports. */
export const ZESTER_GLOBAL = "__zester";

/** Folder of the state tree that holds modules. */
export const MODULES_FOLDER = "_modules";

/** Where the module of that name is in the state tree. */
export function modulePath(name: string): string {
  return `${MODULES_FOLDER}/${name.replace(".", "/")}.ts`;
}

const HEAD =
  /^((?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*)import\s*\{([^}]*)\}\s*from\s*(["'])zester\3\s*;?/;
const TYPE_IMPORT = /^\s*import\s+type\s*\{[^}]*\}\s*from\s*(["'])zester\1\s*;?/;

type Refusals = readonly (readonly [pattern: RegExp, why: string])[];

/** What may not stand in the comments before the first statement, which some tools obey. */
const REFUSED_DIRECTIVES: Refusals = [
  [/^\s*\/\/\/\s*</m, "reference directives are refused"],
  [/@(deno|ts)-types\b/, "type directives are refused"],
  [/@jsx/, "JSX directives are refused"],
  [/sourceMappingURL/, "source maps are refused"],
  [
    /\\u(\{0*(?:[46][0-9a-f]|[57][0-9a])\}|00(?:[46][0-9a-f]|[57][0-9a]))/i,
    "escaped letters in the source are refused",
  ],
];

/** What may not stand anywhere in the rest, and why. Also refused in comments and texts: telling them apart is not worth a hole. */
const REFUSED: Refusals = [
  [
    /\bimport\b/,
    'the word import may only stand in the first statement, which imports from "zester"',
  ],
  [/\bexport\b(?!\s+default\b)/, "only `export default` is allowed"],
  [/\brequire\s*\(/, "require is refused"],
  ...REFUSED_DIRECTIVES,
];

/** The source as the worker imports it, with the same lines as before. Throws `bad_module` naming file and line. */
export function customSource(path: string, source: string): string {
  const refuse = (patterns: Refusals, text: string, at: number) => {
    for (const [pattern, why] of patterns) {
      const found = pattern.exec(text);
      if (found !== null) throw badModule(path, placeOf(source, at + found.index), why);
    }
  };
  const [head = "", before = "", names = ""] = HEAD.exec(source) ?? [];
  refuse(REFUSED_DIRECTIVES, before, 0);
  const prelude = head === "" ? "" : before + bindings(path, source, names) +
    newlines(head.slice(before.length));
  const types = TYPE_IMPORT.exec(source.slice(head.length))?.[0] ?? "";
  const begin = head.length + types.length;
  const rest = source.slice(begin);
  refuse(REFUSED, rest, begin);
  return prelude + newlines(types) + rest;
}

/** `a`, `b as c` or `type D`, and nothing else: what stands here becomes part of a statement of ours. */
const NAME = /^(?:type\s+\w+(?:\s+as\s+\w+)?|(\w+)(?:\s+as\s+(\w+))?)$/;

/** The statement that takes these names from what our worker has put in place. */
function bindings(path: string, source: string, names: string): string {
  const taken = names.split(",").map((name) => name.trim()).filter((name) => name !== "")
    .flatMap((name) => {
      const found = NAME.exec(name);
      if (found === null) {
        throw badModule(path, placeOf(source, source.indexOf(names)), `${name} is no name`);
      }
      const [, given, own] = found;
      if (given === undefined) return [];
      return [own === undefined ? given : `${given}: ${own}`];
    });
  return `const {${taken.join(", ")}} = globalThis.${ZESTER_GLOBAL};`;
}

function newlines(text: string): string {
  return text.replace(/[^\n]/g, "");
}

function placeOf(source: string, at: number): string {
  const lines = source.slice(0, at).split("\n");
  return `${lines.length}:${lines.at(-1)!.length + 1}`;
}

function badModule(path: string, place: string, why: string): ZesterError {
  return new ZesterError("bad_module", `${path}:${place}: ${why}`, {
    fix: "docs/custom-modules.md shows what a module may hold",
  });
}

// ---- errors of the worker ------------------------------------------------------------------------------------

/** An error of a module with the place in its file where it was thrown, if that can be told. */
export interface PlacedError {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** How the engine names a place in a module of the tree; it shortens long addresses. */
const PLACE = /(?:at )?data:application\/typescript;base64,[A-Za-z0-9+/=.]*:(\d+):(\d+)/;
/** The colours that the compiler puts around what it says. */
// deno-lint-ignore no-control-regex
const COLOURS = /\x1b\[[0-9;]*m/g;

/** Finds the place in what was thrown, and leaves one line that says what is wrong. */
export function placeIn(thrown: unknown): PlacedError {
  if (!(thrown instanceof Error)) return { message: `it threw ${String(thrown)}` };
  const message = thrown.message.replaceAll(COLOURS, "");
  const found = PLACE.exec(message) ?? PLACE.exec(String(thrown.stack).replaceAll(COLOURS, ""));
  const told = message.replace(PLACE, "").split("\n")[0]!.trim() || thrown.name;
  if (found === null) return { message: told };
  return { message: told, line: Number(found[1]), column: Number(found[2]) };
}

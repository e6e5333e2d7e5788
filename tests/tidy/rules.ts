/** The rules of this source tree as pure functions: parsed files in, violations out. `tests/tidy_test.ts` runs them. */
import { posix } from "node:path";
import type { Found, Import, ParsedSource } from "./source.ts";

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly why: string;
}

export type Rule = (files: readonly ParsedSource[]) => Violation[];

// ---- what kind of file it is ---------------------------------------------------------------------------------

function isTest(path: string): boolean {
  return path.startsWith("tests/") || path.endsWith("_test.ts");
}

/** Files that are not part of a program that users run. */
function isWorkshop(path: string): boolean {
  return isTest(path) || /^(tools|bench)\//.test(path);
}

/** Files whose job is to touch the outside. */
function isAdapter(path: string): boolean {
  return isWorkshop(path) ||
    /^(core\/nats|core\/adapters|peel\/exec\/(host|isolation)|modules)\//.test(path) ||
    path === "broker/server.ts" || path === "broker/log_file.ts" || /(^|\/)main\.ts$/.test(path);
}

function folderOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
}

/** One violation for each thing found in `files` of which `judge` has something to say. */
function each<T>(
  files: readonly ParsedSource[],
  pick: (file: ParsedSource) => readonly Found<T>[],
  judge: (value: T, file: ParsedSource) => string | undefined,
): Violation[] {
  return files.flatMap((file) =>
    pick(file).flatMap(({ line, value }) => {
      const why = judge(value, file);
      return why === undefined ? [] : [{ path: file.path, line, why }];
    })
  );
}

// ---- imports -------------------------------------------------------------------------------------------------

/** Where each program folder may import from, besides itself. Tests, tools and benchmarks may import everything. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  broker: ["core/"],
  modules: ["core/module.ts", "core/limits.ts"],
  peel: ["core/", "modules/"],
  master: ["core/"],
  cli: ["core/"],
};

/** Imports go one way. */
export const importArrows: Rule = (files) =>
  each(files, (file) => isWorkshop(file.path) ? [] : file.imports, ({ path }, file) => {
    const folder = folderOf(file.path);
    const allowed = ARROWS[folder];
    if (path === undefined || folderOf(path) === folder) return undefined;
    if (allowed === undefined) return `${folder}/ is not a folder that the rules know`;
    return allowed.some((prefix) => path.startsWith(prefix))
      ? undefined
      : `${folder}/ may import ${allowed.join(", ") || "nothing above it"}, not ${path}`;
  });

/** A file named `_x.ts` is private to its folder. */
export const privateFiles: Rule = (files) =>
  each(files, (file) => file.imports, ({ path }, file) => {
    if (path === undefined || !posix.basename(path).startsWith("_")) return undefined;
    return posix.dirname(path) === posix.dirname(file.path)
      ? undefined
      : `${path} is private to ${posix.dirname(path)}/`;
  });

const CLIENT = /^(npm:)?@nats-io\/(transport-\w+|nats-core|jetstream|kv)\b/;

/** Only `core/nats/` imports the NATS client. */
export const clientOnlyInAdapter: Rule = (files) =>
  each(files, (file) => file.imports, ({ specifier }, { path }) => {
    if (!CLIENT.test(specifier) || path.startsWith("core/nats/") || isTest(path)) return undefined;
    return path.startsWith("bench/")
      ? undefined
      : `only core/nats/ imports the client, not ${specifier}`;
  });

/** The client before 3.x lets a subject with line breaks inject protocol commands. */
export const noOldClient: Rule = (files) =>
  each(
    files,
    (file) => file.imports,
    ({ specifier }) =>
      /^(npm:|https:\/\/esm\.sh\/)?nats(@|\/|$)/.test(specifier)
        ? `${specifier}: the nats package is banned; core/nats/ uses @nats-io`
        : undefined,
  );

// ---- the outside ---------------------------------------------------------------------------------------------

/** Members that are harmless although their object is watched. */
const HARMLESS = /^(Date\.(UTC|parse)|Date|AbortSignal(\.(abort|any))?|crypto|performance)$/;

function reachesOut(name: string): boolean {
  if (name.startsWith("Math.")) return name === "Math.random";
  return name !== "Math" && !HARMLESS.test(name);
}

/** Built-ins of Node that reach the outside, whole modules or single functions of them. */
const NODE_OUTSIDE =
  /^node:(fs|net|tls|dns|http2?|https|dgram|os|process|child_process|cluster|worker_threads|timers|perf_hooks|readline|repl|tty)(\/|$)/;

function nodeReachesOut({ specifier, names }: Import): boolean {
  if (NODE_OUTSIDE.test(specifier)) return true;
  return specifier === "node:crypto" &&
    names.some((name) => /^(random|webcrypto|subtle)/.test(name));
}

/** Time, chance and I/O come in as ports: a simulated run must repeat. */
export const outsideOnlyInAdapters: Rule = (files) => {
  const inside = files.filter((file) => !isAdapter(file.path));
  const why = (name: string) => `${name} belongs in an adapter; take a port of core/ports.ts`;
  return [
    ...each(inside, (file) => file.globals, (name) => reachesOut(name) ? why(name) : undefined),
    ...each(
      inside,
      (file) => file.imports,
      (found) => nodeReachesOut(found) ? why(found.specifier) : undefined,
    ),
  ];
};

// ---- said once -----------------------------------------------------------------------------------------------

const SPELLERS = /^(core\/(subjects|buckets|grants|stream_config)\.ts$|core\/nats\/|broker\/)/;

/** Subjects are declared in the tables, never spelled. `roots` are the tokens that follow `zester.` there. */
export function subjectsSpelled(roots: ReadonlySet<string>): Rule {
  return (files) =>
    each(
      files.filter(({ path }) => !SPELLERS.test(path) && !isTest(path) && !/^bench\//.test(path)),
      (file) => file.strings,
      ({ text, isStart }) => {
        const root = /^zester\.([^.\s/]*)(\.|$)/.exec(text)?.[1];
        const isOurs = isStart && root !== undefined && (roots.has(root) || /^[*>]?$/.test(root));
        const isProtocol = isStart && /^(\$(JS|KV|SYS|NRG)\.|_INBOX\b)/.test(text);
        return isOurs || isProtocol
          ? `${JSON.stringify(text)} is spelled by hand; use core/subjects.ts or core/buckets.ts`
          : undefined;
      },
    );
}

/** Names that say how long or how much of something there may be. Ends of a number format (`INT_MAX`) are none of these. */
const BOUND =
  /(?<!_PER)_MS(_MAX|_MIN)?$|_(BYTES|ENTRIES|ITEMS|MESSAGES|ATTEMPTS|RETRIES|PEELS|TARGETS|JOBS)_(MAX|MIN)$|^(MAX|MIN)_/;
/** Nothing of ours is bounded by this much: larger numbers are facts of a format, such as the last date there is. */
const FACT_MIN = 2 ** 40;

/** Numbers that bound something stand in `core/limits.ts`, with their reason. */
export const limitsInOnePlace: Rule = (files) =>
  each(
    files.filter(({ path }) => path !== "core/limits.ts" && !isWorkshop(path)),
    (file) => file.numbers,
    ({ name, value }) =>
      /^[A-Z][A-Z0-9_]*$/.test(name) && BOUND.test(name) && value < FACT_MIN
        ? `${name} bounds something: it belongs in core/limits.ts`
        : undefined,
  );

/** `modules/<namespace>/<name>.ts` defines the module `<namespace>.<name>`, and nothing else. */
export const moduleNameIsPath: Rule = (files) =>
  files.flatMap(({ path, moduleNames }) => {
    const [, namespace, name] = /^modules\/([^/]+)\/([^/]+)\.ts$/.exec(path) ?? [];
    if (namespace === undefined || name === undefined || isTest(path)) return [];
    if (name.startsWith("_")) return [];
    const wanted = `${namespace}.${name}`;
    const given = moduleNames.map(({ value }) => value);
    if (given.length === 1 && given[0] === wanted) return [];
    const why = `must define the module ${wanted}, defines ${given.join(", ") || "none"}`;
    return [{ path, line: moduleNames[0]?.line ?? 1, why }];
  });

/** A file is named for what it does, in one spelling. */
export const fileNames: Rule = (files) =>
  files.flatMap(({ path }) => {
    const name = posix.basename(path);
    if (!/^_?[a-z0-9]+(_[a-z0-9]+)*\.tsx?$/.test(name)) {
      return [{ path, line: 1, why: `${name} is not snake_case` }];
    }
    return /^_?(index|utils?|helpers?|common|misc)\.tsx?$/.test(name)
      ? [{ path, line: 1, why: `${name} says nothing: name it for what it does` }]
      : [];
  });

/** After decoding, everything has a type. */
export const noAny: Rule = (files) =>
  each(files, (file) => file.anys, () => "any says nothing: use unknown and look");

// ---- dead files ----------------------------------------------------------------------------------------------

/**
 * Whether it needs no user: programs, tests, what tests start, examples, and messages, which are a contract with everything that was
 * ever deployed, whether this release sends them or not.
 */
function isRoot(path: string): boolean {
  return /(^|\/)main\.ts$/.test(path) || path.endsWith("_test.ts") ||
    /^(tests\/fixtures|core\/wire|examples)\//.test(path);
}

/**
 * Every file is used by a program or by a test other than its own. `tasks` is the text that starts tools: the tasks of
 * `deno.json`.
 */
export function noDeadFile(tasks: string): Rule {
  return (files) => {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const roots = files.map(({ path }) => path).filter((path) =>
      isRoot(path) || tasks.includes(path)
    );
    const alive = new Set(roots);
    const waiting = [...roots];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const own = path.endsWith("_test.ts") ? path.replace(/_test\.ts$/, ".ts") : undefined;
      for (const { value } of byPath.get(path)?.imports ?? []) {
        if (value.path === undefined || value.path === own || alive.has(value.path)) continue;
        alive.add(value.path);
        waiting.push(value.path);
      }
    }
    return files.filter(({ path }) => !alive.has(path))
      .map(({ path }) => ({ path, line: 1, why: "nothing but its own test uses this file" }));
  };
}

/** Imports lead to files that exist: a dead end hides what it should reach. */
export const importsExist: Rule = (files) => {
  const known = new Set(files.map(({ path }) => path));
  return each(files, (file) => file.imports, ({ path }) => {
    return path === undefined || !/\.tsx?$/.test(path) || known.has(path)
      ? undefined
      : `there is no ${path}`;
  });
};

// ---- plain text ----------------------------------------------------------------------------------------------

/**
 * No path of the machine where it was written. `paths` are the checkout's own and the writer's home. Tests may make up homes
 * of people who do not exist.
 */
export function machinePaths(
  files: readonly { path: string; text: string }[],
  paths: readonly string[],
): Violation[] {
  const own = paths.map((path) => RegExp.escape(path));
  const before = "(?<![\\w.~/-])";
  const inTests = new RegExp(`${before}(${own.join("|") || "(?!)"})(?=/)`);
  const elsewhere = new RegExp(`${before}(${[...own, "/(home|Users)/[\\w-]+"].join("|")})(?=/)`);
  return files.flatMap(({ path, text }) => {
    const pattern = isTest(path) ? inTests : elsewhere;
    return text.split("\n").flatMap((line, index) => {
      const found = pattern.exec(line)?.[1];
      if (found === undefined) return [];
      return [{ path, line: index + 1, why: `${found} is a folder of one machine` }];
    });
  });
}

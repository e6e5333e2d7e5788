/** Holds the source tree to its rules, and each rule to a planted violation that it must find. */
import assert from "node:assert/strict";
import { homedir } from "node:os";
import { join } from "node:path";
import config from "../deno.json" with { type: "json" };
import { subjects } from "../core/subjects.ts";
import { ROOT, sourceFiles } from "../tools/repository.ts";
import {
  clientOnlyInAdapter,
  fileNames,
  importArrows,
  importsExist,
  limitsInOnePlace,
  machinePaths,
  moduleNameIsPath,
  noAny,
  noDeadFile,
  noOldClient,
  outsideOnlyInAdapters,
  privateFiles,
  type Rule,
  subjectsSpelled,
  type Violation,
} from "./tidy/rules.ts";
import { parseSource, type Source } from "./tidy/source.ts";

const SUBJECT_ROOTS = new Set(
  Object.values(subjects).map((subject) => subject.pattern.split(".")[1] ?? ""),
);
const TASKS = Object.values(config.tasks).join("\n");

const RULES = {
  importArrows,
  importsExist,
  privateFiles,
  clientOnlyInAdapter,
  noOldClient,
  outsideOnlyInAdapters,
  subjectsSpelled: subjectsSpelled(SUBJECT_ROOTS),
  limitsInOnePlace,
  moduleNameIsPath,
  fileNames,
  noAny,
  noDeadFile: noDeadFile(TASKS),
} satisfies Record<string, Rule>;

type RuleName = keyof typeof RULES;

function report(violations: readonly Violation[]): string {
  return violations.map(({ path, line, why }) => `${path}:${line}: ${why}`).join("\n");
}

async function readAll(paths: readonly string[]): Promise<Source[]> {
  return await Promise.all(
    paths.map(async (path) => ({ path, text: await Deno.readTextFile(join(ROOT, path)) })),
  );
}

Deno.test("the source tree is tidy", async (t) => {
  const files = (await readAll(await sourceFiles())).map(parseSource);
  for (const [name, rule] of Object.entries(RULES)) {
    await t.step(name, () => assert.equal(report(rule(files)), ""));
  }
});

/** Every file that would be committed, if this is a git checkout. */
async function committed(): Promise<string[]> {
  const { code, stdout } = await new Deno.Command("git", {
    args: ["ls-files", "--cached", "--others", "--exclude-standard"],
    cwd: ROOT,
  }).output();
  if (code !== 0) return await sourceFiles();
  const listed = new TextDecoder().decode(stdout).split("\n").filter((path) => path !== "");
  const present = await Promise.all(listed.map((path) => isFile(join(ROOT, path))));
  return listed.filter((_path, index) => present[index]);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A checkout may lie where documentation legitimately points, such as /opt/zester. */
function tellingPaths(): string[] {
  return [ROOT, homedir()].filter((path) => !/^\/?$|^\/(etc|opt|srv|usr|var|run|tmp)\//.test(path));
}

Deno.test("machinePaths() finds nothing in the committed files", async () => {
  // The rules themselves and their planted violations name such paths.
  const paths = (await committed()).filter((path) => !/^tests\/tidy(\/|_test)/.test(path));
  assert.equal(report(machinePaths(await readAll(paths), tellingPaths())), "");
});

Deno.test("deno.json pins every import exactly, and none is the old client", () => {
  for (const [name, target] of Object.entries(config.imports)) {
    assert.match(target, /^npm:(@[\w-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/, name);
    assert.doesNotMatch(target, /^npm:nats@/, name);
  }
});

// ---- every rule can fail -------------------------------------------------------------------------------------

const USED = "export {};";

type Planted = [name: string, rule: RuleName, files: Record<string, string>, want: string[]];

const planted: Planted[] = [
  ["core importing a program", "importArrows", {
    "core/a.ts": `import "../master/b.ts";`,
  }, ["core/a.ts:1"]],
  ["master importing the broker late", "importArrows", {
    "master/a.ts": `\nexport const b = () => import("../broker/b.ts");`,
  }, ["master/a.ts:2"]],
  ["a module importing more of core than it may", "importArrows", {
    "modules/x/y.ts": `export * from "../../core/ports.ts";\nimport "../../core/module.ts";`,
  }, ["modules/x/y.ts:1"]],
  ["the CLI importing the peel, only its type", "importArrows", {
    "cli/a.ts": `import type { B } from "../peel/b.ts";\nexport type C = B;`,
  }, ["cli/a.ts:1"]],
  ["a folder without rules", "importArrows", {
    "helpers/a.ts": `import "../core/b.ts";`,
  }, ["helpers/a.ts:1"]],
  ["no arrow that is allowed", "importArrows", {
    "peel/a.ts":
      `import "../modules/mod.ts"; import "../core/b.ts"; import "./c.ts"; import "zod";`,
    "tests/a_test.ts": `import "../master/main.ts";`,
    "master/b_test.ts": `import "../tests/fakes/c.ts";`,
  }, []],

  ["an import of a file that is not there", "importsExist", {
    "core/a.ts": `import "./gone.ts"; import "./data.json"; import "./b.ts";`,
    "core/b.ts": USED,
  }, ["core/a.ts:1"]],

  ["an import of another folder's private file", "privateFiles", {
    "core/a.ts": `import "./wire/_scan.ts"; import "./_own.ts";`,
  }, ["core/a.ts:1"]],

  ["the client outside core/nats", "clientOnlyInAdapter", {
    "master/a.ts": `import { connect } from "@nats-io/transport-node";`,
    "peel/a.ts": `export type { KV } from "npm:@nats-io/kv@3.4.0";`,
    "core/nats/a.ts": `import "@nats-io/jetstream";`,
    "core/b.ts": `import "@nats-io/nkeys"; // import "@nats-io/kv";`,
  }, ["master/a.ts:1", "peel/a.ts:1"]],

  ["the old client, even in a test", "noOldClient", {
    "tests/a_test.ts": `import { connect } from "npm:nats@2.29.3";`,
    "core/nats/a.ts": `const nats = await import("nats");\nimport "@nats-io/kv";`,
  }, ["tests/a_test.ts:1", "core/nats/a.ts:1"]],

  ["a clock in a plan", "outsideOnlyInAdapters", {
    "master/x/plan.ts": `export const a = Date.now();\nexport const b = new Date();`,
  }, ["master/x/plan.ts:1", "master/x/plan.ts:2"]],
  ["chance, timers and I/O under any name", "outsideOnlyInAdapters", {
    "core/a.ts": [
      `export const a = Math.random();`,
      `setTimeout(() => {}, 1);`,
      `globalThis.setInterval(() => {}, 1);`,
      `const { now } = performance;`,
      `export const e = crypto.getRandomValues;`,
      `await Deno.readFile("x");`,
      `import { randomUUID } from "node:crypto";`,
      `import * as fs from "node:fs/promises";`,
      `export const schedule = { later: setTimeout };`,
      `await fetch("x");`,
      `AbortSignal.timeout(5);`,
      `const d = globalThis.Deno;`,
    ].join("\n"),
  }, [1, 2, 3, 5, 6, 9, 10, 11, 12, 7, 8].map((line) => `core/a.ts:${line}`)],
  ["nothing that only looks like it", "outsideOnlyInAdapters", {
    "core/a.ts": [
      `// Date.now() and Deno.readFile`,
      "export const a = `Math.random() ${1} setTimeout`;",
      `export const b = (clock: { setTimeout(): void }) => clock.setTimeout();`,
      `export const c = new Date(5).toISOString() + Math.max(1, 2) + Date.UTC(2020);`,
      `import { createHash } from "node:crypto";`,
      `export interface D { fetch: number; address: Deno.Addr }`,
      `export const e = { fetch: 1, process: 2 }.fetch;`,
      `export const f: AbortSignal = AbortSignal.abort();`,
    ].join("\n"),
    "core/nats/b.ts": `Deno.readFile("x");`,
    "broker/log_file.ts": `Deno.readFile("x");`,
    "peel/main.ts": `Deno.exit(1);`,
    "modules/x/y.ts": `Deno.readFile("x");`,
    "master/a_test.ts": `Deno.test("x", () => {});`,
  }, []],

  ["a subject spelled by hand", "subjectsSpelled", {
    "master/a.ts": 'export const a = "zester.cmd.web-01";\nexport const b = `zester.job.${a}.ack`;',
    "peel/a.ts": `export const a = "zester.>";\nexport const b = "$JS.API.INFO";`,
    "cli/a.ts": "export const a = `_INBOX.${1}`;\nexport const b = `$KV.${a}`;",
    "tools/a.ts": `export const a = "zester.fact.*";`,
  }, [
    "master/a.ts:1",
    "master/a.ts:2",
    "peel/a.ts:1",
    "peel/a.ts:2",
    "cli/a.ts:1",
    "cli/a.ts:2",
    "tools/a.ts:1",
  ]],
  ["no file name, import or sentence", "subjectsSpelled", {
    "cli/a.ts": [
      `import "./zester.cmd.ts";`,
      `export const a = "zester.yaml"; // "zester.cmd.x"`,
      `export const b = "see zester.cmd.x"; export const c = "zester";`,
      "export const d = `${b}zester.cmd.x`;",
    ].join("\n"),
    "core/subjects.ts": `export const a = "zester.cmd.{peel}";`,
    "core/nats/a.ts": `export const a = "$JS.API.INFO";`,
  }, []],

  ["a limit outside core/limits.ts", "limitsInOnePlace", {
    "master/a.ts": `const WAIT_MS = 5 * 1_000;\nexport const MAX_PEELS = 10;`,
    "peel/a.ts": `export const LOG_ENTRIES_MAX = 10 as const;`,
  }, ["master/a.ts:1", "master/a.ts:2", "peel/a.ts:1"]],
  ["no number that only describes", "limitsInOnePlace", {
    "core/limits.ts": `export const WAIT_MS = 5;`,
    "core/ids.ts": `const KSUID_EPOCH = 14e8; const LENGTH = 27; const halfMs = 2;`,
    "core/b.ts": `const INT_MAX = 2 ** 31; const NANOS_PER_MS = 1e6; const TIME_MS_MAX = 8.64e15;`,
    "core/c.ts": `const MAX_SEQUENCE = 2n ** 64n - 1n; const UNIT_MS = { s: 1_000 };`,
    "core/a.ts": `import { WAIT_MS } from "./limits.ts"; export const HALF_MS = WAIT_MS / 2;`,
    "tests/a.ts": `const WAIT_MS = 5;`,
  }, []],

  ["a module under another name", "moduleNameIsPath", {
    "modules/pkg/installed.ts": `export default defineModule({ name: "pkg.install" });`,
    "modules/pkg/removed.ts": `export const removed = 1;`,
    "modules/pkg/held.ts": `export default defineModule({ summary: "x", name: "pkg.held" });`,
    "modules/pkg/_apt.ts": USED,
    "modules/mod.ts": USED,
  }, ["modules/pkg/installed.ts:1", "modules/pkg/removed.ts:1"]],

  ["a name in another spelling, or one that says nothing", "fileNames", {
    "core/jobRecord.ts": USED,
    "core/job-record.ts": USED,
    "core/utils.ts": USED,
    "core/job_record.ts": USED,
    "core/_scan.ts": USED,
    "core/base62_test.ts": USED,
  }, ["core/jobRecord.ts:1", "core/job-record.ts:1", "core/utils.ts:1"]],

  ["the type any", "noAny", {
    "core/a.ts": `export const a = 1 as unknown;\nexport function b(c: any[]) { return c; } // any`,
  }, ["core/a.ts:2"]],

  ["a file that only its own test uses", "noDeadFile", {
    "master/main.ts": `import "./used.ts"; new Worker(new URL("./worker.ts", import.meta.url));`,
    "master/used.ts": `export const late = () => import("./late.ts");`,
    "master/late.ts": USED,
    "master/worker.ts": USED,
    "master/dead.ts": `import "./below_dead.ts";`,
    "master/dead_test.ts": `import "./dead.ts"; import "../tests/fakes/a.ts";`,
    "master/below_dead.ts": USED,
    "tests/fakes/a.ts": USED,
    "tests/fakes/b.ts": USED,
    "tools/compile.ts": USED,
    "tools/unused.ts": USED,
  }, ["master/dead.ts:1", "master/below_dead.ts:1", "tests/fakes/b.ts:1", "tools/unused.ts:1"]],
];

const rulesForPlanted: Record<RuleName, Rule> = {
  ...RULES,
  noDeadFile: noDeadFile("deno run tools/compile.ts"),
};

for (const [name, rule, files, want] of planted) {
  Deno.test(`${rule}() finds ${name}`, () => {
    const parsed = Object.entries(files).map(([path, text]) => parseSource({ path, text }));
    const found = rulesForPlanted[rule](parsed);
    assert.deepEqual(found.map(({ path, line }) => `${path}:${line}`), want, report(found));
  });
}

Deno.test("every rule has a planted violation", () => {
  const shown = new Set(planted.filter(([, , , want]) => want.length > 0).map(([, rule]) => rule));
  assert.deepEqual(Object.keys(RULES).filter((name) => !shown.has(name as RuleName)), []);
});

Deno.test("machinePaths() finds the checkout and home folders, and no other path", () => {
  const text =
    "a /work/here/x\nb /home/jo/x\nc https://host/home/jo/x\nd /etc/zester\n/work/hereafter/";
  const files = ["README.md", "core/a_test.ts"].map((path) => ({ path, text }));
  const found = machinePaths(files, ["/work/here"]);
  const where = found.map(({ path, line }) => `${path}:${line}`);
  assert.deepEqual(where, ["README.md:1", "README.md:2", "core/a_test.ts:1"]);
});

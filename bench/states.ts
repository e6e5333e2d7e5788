/**
 * A hundred files and twenty commands as states on one peel, through the very code that runs them there, beside the same work
 * done bare: the same atomic writes, the same looks, the same spawns. Other tools do the same work where they are installed.
 */
import { join } from "node:path";
import { cpuOf, cpuOfEndedChildren } from "./cpu.ts";
import { type Opened, sample, type Scenario, type Side } from "./harness.ts";
import { installedTools, type OtherTool } from "./other_tools.ts";
import { applyStates, type State } from "./states_run.ts";

const FILES = 100;
const COMMANDS = 20;
const LINES = 10;

/** A file as it should be. */
export interface WantedFile {
  readonly path: string;
  readonly content: string;
}

/** What all sides do once. */
export type Work =
  | { readonly do: "write"; readonly files: readonly WantedFile[] }
  | { readonly do: "run"; readonly commands: number };

interface WorkSpec {
  readonly name: string;
  readonly what: string;
  /** The work of the given round, below a folder of the side's own. */
  of(folder: string, round: number): Work;
  bare(work: Work): Promise<void>;
  readonly changes: number;
  readonly sandbox: "alone" | "run";
}

const changing = (folder: string, round: number): Work => ({
  do: "write",
  files: wantedFiles(folder, round),
});
const unchanged = (folder: string): Work => ({ do: "write", files: wantedFiles(folder, 0) });
const commands = (): Work => ({ do: "run", commands: COMMANDS });

const WORKS: readonly WorkSpec[] = [
  {
    name: "files_alone",
    what: `${FILES} file.managed that change, a worker each`,
    of: changing,
    bare: writeAll,
    changes: FILES,
    sandbox: "alone",
  },
  {
    name: "files_run",
    what: `${FILES} file.managed that change, sandbox: run`,
    of: changing,
    bare: writeAll,
    changes: FILES,
    sandbox: "run",
  },
  {
    name: "files_unchanged",
    what: `${FILES} file.managed with nothing to do`,
    of: unchanged,
    bare: lookAtAll,
    changes: 0,
    sandbox: "alone",
  },
  {
    name: "commands",
    what: `${COMMANDS} cmd.run true, a worker each`,
    of: commands,
    bare: spawnAll,
    changes: COMMANDS,
    sandbox: "alone",
  },
];

/** All works, by Zester and by whatever else is here. */
export async function open(): Promise<Opened> {
  const folder = await Deno.makeTempDir({ prefix: "zester-bench-states-" });
  const { tools, missing } = await installedTools(folder);
  const scenarios: Scenario[] = [];
  for (const work of WORKS) {
    scenarios.push(await zesterScenario(work, folder, missing));
    if (work.sandbox === "run") continue; // They have no such choice.
    for (const tool of tools) scenarios.push(await toolScenario(work, folder, tool));
  }
  return { scenarios, close: () => Deno.remove(folder, { recursive: true }) };
}

async function zesterScenario(
  work: WorkSpec,
  folder: string,
  missing: readonly string[],
): Promise<Scenario> {
  const run = async (asked: Work) => {
    const changed = await applyStates(statesOf(asked), work);
    if (changed === work.changes) return;
    throw new Error(`${work.name}: ${changed} states changed, wanted ${work.changes}`);
  };
  const own = await ownFolder(folder, `${work.name}-zester`);
  if (work.changes === 0) await applyStates(statesOf(work.of(own, 0)), work);
  return {
    name: `states/${work.name}`,
    what: work.what,
    floor: await bareSide(work, folder),
    subject: side("zester", { work, folder: own, run }),
    notes: () => missing.length === 0 ? [] : [`not installed here: ${missing.join(", ")}`],
  };
}

async function toolScenario(work: WorkSpec, folder: string, tool: OtherTool): Promise<Scenario> {
  const own = await ownFolder(folder, `${work.name}-${tool.name}`);
  return {
    name: `states/${work.name}_${tool.name}`,
    what: `the same by ${tool.name}`,
    floor: await bareSide(work, folder),
    subject: side(tool.version, { work, folder: own, run: tool.run }),
  };
}

async function bareSide(work: WorkSpec, folder: string): Promise<Side> {
  const own = await ownFolder(folder, `${work.name}-bare`);
  await writeAll(work.of(own, 0));
  return side("bare", { work, folder: own, run: work.bare });
}

async function ownFolder(folder: string, name: string): Promise<string> {
  const own = join(folder, name);
  await Deno.mkdir(own, { recursive: true });
  return own;
}

function side(
  name: string,
  { work, folder, run }: { work: WorkSpec; folder: string; run(work: Work): Promise<void> },
): Side {
  let round = 0;
  return {
    name,
    run() {
      const asked = work.of(folder, ++round);
      return sample(() => run(asked), () => cpuOf("self") + cpuOfEndedChildren());
    },
  };
}

/** One line of each differs from round to round. */
function wantedFiles(folder: string, round: number): WantedFile[] {
  return Array.from({ length: FILES }, (_file, file) => ({
    path: join(folder, `file-${file}.conf`),
    content: Array.from(
      { length: LINES },
      (_line, line) => `option_${line} = ${line === LINES / 2 ? `round ${round}` : file}\n`,
    ).join(""),
  }));
}

function statesOf(work: Work): State[] {
  if (work.do === "write") {
    return work.files.map(({ path, content }) => ({
      module: "file.managed",
      id: path,
      args: { content },
    }));
  }
  return Array.from({ length: work.commands }, () => ({ module: "cmd.run", id: "true", args: {} }));
}

// ---- bare ----------------------------------------------------------------------------------------------------

async function writeAll(work: Work): Promise<void> {
  if (work.do !== "write") return;
  for (const file of work.files) await replaceBare(file);
}

/** Staged beside, flushed, renamed, and the folder flushed. */
async function replaceBare({ path, content }: WantedFile): Promise<void> {
  const folder = join(path, "..");
  const staged = join(folder, `.${crypto.randomUUID()}`);
  {
    using file = await Deno.open(staged, { write: true, createNew: true, mode: 0o600 });
    await file.write(new TextEncoder().encode(content));
    await Deno.chmod(staged, 0o644);
    await file.sync();
  }
  await Deno.rename(staged, path);
  using opened = await Deno.open(folder);
  await opened.sync();
}

async function lookAtAll(work: Work): Promise<void> {
  if (work.do !== "write") return;
  for (const { path, content } of work.files) {
    await Deno.lstat(path);
    if (await Deno.readTextFile(path) !== content) throw new Error(`${path} has changed`);
  }
}

async function spawnAll(work: Work): Promise<void> {
  if (work.do !== "run") return;
  for (let times = 0; times < work.commands; times++) {
    const { code } = await new Deno.Command("/bin/sh", { args: ["-c", "true"], stdin: "null" })
      .output();
    if (code !== 0) throw new Error(`true: exit ${code}`);
  }
}

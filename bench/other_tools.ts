/** Salt, Ansible and Puppet on this machine alone, for those that are installed: the work of a bench in the words of each. */
import { join } from "node:path";
import type { Work } from "./states.ts";

export interface OtherTool {
  readonly name: string;
  /** Name with version, as it says itself. */
  readonly version: string;
  run(work: Work): Promise<void>;
}

interface ToolSpec {
  readonly name: string;
  readonly program: string;
  /** Writes what the tool reads into its folder and gives the arguments that have it done. */
  prepare(folder: string, work: Work): Promise<string[]>;
}

const TOOLS: readonly ToolSpec[] = [
  { name: "salt", program: "salt-call", prepare: prepareSalt },
  { name: "ansible", program: "ansible-playbook", prepare: prepareAnsible },
  { name: "puppet", program: "puppet", prepare: preparePuppet },
];

/** Those that are here, working below `folder`, and the programs that are not. */
export async function installedTools(
  folder: string,
): Promise<{ tools: OtherTool[]; missing: string[] }> {
  const tools: OtherTool[] = [];
  const missing: string[] = [];
  for (const spec of TOOLS) {
    const version = await versionOf(spec.program);
    if (version === null) missing.push(spec.program);
    else tools.push(toolOf(spec, version, join(folder, spec.name)));
  }
  return { tools, missing };
}

async function versionOf(program: string): Promise<string | null> {
  try {
    const { stdout } = await new Deno.Command(program, { args: ["--version"], stderr: "null" })
      .output();
    return `${program} ${new TextDecoder().decode(stdout).split("\n", 1)[0]!.trim()}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function toolOf({ name, program, prepare }: ToolSpec, version: string, folder: string): OtherTool {
  return {
    name,
    version,
    async run(work) {
      await Deno.mkdir(folder, { recursive: true });
      const { code, stdout, stderr } = await new Deno.Command(program, {
        args: await prepare(folder, work),
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).output();
      if (code === 0) return;
      const text = new TextDecoder();
      throw new Error(`${program}: exit ${code}: ${text.decode(stderr)}${text.decode(stdout)}`);
    },
  };
}

/** JSON is YAML. */
async function prepareSalt(folder: string, work: Work): Promise<string[]> {
  await Deno.writeTextFile(
    join(folder, "minion"),
    JSON.stringify({ root_dir: folder, file_client: "local", file_roots: { base: [folder] } }),
  );
  const states = work.do === "write"
    ? work.files.map(({ path, content }) => [path, { "file.managed": [{ contents: content }] }])
    : counted(work.commands).map((id) => [id, { "cmd.run": [{ name: "true" }] }]);
  await Deno.writeTextFile(join(folder, "bench.sls"), JSON.stringify(Object.fromEntries(states)));
  const quiet = ["--log-level=quiet", "--out=quiet", "--retcode-passthrough"];
  return ["--local", `--config-dir=${folder}`, ...quiet, "state.apply", "bench"];
}

async function prepareAnsible(folder: string, work: Work): Promise<string[]> {
  const tasks = work.do === "write"
    ? work.files.map(({ path, content }) => ({ "ansible.builtin.copy": { dest: path, content } }))
    : counted(work.commands).map((name) => ({ name, "ansible.builtin.command": "true" }));
  const playbook = join(folder, "bench.yml");
  await Deno.writeTextFile(
    playbook,
    JSON.stringify([{ hosts: "localhost", connection: "local", gather_facts: false, tasks }]),
  );
  return ["--inventory", "localhost,", playbook];
}

async function preparePuppet(folder: string, work: Work): Promise<string[]> {
  const resources = work.do === "write"
    ? work.files.map(({ path, content }) =>
      `file { '${path}': ensure => file, content => ${JSON.stringify(content)} }`
    )
    : counted(work.commands).map((name) => `exec { '${name}': command => '/bin/true' }`);
  const manifest = join(folder, "bench.pp");
  await Deno.writeTextFile(manifest, resources.join("\n"));
  return ["apply", "--confdir", join(folder, "conf"), "--vardir", join(folder, "var"), manifest];
}

function counted(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `true-${index + 1}`);
}

/** `cmd.script`: runs a script of the state tree. */
import {
  absolutePath,
  checked,
  defaulted,
  defineFunction,
  fileMode,
  line,
  number,
  optional,
  primary,
  type Program,
  sensitive,
  text,
  textList,
  textMap,
} from "../../core/module.ts";
import { exitCodes, isSuccess, outcomeDetails, runCommand, variablesOf } from "./_command.ts";

const TREE = "zester://";

export default defineFunction({
  name: "cmd.script",
  summary: "Runs a script of the state tree, or one that is given as text, with an interpreter.",
  description:
    "The script reaches the interpreter through its standard input, so no file is left on the host.",
  params: {
    source: optional(
      primary(
        checked(
          line("Script of the state tree: `zester://scripts/x.sh`."),
          (source) =>
            source.startsWith(TREE) ? null : "an address that begins with zester:// is wanted",
        ),
      ),
    ),
    script: optional(text("The script itself, instead of a source.")),
    interpreter: defaulted(absolutePath("Program that reads the script."), "/bin/sh"),
    args: optional(textList("Arguments of the script.")),
    cwd: optional(absolutePath("Folder to run it in.")),
    env: optional(textMap("Environment variables to add.")),
    secret_env: optional(sensitive(textMap("Environment variables that are never shown."))),
    runas: optional(line("User to run it as.")),
    umask: optional(fileMode("Mask for new files.")),
    timeout: optional(number("Seconds after which it is ended."), "the time that the job has left"),
    success_retcodes: optional(exitCodes("Exit codes that mean success."), "0"),
  },
  isReadOnly: false,
  permissions: (p) => ({
    run: [programOf(p)],
    ...variablesOf(p),
    ...(p.source === undefined ? {} : { tree: [p.source.slice(TREE.length)] }),
  }),
  async run(p, host) {
    const script = p.script ?? await readSource(p.source, host);
    const result = await runCommand(host, programOf(p), { ...p, stdin: script });
    if (isSuccess(result, p.success_retcodes)) return outcomeDetails(result);
    const why = result.timedOut ? "its time was up" : `exit status ${result.code}`;
    throw new Error(
      `${p.source ?? "script"}: ${why}: ${result.stderr.trim() || result.stdout.trim()}`,
    );
  },
  examples: [{
    title: "With arguments",
    code: "zester 'web*' cmd.script zester://scripts/deploy.sh args=v1.2",
  }],
});

interface Script {
  readonly interpreter: string;
  readonly args?: readonly string[] | undefined;
}

function programOf({ interpreter, args = [] }: Script): Program {
  return [interpreter, "/dev/stdin", ...args];
}

async function readSource(
  source: string | undefined,
  host: { treeFile(path: string): Promise<Uint8Array | null> },
): Promise<string> {
  if (source === undefined) throw new Error("a source or a script is wanted");
  const content = await host.treeFile(source.slice(TREE.length));
  if (content === null) throw new Error(`${source}: there is no such file in the state tree`);
  return new TextDecoder().decode(content);
}

/** `cmd.run`: runs a command. It cannot tell whether the command changes anything, so it says that it will run. */
import {
  absolutePath,
  aliased,
  defaulted,
  defineModule,
  fileMode,
  flag,
  line,
  number,
  optional,
  primary,
  type Program,
  sensitive,
  StateFailure,
  text,
  textList,
  textMap,
} from "../../core/module.ts";
import {
  exitCodes,
  isSuccess,
  outcomeDetails,
  readStateful,
  runCommand,
  variablesOf,
} from "./_command.ts";

export default defineModule({
  name: "cmd.run",
  summary: "Runs a command, through the shell or with an argument list.",
  description:
    `Without \`args\` the command is one line for \`/bin/sh\`; with \`args\` it is a program that is run as it is, without a
shell. Output is kept up to a limit and what was left out is counted. The command and all that it started are ended
when its time is up or the job is cancelled. Secrets belong into \`stdin\` or \`secret_env\`: an argument can be seen by
every user of the host, these cannot, and they are taken out of results.`,
  params: {
    command: primary(text("What to run."), "name", "cmd"),
    args: optional(textList("Arguments: the command is then a program and no shell is used.")),
    cwd: optional(aliased(absolutePath("Folder to run it in."), "dir")),
    env: optional(textMap("Environment variables to add.")),
    secret_env: optional(sensitive(textMap("Environment variables that are never shown."))),
    stdin: optional(sensitive(text("What the command reads; never shown."))),
    creates: optional(absolutePath("Do not run it if this exists.")),
    runas: optional(line("User to run it as, with the groups of that user.")),
    umask: optional(fileMode("Mask for new files, such as 022.")),
    timeout: optional(number("Seconds after which it is ended."), "the time that the job has left"),
    success_retcodes: optional(exitCodes("Exit codes that mean success."), "0"),
    stateful: defaulted(flag("The last line of the output says whether anything changed."), false),
  },
  permissions: (p) => ({
    run: [programOf(p)],
    ...variablesOf(p),
    ...(p.creates === undefined ? {} : { read: [p.creates] }),
  }),
  async check(p, host) {
    if (p.creates !== undefined && await host.stat(p.creates) !== null) return null;
    return { diff: `command ${JSON.stringify(p.command)} will run` };
  },
  async apply(p, host) {
    if (p.creates !== undefined && await host.stat(p.creates) !== null) return null;
    const result = await runCommand(host, programOf(p), p);
    const details = { command: p.command, ...outcomeDetails(result) };
    if (!isSuccess(result, p.success_retcodes)) {
      const why = result.timedOut ? "its time was up" : `exit status ${result.code}`;
      throw new StateFailure(`${JSON.stringify(p.command)}: ${why}`, { details, changed: true });
    }
    const said = p.stateful ? readStateful(result.stdout) : { changed: true, comment: "" };
    const diff = said.comment || `executed ${JSON.stringify(p.command)} (exit ${result.code})`;
    return { diff, details, changed: said.changed };
  },
  whyNoRevert: "cmd.run states cannot be reverted",
  examples: [
    { title: "One line for the shell", code: "zester 'web*' cmd.run 'df -h | tail -1'" },
    { title: "A program without a shell", code: "zester 'web*' cmd.run uptime args=-p" },
    {
      title: "Once, as a state",
      code: `build_index:
  cmd.run:
    - command: /usr/local/bin/build-index
    - creates: /srv/index/ready
    - runas: www-data
    - timeout: 120`,
    },
  ],
  differences: [
    "A command without `creates` or a guard runs at every apply and reports a change, as in Salt.",
    "`shell` cannot be chosen: it is /bin/sh, or none with `args`.",
  ],
});

function programOf(
  { command, args }: { command: string; args: readonly string[] | undefined },
): Program {
  return args === undefined ? ["/bin/sh", "-c", command] : [command, ...args];
}

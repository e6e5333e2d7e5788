/** From a command line to a command: help and version at once, everything else through the parser, which is loaded then. */
import type { Application, CommandContext } from "@stricli/core";
import { DURATION_FORM, parseDuration } from "../core/duration.ts";
import { toZesterError, ZesterError } from "../core/errors.ts";
import { printable } from "../core/printable.ts";
import { COLORS, type CommonFlags, FLAGS, OUTPUTS } from "./commands/flags.ts";
import type { ContextShowFlags } from "./commands/context_show.ts";
import type { Follow, RunFlags } from "./commands/run.ts";
import { version } from "./commands/version.ts";
import { readInvocation } from "./grammar.ts";
import type { Io } from "./io.ts";
import { exitCodeOfError, renderError } from "./render/error.ts";
import { COMMANDS, helpFor, nearestTopic } from "./render/help.ts";
import { chooseStyle } from "./render/style.ts";

/** Opens the fleet of a context; called only by commands that need one. */
export type OpenFleet = (context: string | undefined) => Promise<Fleet>;

export interface Fleet {
  readonly follow: Follow;
  close(): Promise<void>;
}

/** Runs one command line; gives the exit code. Never throws. */
export async function runCli(argv: readonly string[], io: Io, open: OpenFleet): Promise<number> {
  try {
    const invocation = readInvocation(argv);
    switch (invocation.kind) {
      case "help":
        return showHelp(invocation.words, io);
      case "version":
        return version(undefined, io);
      case "command":
        return await runCommand(invocation.inputs, io, open);
    }
  } catch (thrown) {
    return showError(toZesterError(thrown, "zester"), argv, io);
  }
}

function showHelp(words: readonly string[], io: Io): number {
  const text = helpFor(words);
  if (text === null) {
    const near = nearestTopic(words[0]!);
    throw new ZesterError("usage", `no help on "${printable(words[0]!)}"`, {
      fix: near === null ? "zester help" : `did you mean \`zester help ${near}\`?`,
    });
  }
  io.stdout(text);
  return 0;
}

/** The flags may be what is wrong, so they are looked at word by word here. */
function showError(error: ZesterError, argv: readonly string[], io: Io): number {
  const flag = argv.includes("--color=always")
    ? "always"
    : argv.includes("--color=never")
    ? "never"
    : "auto";
  const style = chooseStyle({ flag, env: io.env, isTerminal: io.stderrIsTerminal });
  io.stderr(
    renderError(error, { style, verbose: argv.includes("-v") || argv.includes("--verbose") }),
  );
  return exitCodeOfError(error.code);
}

// ---- parser --------------------------------------------------------------------------------------------------

type Stricli = typeof import("@stricli/core");

interface Context extends CommandContext {
  readonly io: Io;
  readonly open: OpenFleet;
  done(code: number): void;
}

async function runCommand(inputs: readonly string[], io: Io, open: OpenFleet): Promise<number> {
  const stricli = await import("@stricli/core");
  let failure: ZesterError | null = null;
  let code: number | null = null;
  const app = application(stricli, (error) => failure = error);
  // What the parser would print is turned into errors of ours; see `text` below.
  const nowhere = { write: () => {} };
  const context = { process: { stdout: nowhere, stderr: nowhere }, io, open, done };
  await stricli.run(app, inputs, context);
  if (failure !== null) throw failure;
  return code ?? 1;

  function done(exit: number): void {
    code = exit;
  }
}

function application(stricli: Stricli, fail: (error: ZesterError) => void): Application<Context> {
  const { buildApplication, buildRouteMap } = stricli;
  const routes = {
    run: runRoute(stricli),
    context: buildRouteMap({
      docs: { brief: COMMANDS.context.brief },
      routes: { show: contextShowRoute(stricli), list: contextListRoute(stricli) },
    }),
    version: versionRoute(stricli),
  };
  const root = buildRouteMap<keyof typeof routes, Context>({ docs: { brief: "zester" }, routes });
  return buildApplication(root, {
    name: "zester",
    scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true },
    documentation: { disableAnsiColor: true },
    localization: { text: textFor(stricli, fail) },
  });
}

/** Every message of the parser becomes one of our errors, so that all errors look alike and have exit codes of ours. */
function textFor(stricli: Stricli, fail: (error: ZesterError) => void) {
  const failed = (thrown: unknown) => {
    fail(toZesterError(thrown, "zester"));
    return "";
  };
  return {
    ...stricli.text_en,
    exceptionWhileParsingArguments: (thrown: unknown) => failed(usageError(stricli, thrown)),
    exceptionWhileLoadingCommandFunction: failed,
    exceptionWhileLoadingCommandContext: failed,
    exceptionWhileRunningCommand: failed,
    commandErrorResult: failed,
    noCommandRegisteredForInput: ({ input }: { input: string }) =>
      failed(new ZesterError("usage", `no such command: ${printable(input)}`)),
  };
}

function usageError(stricli: Stricli, thrown: unknown): unknown {
  const say = (message: string, fix?: string) =>
    new ZesterError(
      "usage",
      printable(message),
      fix === undefined ? { cause: thrown } : { cause: thrown, fix },
    );
  if (thrown instanceof stricli.FlagNotFoundError) {
    const near = thrown.corrections[0];
    const fix = near === undefined
      ? "zester help flags; after `--` nothing is a flag"
      : `did you mean \`--${near}\`?`;
    return say(`no such flag: --${thrown.input}`, fix);
  }
  if (thrown instanceof stricli.AliasNotFoundError) {
    return say(`no such flag: -${thrown.input}`, "zester help flags; after `--` nothing is a flag");
  }
  if (thrown instanceof stricli.EnumValidationError) {
    const { externalFlagName, input, values } = thrown;
    return say(`--${externalFlagName}: "${input}" is not one of ${values.join(", ")}`);
  }
  if (thrown instanceof stricli.ArgumentParseError) {
    const { externalFlagNameOrPlaceholder: name, input, exception } = thrown;
    const why = exception instanceof Error ? exception.message : String(exception);
    return say(`--${name}: "${input}" is not ${why}`);
  }
  if (thrown instanceof stricli.UnsatisfiedFlagError) {
    return say(`--${thrown.externalFlagName} needs a value`);
  }
  if (thrown instanceof stricli.UnexpectedFlagError) {
    return say(`--${thrown.externalFlagName} is given twice`);
  }
  if (thrown instanceof stricli.UnexpectedPositionalError) {
    return say(`unexpected argument "${thrown.input}"`);
  }
  if (thrown instanceof stricli.UnsatisfiedPositionalError) {
    return say(`<${thrown.placeholder}> is missing`);
  }
  return thrown instanceof Error ? say(thrown.message) : thrown;
}

// ---- commands ------------------------------------------------------------------------------------------------

const text = (value: string) => value;

/** What the parser throws away is kept as the tail of "is not …". */
function duration(value: string): number {
  const ms = parseDuration(value);
  if (ms === null) throw new Error(DURATION_FORM);
  return ms;
}

const COMMON_FLAGS = {
  output: { kind: "enum", values: OUTPUTS, optional: true, brief: FLAGS.output.help },
  context: { kind: "parsed", parse: text, optional: true, brief: FLAGS.context.help },
  color: { kind: "enum", values: COLORS, optional: true, brief: FLAGS.color.help },
  quiet: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.quiet.help },
  verbose: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.verbose.help },
} as const;
const ALIASES = { o: "output", q: "quiet", v: "verbose" } as const;

function runRoute({ buildCommand }: Stricli) {
  const word = (placeholder: string) => ({ placeholder, parse: text, brief: placeholder });
  return buildCommand<RunFlags, [string, string, ...string[]], Context>({
    docs: { brief: COMMANDS.run.brief },
    parameters: {
      flags: {
        ...COMMON_FLAGS,
        timeout: { kind: "parsed", parse: duration, optional: true, brief: FLAGS.timeout.help },
        noProgress: {
          kind: "boolean",
          optional: true,
          withNegated: false,
          brief: FLAGS.noProgress.help,
        },
      },
      aliases: ALIASES,
      positional: { kind: "array", minimum: 2, parameter: word("target and function") },
    },
    async func(flags, target, name, ...words) {
      const { run } = await import("./commands/run.ts");
      const fleet = lazyFleet(() => this.open(flags.context));
      try {
        this.done(await run({ target, function: name, words, flags }, this.io, fleet.follow));
      } finally {
        await fleet.close();
      }
    },
  });
}

/** Opened by the first request, so that a mistake in the arguments costs no connection. */
function lazyFleet(open: () => Promise<Fleet>): Fleet {
  let fleet: Fleet | null = null;
  return {
    async follow(request, onEvent) {
      fleet = await open();
      await fleet.follow(request, onEvent);
    },
    async close() {
      await fleet?.close();
    },
  };
}

function contextShowRoute({ buildCommand }: Stricli) {
  return buildCommand<ContextShowFlags, [], Context>({
    docs: { brief: COMMANDS.context.verbs.show },
    parameters: {
      flags: {
        ...COMMON_FLAGS,
        origin: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.origin.help },
      },
      aliases: ALIASES,
    },
    async func(flags) {
      const { contextShow } = await import("./commands/context_show.ts");
      this.done(await contextShow(flags, this.io));
    },
  });
}

function contextListRoute({ buildCommand }: Stricli) {
  return buildCommand<CommonFlags, [], Context>({
    docs: { brief: COMMANDS.context.verbs.list },
    parameters: { flags: COMMON_FLAGS, aliases: ALIASES },
    async func(flags) {
      const { contextList } = await import("./commands/context_list.ts");
      this.done(await contextList(flags, this.io));
    },
  });
}

function versionRoute({ buildCommand }: Stricli) {
  return buildCommand<CommonFlags, [], Context>({
    docs: { brief: COMMANDS.version.brief },
    parameters: { flags: COMMON_FLAGS, aliases: ALIASES },
    func(flags) {
      this.done(version(flags.output, this.io));
    },
  });
}

/** From a command line to a command: help and version at once, everything else through the parser, which is loaded then. */
import type { Application, CommandContext } from "@stricli/core";
import { DURATION_FORM, parseDuration } from "../core/duration.ts";
import type { Query, ReplyKinds, ReplyOf } from "../core/wire/query.ts";
import { toZesterError, ZesterError } from "../core/errors.ts";
import { printable } from "../core/printable.ts";
import type { Resolution } from "../core/target/ask.ts";
import {
  COLORS,
  type CommonFlags,
  FLAGS,
  type ListFlags,
  OUTPUTS,
  SHOWS,
  valueForm,
} from "./commands/flags.ts";
import type { ContextShowFlags } from "./commands/context_show.ts";
import type { FollowControl } from "./commands/follow_run.ts";
import type { JobListFlags } from "./commands/job_list.ts";
import type { JobRerunFlags } from "./commands/job_rerun.ts";
import type { RunFlags, RunRequest } from "./commands/run.ts";
import { version } from "./commands/version.ts";
import { readInvocation } from "./grammar.ts";
import type { Io } from "./io.ts";
import { exitCodeOfError, renderError } from "./render/error.ts";
import { COMMANDS, helpFor, nearestTopic } from "./render/help.ts";
import type { RunEvent } from "./render/run_model.ts";
import type { ScreenFlags } from "./render/run_screen.ts";
import { chooseStyle } from "./render/style.ts";

/** Opens the fleet of a context; called only by commands that need one. */
export type OpenFleet = (context: string | undefined) => Promise<Fleet>;

/** Opens the way around the masters; called only for `--direct`. */
export type OpenDirect = (context: string | undefined) => Promise<DirectFleet>;

export interface Doors {
  readonly open: OpenFleet;
  readonly openDirect: OpenDirect;
}

/** How a follow is told to its caller, until when it goes on, and how it is stopped. */
export type FollowHow = Partial<FollowControl> & { readonly until?: "accepted" | "done" };

/** What an operator can do with a fleet. */
export interface Fleet {
  /** Sends a job and reports what happens until it is over. Throws when it cannot know how it went on. */
  run(
    request: RunRequest,
    onEvent: (event: RunEvent) => void,
    how?: FollowHow,
  ): Promise<void>;
  /** The same for a job that exists. */
  watch(jid: string, onEvent: (event: RunEvent) => void, how?: FollowHow): Promise<void>;
  /** Asks the masters. */
  ask<N extends keyof ReplyKinds>(name: N, query: Query): Promise<ReplyOf<ReplyKinds[N]>>;
  /** Who matches a target, and why. */
  resolve(target: string): Promise<Resolution>;
  /** Cancels a job; says how it stood. */
  cancel(jid: string): Promise<{ jid: string; status: string; ended: boolean }>;
  close(): Promise<void>;
}

/** What an operator can do with peels alone. */
export interface DirectFleet {
  /** Has peels run a function and reports what they answer. */
  run(
    request: RunRequest,
    onEvent: (event: RunEvent) => void,
    how?: FollowHow,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Runs one command line; gives the exit code. Never throws. */
export async function runCli(argv: readonly string[], io: Io, doors: Doors): Promise<number> {
  try {
    const invocation = readInvocation(argv);
    switch (invocation.kind) {
      case "help":
        return showHelp(invocation.words, io);
      case "version":
        return version(undefined, io);
      case "command":
        return await runCommand(invocation.inputs, io, doors);
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
  readonly doors: Doors;
  done(code: number): void;
}

async function runCommand(inputs: readonly string[], io: Io, doors: Doors): Promise<number> {
  const stricli = await import("@stricli/core");
  let failure: ZesterError | null = null;
  let code: number | null = null;
  const app = application(stricli, (error) => failure = error);
  // What the parser would print is turned into errors of ours; see `text` below.
  const nowhere = { write: () => {} };
  const context = { process: { stdout: nowhere, stderr: nowhere }, io, doors, done };
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
    job: buildRouteMap({
      docs: { brief: COMMANDS.job.brief },
      routes: {
        list: jobListRoute(stricli),
        show: jobShowRoute(stricli),
        watch: jobWatchRoute(stricli),
        active: jobActiveRoute(stricli),
        cancel: jobCancelRoute(stricli),
        rerun: jobRerunRoute(stricli),
      },
    }),
    peel: buildRouteMap({
      docs: { brief: COMMANDS.peel.brief },
      routes: { list: peelListRoute(stricli), show: peelShowRoute(stricli) },
    }),
    master: buildRouteMap({
      docs: { brief: COMMANDS.master.brief },
      routes: { list: masterListRoute(stricli) },
    }),
    target: targetRoute(stricli),
    doc: docRoute(stricli),
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
    const flag = `--${thrown.externalFlagName}`;
    return say(`${flag} needs a value`, `for example ${flag} ${valueForm(flag)}`);
  }
  if (thrown instanceof stricli.UnexpectedFlagError) {
    return say(`--${thrown.externalFlagName} is given twice`, "leave one of them out");
  }
  if (thrown instanceof stricli.UnexpectedPositionalError) {
    return say(`unexpected argument "${thrown.input}"`, "zester help says what each command takes");
  }
  if (thrown instanceof stricli.UnsatisfiedPositionalError) {
    const { placeholder } = thrown;
    return say(`<${placeholder}> is missing`, MISSING_FIX[placeholder] ?? "zester help");
  }
  return thrown instanceof Error ? say(thrown.message) : thrown;
}

/** Where to find what a command needs. */
const MISSING_FIX: Readonly<Record<string, string>> = {
  jid: "zester job list shows ids; the beginning of one is enough",
  peel: "zester peel list shows ids",
  target: "zester target '*', for example; zester help target",
};

// ---- commands ------------------------------------------------------------------------------------------------

const text = (value: string) => value;

/** What the parser throws away is kept as the tail of "is not …". */
function duration(value: string): number {
  const ms = parseDuration(value);
  if (ms === null) throw new Error(DURATION_FORM);
  return ms;
}

/** A moment: so long ago, or a time as programs print it. */
function moment(nowMs: number): (value: string) => number {
  return (value) => {
    const ms = parseDuration(value);
    if (ms !== null) return nowMs - ms;
    const timeMs = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : NaN;
    if (Number.isNaN(timeMs)) {
      throw new Error("a duration such as 24h, or a time such as 2026-02-10T14:30:00Z");
    }
    return timeMs;
  };
}

function wholeNumber(value: string): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (number === 0) throw new Error("a whole number above 0");
  return number;
}

function amount(value: string): string {
  if (!/^\d{1,9}%?$/.test(value)) throw new Error("a number such as 5, or a share such as 10%");
  return value;
}

/** Nobody at a time, or nobody at all, is a mistake. */
function amountAboveNone(value: string): string {
  if (/^0+%?$/.test(value)) throw new Error("above 0: nobody would run it");
  return amount(value);
}

function names(value: string): string[] {
  const list = value.split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (list.length === 0) throw new Error("a list of fields such as jid,status");
  return list;
}

const COMMON_FLAGS = {
  output: { kind: "enum", values: OUTPUTS, optional: true, brief: FLAGS.output.help },
  fields: { kind: "parsed", parse: names, optional: true, brief: FLAGS.fields.help },
  context: { kind: "parsed", parse: text, optional: true, brief: FLAGS.context.help },
  color: { kind: "enum", values: COLORS, optional: true, brief: FLAGS.color.help },
  quiet: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.quiet.help },
  verbose: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.verbose.help },
} as const;
const ALIASES = { o: "output", q: "quiet", v: "verbose" } as const;
const LIST_FLAGS = {
  ...COMMON_FLAGS,
  watch: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.watch.help },
} as const;
const LIST_ALIASES = { ...ALIASES, w: "watch" } as const;

const SCREEN_FLAGS = {
  ...COMMON_FLAGS,
  show: { kind: "enum", values: SHOWS, optional: true, brief: FLAGS.show.help },
  noProgress: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.noProgress.help },
  detailedExit: {
    kind: "boolean",
    optional: true,
    withNegated: false,
    brief: FLAGS.detailedExit.help,
  },
} as const;
const RUN_FLAGS = {
  ...SCREEN_FLAGS,
  timeout: { kind: "parsed", parse: duration, optional: true, brief: FLAGS.timeout.help },
  async: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.async.help },
} as const;

function runRoute({ buildCommand }: Stricli) {
  const word = (placeholder: string) => ({ placeholder, parse: text, brief: placeholder });
  return buildCommand<RunFlags, [string, string, ...string[]], Context>({
    docs: { brief: COMMANDS.run.brief },
    parameters: {
      flags: {
        ...RUN_FLAGS,
        test: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.test.help },
        direct: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.direct.help },
        batch: { kind: "parsed", parse: amountAboveNone, optional: true, brief: FLAGS.batch.help },
        batchWait: { kind: "parsed", parse: duration, optional: true, brief: FLAGS.batchWait.help },
        maxFail: { kind: "parsed", parse: amount, optional: true, brief: FLAGS.maxFail.help },
        limit: { kind: "parsed", parse: amountAboveNone, optional: true, brief: FLAGS.limit.help },
        seed: { kind: "parsed", parse: text, optional: true, brief: FLAGS.seed.help },
      },
      aliases: ALIASES,
      positional: { kind: "array", minimum: 2, parameter: word("target and function") },
    },
    async func(flags, target, name, ...words) {
      const { run, runDirectly } = await import("./commands/run.ts");
      const given = { target, function: name, words, flags };
      if (flags.direct) {
        const fleet = lazy(() => this.doors.openDirect(flags.context));
        return await closing(
          fleet,
          async () => this.done(await runDirectly(given, this.io, fleet)),
        );
      }
      const fleet = lazyFleet(() => this.doors.open(flags.context));
      await closing(fleet, async () => this.done(await run(given, this.io, fleet)));
    },
  });
}

/** Opened by the first request, so that a mistake in the arguments costs no connection. */
function lazy<T extends DirectFleet>(
  open: () => Promise<T>,
): DirectFleet & { opened(): Promise<T> } {
  let opening: Promise<T> | null = null;
  const opened = () => opening ??= open();
  return {
    opened,
    run: async (request, onEvent, how) => await (await opened()).run(request, onEvent, how),
    close: async () => await (await opening?.catch(() => null))?.close(),
  };
}

function lazyFleet(open: () => Promise<Fleet>): Pick<Fleet, "run" | "cancel" | "close"> {
  const fleet = lazy(open);
  return { ...fleet, cancel: async (jid) => await (await fleet.opened()).cancel(jid) };
}

async function closing(
  fleet: { close(): Promise<void> },
  use: () => Promise<void>,
): Promise<void> {
  try {
    await use();
  } finally {
    await fleet.close();
  }
}

/** Opens the fleet of the context, does something with it, and closes it. */
async function withFleet(
  context: Context,
  flags: CommonFlags,
  use: (fleet: Fleet) => Promise<number>,
): Promise<void> {
  const fleet = await context.doors.open(flags.context);
  await closing(fleet, async () => context.done(await use(fleet)));
}

/** The one word that a command takes. */
function one(placeholder: string) {
  const parameter = { placeholder, parse: text, brief: placeholder };
  return { kind: "tuple", parameters: [parameter] } as const;
}

function jobListRoute({ buildCommand }: Stricli) {
  const only = { kind: "parsed", parse: text, optional: true } as const;
  return buildCommand<JobListFlags, [], Context>({
    docs: { brief: COMMANDS.job.verbs.list },
    parameters: {
      flags: {
        ...LIST_FLAGS,
        failed: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.failed.help },
        function: { ...only, brief: FLAGS.function.help },
        user: { ...only, brief: FLAGS.user.help },
        since: {
          kind: "parsed",
          parse(this: Context, value) {
            return moment(this.io.clock.now())(value);
          },
          optional: true,
          brief: FLAGS.since.help,
        },
        limit: { kind: "parsed", parse: wholeNumber, optional: true, brief: FLAGS.limit.help },
      },
      aliases: LIST_ALIASES,
    },
    async func(flags) {
      const { jobList } = await import("./commands/job_list.ts");
      await withFleet(this, flags, (fleet) => jobList(flags, this.io, fleet));
    },
  });
}

function jobShowRoute({ buildCommand }: Stricli) {
  return buildCommand<CommonFlags, [string], Context>({
    docs: { brief: COMMANDS.job.verbs.show },
    parameters: { flags: COMMON_FLAGS, aliases: ALIASES, positional: one("jid") },
    async func(flags, jid) {
      const { jobShow } = await import("./commands/job_show.ts");
      await withFleet(this, flags, (fleet) => jobShow(jid, flags, this.io, fleet));
    },
  });
}

function jobWatchRoute({ buildCommand }: Stricli) {
  return buildCommand<ScreenFlags, [string], Context>({
    docs: { brief: COMMANDS.job.verbs.watch },
    parameters: { flags: SCREEN_FLAGS, aliases: ALIASES, positional: one("jid") },
    async func(flags, jid) {
      const { jobWatch } = await import("./commands/job_watch.ts");
      await withFleet(this, flags, (fleet) => jobWatch(jid, flags, this.io, fleet));
    },
  });
}

function jobActiveRoute({ buildCommand }: Stricli) {
  return buildCommand<ListFlags, [], Context>({
    docs: { brief: COMMANDS.job.verbs.active },
    parameters: { flags: LIST_FLAGS, aliases: LIST_ALIASES },
    async func(flags) {
      const { jobActive } = await import("./commands/job_active.ts");
      await withFleet(this, flags, (fleet) => jobActive(flags, this.io, fleet));
    },
  });
}

function jobCancelRoute({ buildCommand }: Stricli) {
  return buildCommand<CommonFlags, [string], Context>({
    docs: { brief: COMMANDS.job.verbs.cancel },
    parameters: { flags: COMMON_FLAGS, aliases: ALIASES, positional: one("jid") },
    async func(flags, jid) {
      const { jobCancel } = await import("./commands/job_cancel.ts");
      await withFleet(this, flags, (fleet) => jobCancel(jid, flags, this.io, fleet));
    },
  });
}

function jobRerunRoute({ buildCommand }: Stricli) {
  return buildCommand<JobRerunFlags, [string], Context>({
    docs: { brief: COMMANDS.job.verbs.rerun },
    parameters: {
      flags: {
        ...RUN_FLAGS,
        failed: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.failed.help },
        silent: { kind: "boolean", optional: true, withNegated: false, brief: FLAGS.silent.help },
      },
      aliases: ALIASES,
      positional: one("jid"),
    },
    async func(flags, jid) {
      const { jobRerun } = await import("./commands/job_rerun.ts");
      await withFleet(this, flags, (fleet) => jobRerun(jid, flags, this.io, fleet));
    },
  });
}

function peelListRoute({ buildCommand }: Stricli) {
  return buildCommand<ListFlags, [], Context>({
    docs: { brief: COMMANDS.peel.verbs.list },
    parameters: { flags: LIST_FLAGS, aliases: LIST_ALIASES },
    async func(flags) {
      const { peelList } = await import("./commands/peel_list.ts");
      await withFleet(this, flags, (fleet) => peelList(flags, this.io, fleet));
    },
  });
}

function peelShowRoute({ buildCommand }: Stricli) {
  return buildCommand<CommonFlags, [string], Context>({
    docs: { brief: COMMANDS.peel.verbs.show },
    parameters: { flags: COMMON_FLAGS, aliases: ALIASES, positional: one("peel") },
    async func(flags, peel) {
      const { peelShow } = await import("./commands/peel_show.ts");
      await withFleet(this, flags, (fleet) => peelShow(peel, flags, this.io, fleet));
    },
  });
}

function masterListRoute({ buildCommand }: Stricli) {
  return buildCommand<ListFlags, [], Context>({
    docs: { brief: COMMANDS.master.verbs.list },
    parameters: { flags: LIST_FLAGS, aliases: LIST_ALIASES },
    async func(flags) {
      const { masterList } = await import("./commands/master_list.ts");
      await withFleet(this, flags, (fleet) => masterList(flags, this.io, fleet));
    },
  });
}

function targetRoute({ buildCommand }: Stricli) {
  return buildCommand<CommonFlags, [string], Context>({
    docs: { brief: COMMANDS.target.brief },
    parameters: { flags: COMMON_FLAGS, aliases: ALIASES, positional: one("target") },
    async func(flags, expression) {
      const { target } = await import("./commands/target.ts");
      await withFleet(this, flags, (fleet) => target(expression, flags, this.io, fleet));
    },
  });
}

function docRoute({ buildCommand }: Stricli) {
  const name = { placeholder: "name", parse: text, optional: true, brief: "name" } as const;
  return buildCommand<CommonFlags, [string?], Context>({
    docs: { brief: COMMANDS.doc.brief },
    parameters: {
      flags: COMMON_FLAGS,
      aliases: ALIASES,
      positional: { kind: "tuple", parameters: [name] },
    },
    async func(flags, name) {
      const { doc } = await import("./commands/doc.ts");
      this.done(await doc(name, flags, this.io));
    },
  });
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

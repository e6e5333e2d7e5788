/**
 * What every daemon does alike: read its configuration, answer `/healthz` from the first moment, start its parts, stop on
 * SIGTERM or SIGINT within ten seconds. A mistake of the user ends in one clear line and exit code 2.
 */
import {
  type Config,
  type ConfigValues,
  loadConfig,
  optionHelp,
  type OptionTable,
} from "../config.ts";
import { errorText } from "../error_text.ts";
import { ERRORS, toZesterError } from "../errors.ts";
import type { Checks } from "../health.ts";
import { DRAIN_MS } from "../limits.ts";
import { createLog, type Log, type LogFormat, type LogLevel } from "../log.ts";
import { type Component, createMetrics, type Metrics } from "../metrics.ts";
import { VERSION } from "../version.ts";
import { startHealth } from "./health_server.ts";
import { processUsage } from "./process_usage.ts";
import { stderrSink } from "./stderr.ts";
import { PARENT_FLAG, stopSignal } from "./stop_signal.ts";
import { systemClock } from "./system_clock.ts";
import { systemFiles } from "./system_files.ts";

/** Options that every daemon has; the rest are its own. */
type CommonValues = { health_addr: string; log_level: LogLevel; log_format: LogFormat };

export interface DaemonContext<T extends OptionTable> {
  readonly values: ConfigValues<T>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Adds a readiness check. */
  check(name: string, check: Checks[string]): void;
}

export interface DaemonSpec<T extends OptionTable> {
  readonly component: Component;
  readonly table: T;
  readonly configPath: string;
  /** What this one is called in its logs. */
  id(values: ConfigValues<T>): string;
  /** Starts the parts and gives the way to stop them. */
  start(context: DaemonContext<T>): Promise<() => Promise<void>>;
}

/** Runs a daemon until it is told to stop; gives its exit code. */
export async function runDaemon<const T extends OptionTable>(
  spec: DaemonSpec<T>,
  args: readonly string[],
): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) return print(helpOf(spec));
  if (args.includes("--version")) return print(`zester-${spec.component} ${VERSION}`);
  const stopped = stopSignal({ withParent: args.includes(PARENT_FLAG) });
  try {
    const config = await loadConfig({
      table: spec.table,
      defaultPath: spec.configPath,
      env: Deno.env.toObject(),
      args: args.filter((arg) => arg !== PARENT_FLAG),
      files: systemFiles,
    });
    return await serve(spec, config, stopped);
  } catch (thrown) {
    const error = toZesterError(thrown, spec.component);
    stderrSink(errorText(error));
    return ERRORS[error.code].exit;
  }
}

async function serve<T extends OptionTable>(
  spec: DaemonSpec<T>,
  { values }: Config<T>,
  stopped: Promise<string>,
): Promise<number> {
  const common = values as unknown as CommonValues;
  const log = createLog({
    component: spec.component,
    version: VERSION,
    id: spec.id(values),
    format: common.log_format,
    level: common.log_level,
    clock: systemClock,
    sink: stderrSink,
  });
  let started = false;
  // Down until the parts have registered their own checks: no checks at all would look like all is well.
  const checks: Record<string, Checks[string]> = {
    started: () => ({ status: started ? "ok" : "down" }),
  };
  const metrics = await createMetrics(spec.component, { version: VERSION, usage: processUsage });
  const health = startHealth({
    address: common.health_addr,
    component: spec.component,
    version: VERSION,
    checks,
    metrics,
    clock: systemClock,
    log,
  });
  const stop = await spec.start({
    values,
    log,
    metrics,
    check: (name, check) => checks[name] = check,
  });
  started = true;
  const why = await stopped;
  log.info("stopping", { why });
  const drained = await Promise.race([
    stop().then(() => true),
    systemClock.sleep(DRAIN_MS).then(() => false),
  ]);
  await health.stop();
  if (!drained) log.error("not drained in time", { limitMs: DRAIN_MS });
  return drained ? 0 : 1;
}

function helpOf(
  { component, table, configPath }: { component: string; table: OptionTable; configPath: string },
): string {
  return `zester-${component}: see docs/configuration.md\n\n  --config <file>  default ${configPath}\n${
    optionHelp(table)
  }`;
}

function print(text: string): number {
  console.log(text);
  return 0;
}

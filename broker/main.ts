/** Runs the embedded broker as a program of its own: `main.ts --config FILE`. */
import { PARENT_FLAG, stopSignal } from "../core/adapters/stop_signal.ts";
import { systemClock } from "../core/adapters/system_clock.ts";
import { systemFiles } from "../core/adapters/system_files.ts";
import { systemRandom } from "../core/adapters/system_random.ts";
import { toZesterError, ZesterError } from "../core/errors.ts";
import { CONFIG_BYTES_MAX } from "../core/limits.ts";
import { type BrokerConfig, parseConfig } from "./config.ts";
import { type EmbeddedBroker, startEmbedded } from "./server.ts";

const EXIT_FAILED = 1;
const EXIT_NOT_STARTED = 2;

async function main(args: readonly string[]): Promise<void> {
  const stopped = stopSignal({ withParent: args.includes(PARENT_FLAG) });
  let broker: EmbeddedBroker;
  try {
    broker = await start(await readConfig(configPath(args.filter((arg) => arg !== PARENT_FLAG))));
  } catch (error) {
    complain(toZesterError(error, "broker, starting"));
    Deno.exit(EXIT_NOT_STARTED);
  }
  console.log(JSON.stringify({ listening: broker.url }));
  await stopped;
  await broker.close();
  Deno.exit(0);
}

function configPath(args: readonly string[]): string {
  const [flag, path, ...rest] = args.flatMap((arg) =>
    /^(--config)=(.+)$/.exec(arg)?.slice(1) ?? arg
  );
  if (flag === "--config" && path !== undefined && rest.length === 0) return path;
  throw new ZesterError("usage", "broker: usage: main.ts --config FILE");
}

async function readConfig(path: string): Promise<BrokerConfig> {
  const bytes = await systemFiles.read(path, CONFIG_BYTES_MAX);
  if (bytes !== null) return parseConfig(new TextDecoder().decode(bytes), path);
  throw new ZesterError(
    "config_invalid",
    `broker, reading its configuration ${path}: no such file`,
  );
}

function start({ listen, store, users, serverName }: BrokerConfig): Promise<EmbeddedBroker> {
  return startEmbedded({
    listen,
    users,
    clock: systemClock,
    random: systemRandom,
    onError: complain,
    onLogFailure(error) {
      complain(error);
      Deno.exit(EXIT_FAILED);
    },
    ...(store === null ? {} : { storePath: store }),
    ...(serverName === undefined ? {} : { serverName }),
  });
}

function complain({ message, fix }: ZesterError): void {
  const line = fix === undefined ? message : `${message} (${fix})`;
  console.error(line.replaceAll(/\s*\n\s*/g, " "));
}

if (import.meta.main) await main(Deno.args);

/**
 * How a program finds its fleet: which servers, who it is there, and which root of trust it believes.
 * Order: `--context`, `ZESTER_CONTEXT`, the name in the file `current`, then `default`.
 */
import { dirname, isAbsolute, join, resolve } from "node:path";
import {
  type Config,
  type Environment,
  type OptionTable,
  readText,
  resolveConfig,
} from "./config.ts";
import { ZesterError } from "./errors.ts";
import type { Files } from "./ports.ts";
import { printable } from "./printable.ts";

/** Keys of a context file. Each can be overruled by its variable, for one command or one script. */
export const CONTEXT_OPTIONS = {
  servers: {
    type: "list",
    default: [],
    env: "ZESTER_NATS_URL",
    help: "NATS servers of the fleet, such as nats://127.0.0.1:4222.",
  },
  user: { type: "string", default: null, env: "ZESTER_NATS_USER", help: "User to log in as." },
  password_file: {
    type: "string",
    default: null,
    env: "ZESTER_NATS_PASSWORD_FILE",
    help: "File that holds the password of that user.",
  },
  operator: {
    type: "string",
    default: null,
    env: "ZESTER_OPERATOR",
    help: "Name under which this operator signs.",
  },
  operator_seed_file: {
    type: "string",
    default: null,
    env: "ZESTER_OPERATOR_SEED_FILE",
    help: "File that holds the operator's signing seed.",
  },
  trust_file: {
    type: "string",
    default: null,
    env: "ZESTER_TRUST_FILE",
    help: "Trust document that names the fleet's keys.",
  },
  trust_root: {
    type: "string",
    default: null,
    env: "ZESTER_TRUST_ROOT",
    help: "Public key of the root that must have signed the trust document.",
  },
  "direct.user": {
    type: "string",
    default: null,
    help: "User to log in as for `--direct`, which commands peels without a master.",
  },
  "direct.password_file": {
    type: "string",
    default: null,
    help: "File that holds the password of that user.",
  },
  "direct.seed_file": {
    type: "string",
    default: null,
    help: "File that holds the seed that signs commands of `--direct`.",
  },
  "tls.ca_file": { type: "string", default: null, help: "Certificate authority of the servers." },
  "tls.cert_file": { type: "string", default: null, help: "Certificate shown to the servers." },
  "tls.key_file": { type: "string", default: null, help: "Key of that certificate." },
} as const satisfies OptionTable;

type ContextConfig = Config<typeof CONTEXT_OPTIONS>;

/** A fleet as one operator sees it. Paths are absolute. */
export interface Context {
  readonly name: string;
  /** The file it was read from. */
  readonly path: string;
  /** What made us choose this one: `--context`, `ZESTER_CONTEXT`, `current` or `default`. */
  readonly chosenBy: string;
  readonly servers: readonly string[];
  readonly user: string | null;
  readonly passwordFile: string | null;
  readonly operator: string;
  readonly operatorSeedFile: string;
  readonly trustFile: string | null;
  readonly trustRoot: string | null;
  /** How this operator commands peels without a master; null without that right. */
  readonly direct: DirectLogin | null;
  readonly tls: TlsFiles | null;
  /** Where each key of the file came from. */
  readonly origins: ContextConfig["origins"];
}

export interface DirectLogin {
  readonly user: string | null;
  readonly passwordFile: string | null;
  readonly seedFile: string;
}

export interface TlsFiles {
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

/** Which context was asked for, and the file that would hold it. */
export interface ContextChoice {
  readonly name: string;
  readonly path: string;
  readonly chosenBy: string;
}

type Reader = Pick<Files, "read">;

/** Finds and reads the context in force. `named` is the value of `--context`. */
export async function findContext(
  env: Environment,
  home: string | undefined,
  files: Reader,
  named?: string,
): Promise<Context> {
  const choice = await chooseContext(env, home, files, named);
  const text = await readText(choice.path, files);
  if (text === null) throw noContext(choice);
  const file = { path: choice.path, text };
  const config = await resolveConfig({ table: CONTEXT_OPTIONS, file, env, args: [] });
  return toContext(choice, config);
}

/** Decides which context is meant, without reading it. */
export async function chooseContext(
  env: Environment,
  home: string | undefined,
  files: Reader,
  named?: string,
): Promise<ContextChoice> {
  if (named !== undefined && named !== "") return choiceOf(named, "--context", env, home);
  const variable = env["ZESTER_CONTEXT"];
  if (variable !== undefined && variable !== "") {
    return choiceOf(variable, "ZESTER_CONTEXT", env, home);
  }
  const current = (await readText(join(configFolder(env, home), CURRENT_FILE), files))?.trim();
  return current
    ? choiceOf(current, "current", env, home)
    : choiceOf("default", "default", env, home);
}

/** `$XDG_CONFIG_HOME/zester`, else `~/.config/zester`. */
export function configFolder(env: Environment, home: string | undefined): string {
  const base = env["XDG_CONFIG_HOME"];
  if (base !== undefined && isAbsolute(base)) return join(base, "zester");
  if (home !== undefined && home !== "") return join(home, ".config", "zester");
  const fix = "set HOME, or name a context file by its path: ZESTER_CONTEXT=/path/to/context.yaml";
  throw new ZesterError("config_invalid", "context: neither HOME nor XDG_CONFIG_HOME is set", {
    fix,
  });
}

/** In the configuration folder: names the context that is taken without being asked for. */
export const CURRENT_FILE = "current";

/** The folder that holds one file per context. */
export function contextsFolder(env: Environment, home: string | undefined): string {
  return join(configFolder(env, home), "contexts");
}

/** A name leads to the folder of contexts; anything with a `/` is a path. */
function choiceOf(
  wanted: string,
  chosenBy: string,
  env: Environment,
  home: string | undefined,
): ContextChoice {
  if (wanted.includes("/")) return { name: wanted, path: resolve(wanted), chosenBy };
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(wanted)) {
    const fix = "use letters, digits, `.`, `_` and `-`, or a path with a `/`";
    const message = `context: "${printable(wanted)}" (from ${chosenBy}) is not a name`;
    throw new ZesterError("config_invalid", message, { fix });
  }
  return { name: wanted, path: join(contextsFolder(env, home), `${wanted}.yaml`), chosenBy };
}

function noContext({ name, path, chosenBy }: ContextChoice): ZesterError {
  const asked = chosenBy === "default" ? "" : ` "${printable(name)}" (from ${chosenBy})`;
  const fix = "start a fleet on this machine with `deno task up`, which makes one, " +
    "or set ZESTER_CONTEXT to the file that your fleet's owner gave you";
  return new ZesterError("config_invalid", `no context${asked}: looked for ${path}`, { fix });
}

function toContext({ name, path, chosenBy }: ContextChoice, config: ContextConfig): Context {
  const { values, origins } = config;
  const file = (key: FileKey) => locate(values[key], origins[key], path);
  if (values.servers.length === 0) throw missing(path, "servers");
  if (file("trust_file") !== null && values.trust_root === null) throw missing(path, "trust_root");
  return {
    name,
    path,
    chosenBy,
    servers: values.servers,
    user: values.user,
    passwordFile: file("password_file"),
    operator: values.operator ?? raise(missing(path, "operator")),
    operatorSeedFile: file("operator_seed_file") ?? raise(missing(path, "operator_seed_file")),
    trustFile: file("trust_file"),
    trustRoot: values.trust_root,
    direct: directOf(file, values["direct.user"]),
    tls: tlsOf(file),
    origins,
  };
}

type FileKey = Extract<keyof typeof CONTEXT_OPTIONS, `${string}_file`>;

function directOf(
  file: (key: FileKey) => string | null,
  user: string | null,
): DirectLogin | null {
  const seedFile = file("direct.seed_file");
  return seedFile === null ? null : { user, passwordFile: file("direct.password_file"), seedFile };
}

function tlsOf(file: (key: FileKey) => string | null): TlsFiles | null {
  const tls = {
    caFile: file("tls.ca_file"),
    certFile: file("tls.cert_file"),
    keyFile: file("tls.key_file"),
  };
  return Object.values(tls).some((path) => path !== null) ? tls : null;
}

/** A path in the file is meant from the file's folder; one in a variable, from where the user stands. */
function locate(path: string | null, origin: string, contextPath: string): string | null {
  if (path === null) return null;
  return origin.startsWith("file ") ? resolve(dirname(contextPath), path) : resolve(path);
}

function missing(path: string, key: keyof typeof CONTEXT_OPTIONS): ZesterError {
  const fix = `add \`${key}\`: ${CONTEXT_OPTIONS[key].help}`;
  return new ZesterError("config_invalid", `context: ${path}: ${key} is missing`, { fix });
}

function raise(error: ZesterError): never {
  throw error;
}

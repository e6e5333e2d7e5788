/**
 * Real nats-servers for tests: each with ports and a store of its own, alone or as a cluster of three. Every start checks
 * that the one who answers is the one we started, by its name: a test that reaches another server proves nothing.
 */
import { crossings } from "../../core/grants.ts";
import {
  findNatsServer,
  renderServerConfig,
  type ServerConfig,
  type ServerUser,
} from "../../tools/nats_server.ts";

const HOST = "127.0.0.1";
const START_TIMEOUT_MS = 20_000;
const POLL_MS = 25;
const PROBE_TIMEOUT_MS = 1_000;
const START_ATTEMPTS = 3;
const PROBE = { user: "probe", password: crypto.randomUUID() };

export interface NatsOptions {
  /** Logins; one that may do everything when absent. */
  users?: readonly ServerUser[];
  /** Logins in the account of clients, as a fleet has them. */
  clients?: readonly ServerUser[];
  cluster?: 3;
}

/** A running server, or three of them. Signals go to all, unless a node (0 to 2) is named. */
export interface TestNats {
  readonly url: string;
  readonly urls: readonly string[];
  readonly user: string;
  readonly password: string;
  /** Ends the servers and removes what they stored. */
  stop(): Promise<void>;
  /** SIGKILL. What was stored stays for `restart`; acks of the last moments may be lost. */
  kill(node?: number): Promise<void>;
  /** SIGTERM: the servers write all they know first. */
  terminate(node?: number): Promise<void>;
  /** Starts what was ended again, on the same port and store. */
  restart(node?: number): Promise<void>;
  /** SIGSTOP: connections stay open and nobody answers, from when this resolves on. */
  pause(node?: number): Promise<void>;
  resume(node?: number): void;
}

let warned = false;

/**
 * Path of a server, or null when the tests that need one are to be skipped. In CI there is no skipping: this throws.
 */
export async function natsServerOrSkip(): Promise<string | null> {
  const found = await findNatsServer();
  if ("path" in found) return found.path;
  if (Deno.env.get("CI")) throw new Error(`nats-server is required in CI: ${found.missing}`);
  if (!warned) console.warn(`skipping the tests on nats-server: ${found.missing}`);
  warned = true;
  return null;
}

/** Ports that the system says are free. Another process may take one before we do, so the start is tried again. */
function freePorts(count: number): number[] {
  const listeners = Array.from({ length: count }, () => Deno.listen({ hostname: HOST, port: 0 }));
  const ports = listeners.map((each) => each.addr.port);
  for (const each of listeners) each.close();
  return ports;
}

/** Starts one server, or a cluster of three, and waits until streams can be made on it. */
export async function startNats(options: NatsOptions = {}): Promise<TestNats> {
  const found = await findNatsServer();
  if (!("path" in found)) throw new Error(found.missing);
  for (let attempt = 1;; attempt++) {
    try {
      return await startOnce(found.path, options);
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function startOnce(binary: string, options: NatsOptions): Promise<TestNats> {
  const size = options.cluster ?? 1;
  const users = options.users ?? [{ user: "zester", password: crypto.randomUUID() }];
  const folder = await Deno.makeTempDir({ prefix: "zester-nats-" });
  const nodes = planNodes(folder, size, users, options.clients).map((config) =>
    new Node(binary, folder, config)
  );
  const cleanUp = async () => {
    await Promise.all(nodes.map((each) => each.kill()));
    await Deno.remove(folder, { recursive: true });
  };
  try {
    await Promise.all(nodes.map((each) => each.start()));
    await until(`streams on ${size} node(s)`, () => canMakeStream(nodes[0]!.port, size));
  } catch (error) {
    await cleanUp();
    throw error;
  }
  const chosen = (node?: number) => node === undefined ? nodes : [nodes[node]!];
  const urls = nodes.map((each) => `nats://${HOST}:${each.port}`);
  return {
    url: urls[0]!,
    urls,
    user: users[0]!.user,
    password: users[0]!.password,
    stop: cleanUp,
    kill: async (node) => {
      await Promise.all(chosen(node).map((each) => each.kill()));
    },
    terminate: async (node) => {
      await Promise.all(chosen(node).map((each) => each.kill("SIGTERM")));
    },
    restart: async (node) => {
      await Promise.all(chosen(node).map((each) => each.start()));
      await until("streams after a restart", () => canMakeStream(chosen(node)[0]!.port, size));
      await until("leaders after a restart", () => isAllServed(chosen(node)[0]!.port));
    },
    pause: async (node) => {
      await Promise.all(chosen(node).map((each) => each.pause()));
    },
    resume: (node) => chosen(node).forEach((each) => each.signal("SIGCONT")),
  };
}

function planNodes(
  folder: string,
  size: number,
  users: readonly ServerUser[],
  clients: readonly ServerUser[] | undefined,
): ServerConfig[] {
  const clusterName = `cluster-${crypto.randomUUID()}`;
  const ports = freePorts(size * 2);
  const routePorts = ports.slice(size);
  const routes = routePorts.map((port) => `nats://${HOST}:${port}`);
  return Array.from({ length: size }, (_, at) => ({
    listen: { host: HOST, port: ports[at]! },
    store: `${folder}/store-${at}`,
    users: [...users, PROBE],
    ...(clients === undefined ? {} : { clients: { users: clients, crossings: crossings() } }),
    serverName: `node-${at}-${crypto.randomUUID()}`,
    ...(size === 1 ? {} : {
      cluster: { name: clusterName, listen: { host: HOST, port: routePorts[at]! }, routes },
    }),
  }));
}

/** One server process. */
class Node {
  readonly #binary: string;
  readonly #folder: string;
  readonly #config: ServerConfig;
  #process: Deno.ChildProcess | undefined;

  constructor(binary: string, folder: string, config: ServerConfig) {
    this.#binary = binary;
    this.#folder = folder;
    this.#config = config;
  }

  get port(): number {
    return this.#config.listen.port;
  }

  async start(): Promise<void> {
    const name = this.#config.serverName!;
    const path = `${this.#folder}/${name}.conf`;
    await Deno.writeTextFile(path, renderServerConfig(this.#config));
    const process = new Deno.Command(this.#binary, {
      args: ["-c", path, "-l", `${this.#folder}/${name}.log`],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    this.#process = process;
    let ended = false;
    process.status.then(() => ended = true);
    await until(`nats-server ${name}`, async () => {
      if (ended) throw new Stopped(`nats-server ended at start:\n${await this.#log(name)}`);
      const info = await readInfo(this.port);
      if (info !== null && info.server_name !== name) {
        throw new Stopped(`port ${this.port} belongs to another server, ${info.server_name}`);
      }
      return info?.jetstream === true;
    });
  }

  async #log(name: string): Promise<string> {
    return await Deno.readTextFile(`${this.#folder}/${name}.log`).catch(() => "(no log)");
  }

  /** The signal takes effect a moment after it was sent; only then is nothing answered any more. */
  async pause(): Promise<void> {
    this.signal("SIGSTOP");
    const pid = this.#process?.pid;
    await until("the server to stop", async () => {
      const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "State:\tT");
      return /^State:\tT/m.test(status);
    });
  }

  signal(signal: Deno.Signal): void {
    this.#process?.kill(signal);
  }

  async kill(signal: Deno.Signal = "SIGKILL"): Promise<void> {
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    try {
      process.kill(signal);
    } catch {
      // It has ended by itself.
    }
    await process.status;
  }
}

/** Waiting on makes no sense: the condition can no longer come true. */
class Stopped extends Error {}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      if (await condition()) return;
    } catch (error) {
      if (error instanceof Stopped) throw error;
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${what}: not ready after ${START_TIMEOUT_MS} ms`, { cause: last });
}

interface ServerInfo {
  server_name: string;
  jetstream?: boolean;
}

async function readInfo(port: number): Promise<ServerInfo | null> {
  let connection: Deno.TcpConn;
  try {
    connection = await Deno.connect({ hostname: HOST, port });
  } catch {
    return null;
  }
  using lines = new Lines(connection);
  const line = await lines.next("INFO ");
  return line === null ? null : JSON.parse(line) as ServerInfo;
}

/** Makes a stream with as many replicas as there are nodes and removes it: then all of them have joined. */
async function canMakeStream(port: number, replicas: number): Promise<boolean> {
  const name = `probe-${crypto.randomUUID()}`;
  const config = { name, subjects: [name], storage: "memory", num_replicas: replicas };
  const made = await ask(port, `STREAM.CREATE.${name}`, config);
  if (made === null || made["error"] !== undefined) return false;
  return await ask(port, `STREAM.DELETE.${name}`) !== null;
}

/** Whether somebody answers for every stream and every consumer that is stored. */
async function isAllServed(port: number): Promise<boolean> {
  const { streams } = await ask(port, "STREAM.NAMES") as { streams: string[] | null };
  for (const stream of streams ?? []) {
    const info = await ask(port, `STREAM.INFO.${stream}`);
    if (info === null || info["error"] !== undefined) return false;
    const { consumers } = await ask(port, `CONSUMER.NAMES.${stream}`) as {
      consumers: string[] | null;
    };
    for (const consumer of consumers ?? []) {
      const found = await ask(port, `CONSUMER.INFO.${stream}.${consumer}`);
      if (found === null || found["error"] !== undefined) return false;
    }
  }
  return true;
}

/** One request to the server's stream interface, on a connection of its own; null when it hangs up. */
async function ask(
  port: number,
  verb: string,
  body: object = {},
): Promise<Record<string, unknown> | null> {
  using lines = new Lines(await Deno.connect({ hostname: HOST, port }));
  await lines.next("INFO ");
  const payload = JSON.stringify(body);
  const inbox = `_INBOX.${crypto.randomUUID()}`;
  const login = { user: PROBE.user, pass: PROBE.password, verbose: false };
  await lines.send([
    `CONNECT ${JSON.stringify(login)}`,
    `SUB ${inbox} 1`,
    `PUB $JS.API.${verb} ${inbox} ${payload.length}`,
    payload,
  ]);
  const answer = await lines.next("{");
  return answer === null ? null : JSON.parse(answer) as Record<string, unknown>;
}

/** Reads what a server says line by line, which is all that a probe needs of the protocol. */
class Lines {
  readonly #connection: Deno.TcpConn;
  readonly #timer: ReturnType<typeof setTimeout>;
  #text = "";

  /** A server without a leader does not answer at all: then the reading ends by an error, and the probe is made again. */
  constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
    this.#timer = setTimeout(() => connection.close(), PROBE_TIMEOUT_MS);
  }

  async send(lines: readonly string[]): Promise<void> {
    const bytes = new TextEncoder().encode(lines.map((each) => `${each}\r\n`).join(""));
    for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
  }

  /** The next line that begins like this, without the beginning unless it is a brace; null at the end. */
  async next(beginning: string): Promise<string | null> {
    const chunk = new Uint8Array(65_536);
    for (;;) {
      const end = this.#text.indexOf("\r\n");
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        if (line.startsWith(beginning)) {
          return beginning === "{" ? line : line.slice(beginning.length);
        }
        continue;
      }
      const count = await this.#connection.read(chunk);
      if (count === null) return null;
      this.#text += new TextDecoder().decode(chunk.subarray(0, count));
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    try {
      this.#connection.close();
    } catch {
      // The timer has closed it.
    }
  }
}

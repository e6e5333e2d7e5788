/**
 * The broker on TCP: connections, logins, flow. Bytes are read by `protocol.ts`, what they mean is decided by the engine.
 * Whatever one client does wrong ends that client's connection and no other.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { isZesterError, toZesterError, ZesterError } from "../core/errors.ts";
import {
  BROKER_ACCEPT_RETRY_MS,
  BROKER_CLOSE_FLUSH_MS_MAX,
  BROKER_CONNECT_MS_MAX,
  BROKER_CONNECTIONS_MAX,
  BROKER_PENDING_BYTES_MAX,
  BROKER_PING_INTERVAL_MS,
  BROKER_PINGS_OUTSTANDING_MAX,
  BROKER_READ_BYTES_MAX,
  BROKER_READ_BYTES_MIN,
  PAYLOAD_BYTES_MAX,
} from "../core/limits.ts";
import type { Clock, Random, Timer } from "../core/ports.ts";
import { serveApi } from "./api.ts";
import {
  type BrokerMessage,
  createEngine,
  type Engine,
  type Permissions,
  type Session,
} from "./engine.ts";
import { type DurableLog, openLog } from "./log_file.ts";
import {
  type ClientOperation,
  ClientParser,
  type ConnectOptions,
  encodeHeaders,
  OutputBuffer,
  ProtocolError,
  type ServerInfo,
} from "./protocol.ts";

/** What clients see as the server's version: they choose features by it, and these are the ones of 2.10. */
const VERSION = "2.10.99";
const SERVER_ID_BYTES = 12;

/** One login. */
export interface User {
  user: string;
  password: string;
  permissions?: Permissions;
}

export interface ServerOptions {
  engine: Engine;
  /** Port 0: any free one. */
  listen: { hostname: string; port: number };
  /** Who may connect; without, everybody may, and may do everything. */
  users?: readonly User[];
  clock: Clock;
  random: Random;
  serverName?: string;
  /** Told what went wrong inside, which no client caused by rule-abiding input. */
  onError?: (error: ZesterError) => void;
  /** Other bounds than those of `core/limits.ts`, for tests. */
  limits?: Partial<ServerLimits>;
}

export interface ServerLimits {
  connectionsMax: number;
  connectMsMax: number;
  pingIntervalMs: number;
  pendingBytesMax: number;
}

const LIMITS: ServerLimits = {
  connectionsMax: BROKER_CONNECTIONS_MAX,
  connectMsMax: BROKER_CONNECT_MS_MAX,
  pingIntervalMs: BROKER_PING_INTERVAL_MS,
  pendingBytesMax: BROKER_PENDING_BYTES_MAX,
};

export interface Server {
  readonly port: number;
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: number;
  /** Stops listening, lets clients have what was written to them, then closes their connections. */
  close(): Promise<void>;
}

/** Starts to serve the engine on TCP. Throws `config_invalid` when it cannot listen there. */
export function startServer(options: ServerOptions): Server {
  return new TcpServer(options, listen(options.listen));
}

function listen({ hostname, port }: ServerOptions["listen"]): Deno.TcpListener {
  try {
    return Deno.listen({ hostname, port });
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new ZesterError(
      "config_invalid",
      `broker, listening on ${hostname}:${port}: ${found}`,
      { cause, fix: "choose another address or port, or stop the program that uses it" },
    );
  }
}

// ---- server --------------------------------------------------------------------------------------------------

class TcpServer implements Server {
  readonly port: number;
  readonly url: string;
  readonly options: ServerOptions;
  readonly limits: ServerLimits;
  readonly logins: Logins | undefined;
  readonly #listener: Deno.TcpListener;
  readonly #open = new Set<Connection>();
  readonly #api: { close(): void };
  readonly #pings: Timer;
  readonly #accepting: Promise<void>;
  readonly #serverId: string;
  readonly #stop = new AbortController();
  #clients = 0;

  constructor(options: ServerOptions, listener: Deno.TcpListener) {
    const { hostname } = options.listen;
    this.options = options;
    this.limits = { ...LIMITS, ...options.limits };
    this.logins = options.users === undefined ? undefined : new Logins(options.users);
    this.#listener = listener;
    this.port = listener.addr.port;
    this.url = `nats://${hostname.includes(":") ? `[${hostname}]` : hostname}:${this.port}`;
    this.#serverId = options.random.bytes(SERVER_ID_BYTES).toHex();
    this.#api = serveApi(options.engine);
    this.#pings = options.clock.every(this.limits.pingIntervalMs, () => {
      for (const connection of [...this.#open]) connection.checkAlive();
    });
    this.#accepting = this.#accept();
  }

  get connections(): number {
    return this.#open.size;
  }

  async close(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    this.#pings.cancel();
    this.#listener.close();
    await this.#accepting;
    await Promise.all([...this.#open].map((connection) => connection.end()));
    this.#api.close();
  }

  async #accept(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        this.#welcome(await this.#listener.accept());
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.report(error, "broker, accepting a connection");
        await this.options.clock.sleep(BROKER_ACCEPT_RETRY_MS, this.#stop.signal).catch(() => {});
      }
    }
  }

  #welcome(socket: Deno.TcpConn): void {
    const connection = new Connection(this, socket);
    this.#open.add(connection);
    const finished = connection.run(this.#info(++this.#clients));
    finished.finally(() => this.#open.delete(connection));
    if (this.#open.size > this.limits.connectionsMax) {
      connection.refuse("maximum connections exceeded");
    }
  }

  #info(clientId: number): ServerInfo {
    return {
      server_id: this.#serverId,
      server_name: this.options.serverName ?? `zester-embedded-${this.#serverId.slice(0, 8)}`,
      version: VERSION,
      proto: 1,
      host: this.options.listen.hostname,
      port: this.port,
      headers: true,
      jetstream: true,
      max_payload: PAYLOAD_BYTES_MAX,
      auth_required: this.logins !== undefined,
      client_id: clientId,
    };
  }

  report(error: unknown, doing: string): void {
    this.options.onError?.(toZesterError(error, doing));
  }
}

/** Checks names and passwords without telling by its timing how much of either was right. */
class Logins {
  readonly #users: Map<string, { digest: Uint8Array; permissions: Permissions | undefined }>;

  constructor(users: readonly User[]) {
    this.#users = new Map(
      users.map(({ user, password, permissions }) => [user, {
        digest: digestOf(password),
        permissions,
      }]),
    );
  }

  /** The permissions of whoever this is (absent: all), or null for nobody. */
  check(user: string, password: string): { permissions: Permissions | undefined } | null {
    const found = this.#users.get(user);
    const isRight = timingSafeEqual(digestOf(password), found?.digest ?? digestOf(""));
    return found !== undefined && isRight ? { permissions: found.permissions } : null;
  }
}

/** Equal lengths, as the comparison needs. */
function digestOf(password: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(password).digest());
}

// ---- connection ----------------------------------------------------------------------------------------------

/** The block made last: a message for many subscribers is delivered to all of them in a row. */
let latest: { message: BrokerMessage; block: Uint8Array } | undefined;

function headerBlock(message: BrokerMessage): Uint8Array | undefined {
  const { headers, status, description } = message;
  if (status === undefined && headers.length === 0) return undefined;
  if (latest?.message === message) return latest.block;
  const statusLine = status === undefined
    ? undefined
    : { code: status, ...(description === undefined ? {} : { description }) };
  latest = { message, block: encodeHeaders(headers, statusLine) };
  return latest.block;
}

class Connection {
  readonly #server: TcpServer;
  readonly #socket: Deno.TcpConn;
  readonly #output = new OutputBuffer();
  readonly #parser: ClientParser;
  readonly #deadline: Timer;
  #session: Session | undefined;
  #connect: ConnectOptions | undefined;
  /** Bytes handed to the system and not taken by it yet. */
  #inFlight = 0;
  #pump: Promise<void> | undefined;
  #pingsOut = 0;
  #isActive = false;
  #isEnding = false;
  #isClosed = false;
  #shutdown: Promise<void> | undefined;
  #finished: Promise<void> = Promise.resolve();

  constructor(server: TcpServer, socket: Deno.TcpConn) {
    this.#server = server;
    this.#socket = socket;
    this.#parser = new ClientParser((operation) => this.#perform(operation));
    this.#deadline = server.options.clock.after(
      server.limits.connectMsMax,
      () => this.refuse("Authentication Timeout"),
    );
  }

  /** Greets the client, then serves it until it or the server has had enough. */
  run(info: ServerInfo): Promise<void> {
    this.#output.info(info);
    this.#flushSoon();
    this.#finished = this.#serve();
    return this.#finished;
  }

  /** Tells the client why, and closes. */
  refuse(reason: string): void {
    if (this.#isEnding) return;
    this.#output.error(reason);
    void this.#shutDown();
  }

  /** Ends the connection; resolves when nothing of it is left. */
  end(): Promise<void> {
    void this.#shutDown();
    return this.#finished;
  }

  #shutDown(): Promise<void> {
    return this.#shutdown ??= this.#flushAndClose();
  }

  /** Ends the session at once, and the socket as soon as all that was written is out, or the time for it is up. */
  async #flushAndClose(): Promise<void> {
    this.#isEnding = true;
    this.#deadline.cancel();
    this.#session?.close();
    const timer = this.#server.options.clock.after(
      BROKER_CLOSE_FLUSH_MS_MAX,
      () => this.#closeSocket(),
    );
    this.#flushSoon();
    await this.#pump;
    timer.cancel();
    this.#closeSocket();
  }

  /** Pings a client that has been silent, and gives up on one that answers no more. */
  checkAlive(): void {
    if (this.#session === undefined || this.#isEnding) return;
    if (this.#isActive) {
      this.#isActive = false;
      this.#pingsOut = 0;
      return;
    }
    if (this.#pingsOut >= BROKER_PINGS_OUTSTANDING_MAX) return this.refuse("Stale Connection");
    this.#pingsOut++;
    this.#output.ping();
    this.#flushSoon();
  }

  async #serve(): Promise<void> {
    try {
      this.#socket.setNoDelay(true);
      await this.#readAll();
    } catch (error) {
      if (error instanceof ProtocolError) this.refuse(error.answer);
      else if (!this.#isEnding && !isDisconnect(error)) this.#failInside(error);
    }
    await this.#shutDown();
  }

  #failInside(error: unknown): void {
    this.#server.report(error, "broker, serving a client");
    this.refuse("Internal Error");
  }

  async #readAll(): Promise<void> {
    let buffer = new Uint8Array(BROKER_READ_BYTES_MIN);
    while (!this.#isEnding) {
      const count = await this.#socket.read(buffer);
      if (count === null || this.#isEnding) return;
      this.#isActive = true;
      this.#parser.push(buffer.subarray(0, count));
      buffer = fitting(buffer, count);
    }
  }

  #perform(operation: ClientOperation): void {
    if (this.#isEnding) return; // the rest of a chunk whose sender was refused half-way
    switch (operation.op) {
      case "publish":
        return this.#publish(operation);
      case "ping":
        this.#output.pong();
        return this.#flushSoon();
      case "pong":
        this.#pingsOut = 0;
        return;
      case "subscribe":
        return this.#subscribe(operation);
      case "unsubscribe":
        this.#session?.unsubscribe(operation.sid, operation.max || undefined);
        return this.#confirm();
      case "connect":
        return this.#login(operation.options);
    }
  }

  #login(options: ConnectOptions): void {
    const { logins, options: { engine } } = this.#server;
    const who = logins === undefined
      ? { permissions: undefined }
      : logins.check(options.user ?? "", options.pass ?? "");
    if (who === null) {
      throw new ProtocolError("Authorization Violation", `user ${JSON.stringify(options.user)}`);
    }
    this.#deadline.cancel();
    this.#connect = options;
    this.#session = engine.connect({
      name: options.name,
      noResponders: options.no_responders && options.headers,
      echo: options.echo,
      deliver: (message, sid) => this.#deliver(message, sid),
      ...(who.permissions === undefined ? {} : { permissions: who.permissions }),
    });
    this.#confirm();
  }

  #publish(
    { subject, reply, headers, data }: Extract<ClientOperation, { op: "publish" }>,
  ): void {
    const verdict = this.#session?.publish(subject, data, {
      ...(reply === undefined ? {} : { reply }),
      ...(headers === undefined ? {} : { headers: headers.fields }),
      ...(headers?.status === undefined
        ? {}
        : { status: headers.status, description: headers.description }),
    });
    if (verdict === "denied") this.#deny(`Publish to "${subject}"`);
    else this.#confirm();
  }

  #subscribe({ subject, queue, sid }: Extract<ClientOperation, { op: "subscribe" }>): void {
    const verdict = this.#session?.subscribe(sid, subject, queue);
    if (verdict === "denied") {
      this.#deny(
        `Subscription to "${subject}"${queue === undefined ? "" : ` using queue "${queue}"`}`,
      );
    } else this.#confirm();
  }

  #deny(what: string): void {
    this.#output.error(`Permissions Violation for ${what}`);
    this.#flushSoon();
  }

  #confirm(): void {
    if (!this.#connect?.verbose) return;
    this.#output.ok();
    this.#flushSoon();
  }

  #deliver(message: BrokerMessage, sid: string): void {
    if (this.#isEnding) return;
    const { subject, reply, data } = message;
    const headers = this.#connect?.headers ? headerBlock(message) : undefined;
    this.#output.message(sid, { subject, reply, headers, data });
    if (this.#output.length + this.#inFlight > this.#server.limits.pendingBytesMax) {
      this.#closeSocket(); // it does not read, so telling it why would only take longer
      void this.#shutDown();
    } else this.#flushSoon();
  }

  /** Writes at the end of this turn, so that all that one turn brings forth leaves in one write. */
  #flushSoon(): void {
    if (!this.#isClosed) this.#pump ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve();
    try {
      while (this.#output.length > 0 && !this.#isClosed) {
        const bytes = this.#output.take();
        this.#inFlight = bytes.length;
        for (let done = 0; done < bytes.length;) {
          done += await this.#socket.write(bytes.subarray(done));
        }
        this.#inFlight = 0;
        this.#output.giveBack(bytes);
      }
    } catch (error) {
      this.#inFlight = 0;
      if (!isDisconnect(error)) this.#server.report(error, "broker, writing to a client");
      this.#closeSocket(); // the reader then ends, and the session with it
    } finally {
      this.#pump = undefined;
    }
  }

  #closeSocket(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#socket.close();
    } catch (error) {
      if (!isDisconnect(error)) this.#server.report(error, "broker, closing a connection");
    }
  }
}

/** The buffer for the next read: larger when this one was filled, smaller when it was mostly empty. */
function fitting(buffer: Uint8Array<ArrayBuffer>, count: number): Uint8Array<ArrayBuffer> {
  const size = buffer.length;
  if (count === size && size < BROKER_READ_BYTES_MAX) {
    return new Uint8Array(Math.min(4 * size, BROKER_READ_BYTES_MAX));
  }
  if (count < size / 8 && size > BROKER_READ_BYTES_MIN) {
    return new Uint8Array(BROKER_READ_BYTES_MIN);
  }
  return buffer;
}

/** Whether it only says that the other side, or we, have closed the connection. */
function isDisconnect(error: unknown): boolean {
  return [
    Deno.errors.BadResource,
    Deno.errors.BrokenPipe,
    Deno.errors.ConnectionAborted,
    Deno.errors.ConnectionReset,
    Deno.errors.Interrupted,
    Deno.errors.NotConnected,
    Deno.errors.TimedOut,
    Deno.errors.UnexpectedEof,
  ].some((kind) => error instanceof kind);
}

// ---- broker in one call --------------------------------------------------------------------------------------

export interface EmbeddedOptions {
  clock: Clock;
  random: Random;
  users?: readonly User[];
  /** Folder of the log; without, everything is kept in memory. */
  storePath?: string;
  /** Default: 127.0.0.1 and any free port. */
  listen?: { hostname: string; port: number };
  serverName?: string;
  /** Called when the log can no longer be written; must end the program. Default: an uncaught error, which does. */
  onLogFailure?: (error: ZesterError) => void;
  onError?: (error: ZesterError) => void;
  limits?: Partial<ServerLimits>;
}

export interface EmbeddedBroker {
  readonly url: string;
  readonly port: number;
  readonly engine: Engine;
  readonly connections: number;
  /** Closes connections, writes what is left of the log, stops all timers. */
  close(): Promise<void>;
}

/** Starts engine, log and server together. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedBroker> {
  const { storePath, listen: address, onLogFailure, ...rest } = options;
  const log = storePath === undefined ? undefined : await openLog(storePath, {
    random: options.random,
    onFailure: onLogFailure ?? dieUncaught,
  });
  const { clock, random } = options;
  const engine = createEngine({ clock, random, ...(log && { persistence: log }) });
  try {
    if (log !== undefined) restore(engine, log);
    const server = startServer({
      ...rest,
      engine,
      listen: address ?? { hostname: "127.0.0.1", port: 0 },
    });
    return embedded(engine, server, log);
  } catch (error) {
    engine.close();
    await log?.close();
    throw isZesterError(error) ? error : toZesterError(error, "broker, starting");
  }
}

function restore(engine: Engine, log: DurableLog): void {
  log.replay((record) => engine.restore(record));
  log.compact(() => engine.snapshot());
}

function embedded(engine: Engine, server: Server, log: DurableLog | undefined): EmbeddedBroker {
  return {
    url: server.url,
    port: server.port,
    engine,
    get connections() {
      return server.connections;
    },
    async close() {
      await server.close();
      engine.close();
      await log?.close();
    },
  };
}

/** Not caught by anybody on purpose: a broker that cannot write must not go on. */
function dieUncaught(error: ZesterError): void {
  queueMicrotask(() => {
    throw error;
  });
}

/**
 * Owns the connection: the first connect, the state that follows, and a deadline for every await. The client keeps waiting
 * for ever in several places (a flush to a stopped server, a request on a lost connection); nothing above this file does.
 */
import {
  connect,
  createInbox,
  type Msg,
  type NatsConnection,
  PermissionViolationError,
} from "@nats-io/transport-node";
import { isZesterError, ZesterError } from "../errors.ts";
import {
  CLI_CONNECT_TIMEOUT_MS,
  DAEMON_CONNECT_TIMEOUT_MS,
  FIRST_CONNECT_WAIT_MS,
  PING_INTERVAL_MS,
  PING_OUTSTANDING_MAX,
  RECONNECT_JITTER_MS,
  RECONNECT_JITTER_TLS_MS,
  RECONNECT_WAIT_MS,
  SERVER_VERSION_MIN,
  UNSERVED_RETRY_MS,
  UNSERVED_RETRY_MS_MAX,
} from "../limits.ts";
import type { HeaderField, Message } from "../ports.ts";
import { Answers } from "./answers.ts";
import { fromClient } from "./failures.ts";
import { headersOf } from "./messages.ts";
import { guardSockets } from "./socket_guard.ts";

/** What became of the connection. `connected` is the first time, `reconnected` every later one. */
export interface ConnectionStatus {
  kind: "connected" | "disconnected" | "reconnected" | "closed";
  /** Whom we are or were connected to. */
  server?: string;
}

export interface LinkOptions {
  servers: readonly string[];
  user?: string;
  password?: string;
  name: string;
  mode: "daemon" | "cli";
  inboxPrefix: string;
  onStatus?(event: ConnectionStatus): void;
  /** Told what has no caller to fail: refused subscriptions, failed attempts, handlers that threw. */
  onProblem?(error: ZesterError): void;
}

type Receive = (message: Msg) => void;

interface Interest {
  readonly subject: string;
  readonly queue: string | undefined;
  readonly receive: Receive;
  /** Ends it on the client; absent before the first connect. */
  stop: (() => void) | undefined;
}

/** One connection, whether it is there yet or not. */
export class Link {
  readonly #options: LinkOptions;
  /** Made before there is a connection: they become live with the first one. Later the client renews them itself. */
  readonly #interests = new Set<Interest>();
  #client: NatsConnection | undefined;
  #connected = false;
  #closed = false;
  #wake: (() => void) | undefined;
  /** Those who wait for requests; made with the first. */
  #answers: Answers | undefined;
  /** Those who wait for something else on the connection: told when it is lost. */
  readonly #waiting = new Set<(lost: ZesterError) => void>();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get connected(): boolean {
    return this.#connected;
  }

  get client(): NatsConnection | undefined {
    return this.#client;
  }

  /** Connects once or throws `unreachable`; for programs with somebody in front of them. */
  async connectNow(): Promise<void> {
    this.#adopt(await this.#attempt(CLI_CONNECT_TIMEOUT_MS));
  }

  /** Connects sometime; tries until it works or the link is closed. */
  async connectInBackground(): Promise<void> {
    for (let waitMs = FIRST_CONNECT_WAIT_MS; !this.#closed; waitMs *= 2) {
      try {
        return this.#adopt(await this.#attempt(DAEMON_CONNECT_TIMEOUT_MS));
      } catch (error) {
        this.report(fromClient("connect", error));
      }
      await this.#pause(Math.min(waitMs, RECONNECT_WAIT_MS) + Math.random() * RECONNECT_JITTER_MS);
    }
  }

  async #attempt(timeoutMs: number): Promise<NatsConnection> {
    const { servers, user, password, name, mode, inboxPrefix } = this.#options;
    guardSockets();
    const client = await within(
      timeoutMs,
      connect({
        servers: [...servers],
        name,
        inboxPrefix,
        timeout: timeoutMs,
        reconnect: mode === "daemon",
        maxReconnectAttempts: -1,
        // A login that was refused may be allowed a minute later, when the fleet's users are known again.
        ignoreAuthErrorAbort: true,
        reconnectTimeWait: RECONNECT_WAIT_MS,
        reconnectJitter: RECONNECT_JITTER_MS,
        reconnectJitterTLS: RECONNECT_JITTER_TLS_MS,
        // Two errors made for each request, in case it fails: they cost more than sending it. Ours say what was asked.
        noAsyncTraces: true,
        pingInterval: PING_INTERVAL_MS,
        maxPingOut: PING_OUTSTANDING_MAX,
        ...(user === undefined ? {} : { user }),
        ...(password === undefined ? {} : { pass: password }),
      }),
      (late) => late.close(),
    ).catch((error) => {
      throw unreachable(servers, error);
    });
    const version = client.info?.version ?? "0.0.0";
    if (isSupported(version)) return client;
    await client.close();
    throw unsupported(version);
  }

  #adopt(client: NatsConnection): void {
    if (this.#closed) {
      client.close().catch(() => {});
      return;
    }
    this.#client = client;
    this.#connected = true;
    for (const interest of this.#interests) this.#listen(client, interest);
    this.#follow(client);
    this.#tell({ kind: "connected", server: client.getServer() });
  }

  async #follow(client: NatsConnection): Promise<void> {
    for await (const event of client.status()) {
      if (event.type === "disconnect") this.#onDisconnect(event.server);
      else if (event.type === "reconnect") this.#onReconnect(client, event.server);
      else if (event.type === "error") this.#onError(event.error);
    }
    const wasOpen = !this.#closed;
    this.#onDisconnect(client.getServer());
    this.#closed = true;
    if (wasOpen) this.#tell({ kind: "closed" });
  }

  #onError(thrown: Error): void {
    const error = fromClient("connection", thrown);
    if (thrown instanceof PermissionViolationError && thrown.operation === "publish") {
      this.#answers?.refuse(thrown.subject, error);
    }
    this.report(error);
  }

  #onDisconnect(server: string): void {
    if (!this.#connected) return;
    this.#connected = false;
    this.#loseWaiting("waiting for an answer");
    this.#tell({ kind: "disconnected", server });
  }

  #onReconnect(client: NatsConnection, server: string): void {
    this.#connected = true;
    const version = client.info?.version ?? "0.0.0";
    if (!isSupported(version)) this.report(unsupported(version));
    this.#tell({ kind: "reconnected", server });
  }

  #tell(event: ConnectionStatus): void {
    this.#options.onStatus?.(event);
  }

  /** Hands an error to whoever listens for those that no call can return. */
  report(error: ZesterError): void {
    this.#options.onProblem?.(error);
  }

  /**
   * A handler threw, which is a bug. It must not rise into the client's reader, where it would end every subscription;
   * with nobody to report it to it ends the program, as a bug does.
   */
  #reportBug(error: ZesterError): void {
    if (this.#options.onProblem !== undefined) return this.report(error);
    queueMicrotask(() => {
      throw error;
    });
  }

  #pause(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The live client, or `disconnected`. */
  live(doing: string): NatsConnection {
    if (this.#connected && this.#client !== undefined) return this.#client;
    throw this.#notConnected(doing);
  }

  #notConnected(doing: string): ZesterError {
    const code = this.#closed ? "closed" : "disconnected";
    return new ZesterError(code, `${doing}: not connected to ${this.#options.servers.join(", ")}`);
  }

  inbox(): string {
    return createInbox(this.#options.inboxPrefix);
  }

  publish(
    subject: string,
    data: Uint8Array,
    { headers = [], reply }: { headers?: readonly HeaderField[]; reply?: string } = {},
  ): void {
    const client = this.live(`publish ${subject}`);
    try {
      const lines = headersOf(headers);
      client.publish(subject, data, {
        ...(lines === undefined ? {} : { headers: lines }),
        ...(reply === undefined ? {} : { reply }),
      });
    } catch (error) {
      throw fromClient(`publish ${subject}`, error);
    }
  }

  /** Listens from now on, or from the first connect on. Returns what ends it. */
  subscribe(subject: string, receive: Receive, queue?: string): () => void {
    const interest: Interest = { subject, queue, receive, stop: undefined };
    if (this.#closed) throw this.#notConnected(`subscribe ${subject}`);
    if (this.#client !== undefined) this.#listen(this.#client, interest);
    this.#interests.add(interest);
    return () => {
      this.#interests.delete(interest);
      interest.stop?.();
      interest.stop = undefined;
    };
  }

  #listen(client: NatsConnection, interest: Interest): void {
    const { subject, queue, receive } = interest;
    try {
      const subscription = client.subscribe(subject, {
        ...(queue === undefined ? {} : { queue }),
        callback: (error, message) => {
          if (error !== null) return this.report(fromClient(`subscribe ${subject}`, error));
          try {
            receive(message);
          } catch (thrown) {
            this.#reportBug(fromClient(`handler of ${subject}`, thrown));
          }
        },
      });
      interest.stop = () => subscription.unsubscribe();
    } catch (error) {
      throw fromClient(`subscribe ${subject}`, error);
    }
  }

  /** One answer, or an error by the deadline at the latest; at once when the connection is lost. */
  async request(
    subject: string,
    data: Uint8Array,
    { headers = [], timeoutMs }: { headers?: readonly HeaderField[]; timeoutMs: number },
  ): Promise<Message> {
    const client = this.live(`request ${subject}`);
    const answers = this.#answers ??= this.#listenForAnswers(client);
    const expected = answers.expect(subject, timeoutMs);
    try {
      this.publish(subject, data, { headers, reply: expected.reply });
    } catch (error) {
      answers.forget(expected);
      throw error;
    }
    return await expected.answer;
  }

  #listenForAnswers(client: NatsConnection): Answers {
    const answers = new Answers(this.inbox());
    client.subscribe(answers.filter, {
      callback: (error, message) => {
        if (error === null) return answers.receive(message);
        // Not allowed to listen: whoever asks next tries again.
        this.#answers = undefined;
        answers.loseAll(fromClient(`subscribe ${answers.filter}`, error));
      },
    });
    return answers;
  }

  async flush(timeoutMs: number): Promise<void> {
    const client = this.live("flush");
    try {
      await within(timeoutMs, this.unlessLost(client.flush()));
    } catch (error) {
      throw fromClient("flush", error);
    }
  }

  /** The promise, or `disconnected` as soon as the connection is lost. Nothing is kept of one that has settled. */
  unlessLost<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      promise.then(
        (value) => {
          this.#waiting.delete(reject);
          resolve(value);
        },
        (error) => {
          this.#waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  #loseWaiting(doing: string): void {
    const lost = this.#notConnected(doing);
    for (const reject of this.#waiting) reject(lost);
    this.#waiting.clear();
    this.#answers?.loseAll(lost);
  }

  /** Lets subscriptions finish what they have, sends what is left, and closes; by the deadline in any case. */
  async drain(timeoutMs: number): Promise<void> {
    const client = this.#client;
    if (client !== undefined && this.#connected && !client.isClosed()) {
      await within(timeoutMs, client.drain()).catch((error) =>
        this.report(fromClient("drain", error))
      );
    }
    await this.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake?.();
    this.#interests.clear();
    const client = this.#client;
    if (client !== undefined && !client.isClosed()) await client.close();
    this.#connected = false;
    this.#loseWaiting("closing");
  }

  /** Whom we are connected to, as it called itself, with its cluster. */
  get info(): NatsConnection["info"] {
    return this.#client?.info;
  }
}

/** The promise, or `timeout`. What comes too late is handed to `discard`. */
export function within<T>(
  timeoutMs: number,
  promise: Promise<T>,
  discard: (late: T) => unknown = () => {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new ZesterError("timeout", `no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    promise.then(
      (value) => isLate ? discard(value) : resolve(value),
      reject,
    ).finally(() => clearTimeout(timer));
  });
}

/**
 * Does it again while nobody takes it, for a moment: servers of a cluster learn of new subjects, and elect new leaders,
 * within milliseconds. Safe for writes too, because what nobody took has not happened.
 */
export async function retryUnserved<T>(work: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + UNSERVED_RETRY_MS_MAX;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isZesterError(error, "no_responders") || performance.now() > deadlineMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, UNSERVED_RETRY_MS));
  }
}

function unreachable(servers: readonly string[], thrown: unknown): ZesterError {
  const cause = fromClient("connect", thrown);
  const code = cause.code === "permission_denied" ? cause.code : "unreachable";
  return new ZesterError(code, `NATS at ${servers.join(", ")}: ${cause.message}`, {
    cause,
    fix: code === "unreachable"
      ? "check that the server runs and that the address is right"
      : "check user and password",
  });
}

function unsupported(version: string): ZesterError {
  return new ZesterError(
    "server_unsupported",
    `NATS server ${version} is too old: ${SERVER_VERSION_MIN.join(".")} is the oldest that works`,
    { fix: "upgrade nats-server" },
  );
}

function isSupported(version: string): boolean {
  const parts = version.split(/[.-]/).map(Number);
  for (const [at, least] of SERVER_VERSION_MIN.entries()) {
    const part = parts[at] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

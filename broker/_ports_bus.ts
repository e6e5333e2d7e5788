/** The Bus port over one session of an engine. */
import { toZesterError, ZesterError } from "../core/errors.ts";
import type {
  Bus,
  Clock,
  Message,
  PublishOptions,
  RequestOptions,
  Subscription,
} from "../core/ports.ts";
import type { BrokerMessage, Engine, Permissions, Session } from "./engine.ts";
import { isLiteralSubject, isPattern } from "./subject_match.ts";

export interface EngineBusOptions {
  name: string;
  /** Prefix of this client's inboxes. */
  inbox: string;
  clock: Clock;
  permissions?: Permissions;
  /** Told what a handler threw; the subscription goes on. */
  report?: (error: ZesterError) => void;
}

/** What the ports of one client share. */
export interface Link {
  readonly engine: Engine;
  readonly bus: EngineBus;
  readonly clock: Clock;
}

/** One client's connection to the engine. */
export class EngineBus implements Bus {
  readonly #session: Session;
  readonly #options: EngineBusOptions;
  readonly #handlers = new Map<string, (message: BrokerMessage) => void>();
  readonly #onClose = new Set<(reason: ZesterError) => void>();
  #serial = 0;
  #open = true;

  constructor(engine: Engine, options: EngineBusOptions) {
    this.#options = options;
    const { name, permissions } = options;
    this.#session = engine.connect({
      name,
      ...(permissions === undefined ? {} : { permissions }),
      deliver: (message, sid) => queueMicrotask(() => this.#handle(message, sid)),
    });
  }

  get connected(): boolean {
    return this.#open;
  }

  publish(subject: string, data: Uint8Array, options: PublishOptions = {}): void {
    checkLiteral(subject);
    this.#requireOpen(`publish ${subject}`);
    // A copy: what was published must not change when the caller uses its buffer again. A publish that is not allowed
    // is dropped, as a server drops it.
    this.#session.publish(subject, data.slice(), options);
  }

  subscribe(
    subject: string,
    handler: (message: BrokerMessage) => void,
    options: { queue?: string } = {},
  ): Subscription {
    if (!isPattern(subject)) throw badSubject(subject);
    this.#requireOpen(`subscribe ${subject}`);
    const sid = String(++this.#serial);
    this.#handlers.set(sid, handler);
    if (this.#session.subscribe(sid, subject, options.queue) === "denied") {
      this.#handlers.delete(sid);
      throw this.#denied(`subscribe ${subject}`);
    }
    return {
      unsubscribe: () => {
        this.#handlers.delete(sid);
        this.#session.unsubscribe(sid);
      },
    };
  }

  request(subject: string, data: Uint8Array, options: RequestOptions): Promise<Message> {
    const doing = `request ${subject}`;
    return this.#exchange(doing, options.timeoutMs, (reply) => {
      checkLiteral(subject);
      const verdict = this.#session.publish(subject, data.slice(), {
        reply,
        headers: options.headers ?? [],
      });
      if (verdict === "denied") throw this.#denied(doing);
    });
  }

  /** Sends with a fresh inbox, and resolves with the first message that comes to it. */
  #exchange(doing: string, timeoutMs: number, send: (reply: string) => void): Promise<Message> {
    return new Promise((resolve, reject) => {
      this.#requireOpen(doing);
      const reply = this.inbox();
      const subscription = this.subscribe(reply, (message) => {
        finish();
        if (message.status === 503) {
          reject(new ZesterError("no_responders", `${doing}: nobody there`));
        } else resolve(message);
      });
      const timer = this.#options.clock.after(timeoutMs, () => {
        finish();
        reject(new ZesterError("timeout", `${doing}: no answer within ${timeoutMs} ms`));
      });
      const offClose = this.onClose((reason) => {
        finish();
        reject(reason);
      });
      const finish = () => {
        timer.cancel();
        offClose();
        subscription.unsubscribe();
      };
      try {
        send(reply);
      } catch (thrown) {
        finish();
        throw thrown;
      }
    });
  }

  flush(_timeoutMs: number): Promise<void> {
    if (this.#open) return Promise.resolve();
    return Promise.reject(this.#disconnected("flush"));
  }

  inbox(): string {
    return `${this.#options.inbox}.${++this.#serial}`;
  }

  /** Calls back when the connection ends; gives a function that takes that back. */
  onClose(callback: (reason: ZesterError) => void): () => void {
    this.#onClose.add(callback);
    return () => void this.#onClose.delete(callback);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#handlers.clear();
    this.#session.close();
    const reason = new ZesterError("closed", `${this.#options.name}: the connection was closed`);
    for (const callback of [...this.#onClose]) callback(reason);
  }

  /** Each message in a turn of its own; what comes after the subscription ended is dropped. */
  #handle(message: BrokerMessage, sid: string): void {
    try {
      this.#handlers.get(sid)?.(message);
    } catch (thrown) {
      this.#options.report?.(toZesterError(thrown, `handler of ${message.subject}`));
    }
  }

  #requireOpen(doing: string): void {
    if (!this.#open) throw this.#disconnected(doing);
  }

  #disconnected(doing: string): ZesterError {
    return new ZesterError("disconnected", `${this.#options.name}: ${doing}: no connection`);
  }

  #denied(doing: string): ZesterError {
    return new ZesterError("permission_denied", `${this.#options.name}: ${doing}: not allowed`);
  }
}

function checkLiteral(subject: string): void {
  if (!isLiteralSubject(subject)) throw badSubject(subject);
}

function badSubject(subject: string): ZesterError {
  return new ZesterError("bad_subject", `${JSON.stringify(subject.slice(0, 200))} is no subject`);
}

/**
 * Waits for the answers to requests: all come in on one subscription and are told apart by the last token of their subject. The
 * client can do that too, but makes an error, a timer and several promises for each request, in case it fails: all that
 * costs more than the request itself.
 */
import type { Msg } from "@nats-io/transport-node";
import { ZesterError } from "../errors.ts";
import type { Message } from "../ports.ts";
import { toMessage } from "./messages.ts";

interface Waiting {
  readonly subject: string;
  readonly timer: ReturnType<typeof setTimeout>;
  resolve(answer: Message): void;
  reject(error: ZesterError): void;
}

/** A request under way. */
export interface Expected {
  /** Where the answer is to go. */
  readonly reply: string;
  readonly answer: Promise<Message>;
}

/** Too many to guess: whoever could name the subject of an answer could give it. */
const TOKEN_BYTES = 12;
const NO_RESPONDERS = 503;

/** The answers that one connection waits for. */
export class Answers {
  readonly #prefix: string;
  readonly #waiting = new Map<string, Waiting>();

  constructor(inbox: string) {
    this.#prefix = `${inbox}.`;
  }

  /** What to subscribe to, with `receive` as its handler. */
  get filter(): string {
    return `${this.#prefix}*`;
  }

  /** Makes a subject for one answer, which comes, or fails, by the deadline. */
  expect(subject: string, timeoutMs: number): Expected {
    const token = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)).toHex();
    const { promise: answer, resolve, reject } = Promise.withResolvers<Message>();
    const timer = setTimeout(() => {
      this.#waiting.delete(token);
      reject(new ZesterError("timeout", `request ${subject}: no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    this.#waiting.set(token, { subject, timer, resolve, reject });
    return { reply: this.#prefix + token, answer };
  }

  /** Waits no longer for one that could not even be sent. */
  forget({ reply }: Expected): void {
    this.#take(reply);
  }

  receive(message: Msg): void {
    const waiting = this.#take(message.subject);
    if (waiting === undefined) return; // too late
    const answer = toMessage(message);
    if (answer.status !== NO_RESPONDERS || answer.data.length > 0) return waiting.resolve(answer);
    const { subject } = waiting;
    waiting.reject(
      new ZesterError("no_responders", `request ${subject}: nobody is there to answer`),
    );
  }

  /** The server did not let a request through. It says which subject, not which request: the oldest is the one. */
  refuse(subject: string, error: ZesterError): void {
    for (const [token, waiting] of this.#waiting) {
      if (waiting.subject === subject) return void this.#take(this.#prefix + token)?.reject(error);
    }
  }

  /** No answer will come any more. */
  loseAll(error: ZesterError): void {
    for (const { timer, reject } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#waiting.clear();
  }

  #take(reply: string): Waiting | undefined {
    const token = reply.slice(this.#prefix.length);
    const waiting = this.#waiting.get(token);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(token);
    clearTimeout(waiting.timer);
    return waiting;
  }
}

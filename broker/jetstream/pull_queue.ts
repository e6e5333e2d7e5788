/** Owns the pull requests that wait at one consumer: serves them in turn, ends them when their time is up. */
import type { HeaderField } from "../../core/ports.ts";
import { Alarm } from "./alarm.ts";
import { type Context, millis, statusMessage } from "./context.ts";
import type { ConsumerConfig, PullRequest } from "./types.ts";

interface Waiting {
  readonly to: string;
  readonly noWait: boolean;
  /** On the monotonic clock; Infinity without a limit. */
  readonly expiresMs: number;
  readonly heartbeatMs: number;
  nextHeartbeatMs: number;
  batch: number;
  /** Bytes still allowed; 0 without a limit. */
  bytes: number;
  readonly limitsBytes: boolean;
  delivered: number;
}

/** What the queue needs to know of its consumer. */
export interface PullSource {
  /** Messages that could be delivered, redeliveries included. */
  available(): number;
  heartbeatHeaders(): HeaderField[];
}

/** The waiting requests of one pull consumer. */
export class PullQueue {
  readonly #context: Context;
  readonly #source: PullSource;
  readonly #alarm: Alarm;
  #waiting: Waiting[] = [];

  constructor(context: Context, source: PullSource) {
    this.#context = context;
    this.#source = source;
    this.#alarm = new Alarm(context.clock, () => this.#endExpired());
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Takes a request or answers with the status that refuses it; says which. */
  add(request: PullRequest, to: string, config: ConsumerConfig): boolean {
    const refusal = this.#refusal(request, config);
    if (refusal !== undefined) {
      this.#status(to, ...refusal);
      return false;
    }
    const nowMs = this.#context.clock.monotonic();
    const heartbeatMs = millis(request.idle_heartbeat ?? 0);
    this.#waiting.push({
      to,
      noWait: request.no_wait ?? false,
      expiresMs: request.expires ? nowMs + millis(request.expires) : Infinity,
      heartbeatMs,
      nextHeartbeatMs: heartbeatMs > 0 ? nowMs + heartbeatMs : Infinity,
      batch: Math.max(1, request.batch),
      bytes: request.max_bytes ?? 0,
      limitsBytes: (request.max_bytes ?? 0) > 0,
      delivered: 0,
    });
    this.#arm();
    return true;
  }

  /** Where the next message, of this size, goes. Requests that cannot take it are ended on the way. */
  take(size: number): { to: string; done: () => void } | undefined {
    for (let head = this.#waiting[0]; head !== undefined; head = this.#waiting[0]) {
      this.#waiting.shift();
      if (head.expiresMs <= this.#context.clock.monotonic()) this.#timeOut(head);
      else if (!this.#context.hasInterest(head.to)) continue;
      else if (head.limitsBytes && size > head.bytes) {
        this.#status(head.to, 409, "Message Size Exceeds MaxBytes", remaining(head));
      } else return { to: head.to, done: this.#spend(head, size) };
    }
    return undefined;
  }

  /** There is nothing more now: requests that do not wait end. */
  endOneShots(): void {
    this.#waiting = this.#waiting.filter((each) => {
      const ends = each.noWait && (each.expiresMs === Infinity || each.delivered > 0);
      if (ends) this.#status(each.to, 404, "No Messages");
      return !ends;
    });
  }

  /** Forgets requests that nobody listens for any more. */
  dropAbandoned(): void {
    this.#waiting = this.#waiting.filter((each) => this.#context.hasInterest(each.to));
  }

  /** Ends all requests with this status. */
  close(status: number, description: string): void {
    this.#alarm.cancel();
    for (const each of this.#waiting) this.#status(each.to, status, description);
    this.#waiting = [];
  }

  /** Forgets all requests without a word. */
  cancel(): void {
    this.#alarm.cancel();
    this.#waiting = [];
  }

  /** Counts the message; the request goes to the end of the queue, so that several readers take turns. */
  #spend(request: Waiting, size: number): () => void {
    request.delivered++;
    request.batch--;
    if (request.heartbeatMs > 0) {
      request.nextHeartbeatMs = this.#context.clock.monotonic() + request.heartbeatMs;
    }
    if (request.limitsBytes) request.bytes -= size;
    const spent = request.batch === 0 || (request.limitsBytes && request.bytes === 0);
    if (!spent) this.#waiting.push(request);
    return () => {
      if (spent && request.bytes > 0) {
        this.#status(request.to, 409, "Batch Completed", remaining(request));
      }
    };
  }

  #refusal(
    request: PullRequest,
    config: ConsumerConfig,
  ): [status: number, description: string] | undefined {
    const { batch, expires = 0, max_bytes: bytes = 0, idle_heartbeat: heartbeat = 0 } = request;
    if (heartbeat > 0 && heartbeat * 2 > expires) {
      return [400, "Bad Request - heartbeat value too large"];
    }
    if (config.max_batch && batch > config.max_batch) {
      return [409, `Exceeded MaxRequestBatch of ${config.max_batch}`];
    }
    if (config.max_expires && expires > config.max_expires) {
      return [409, `Exceeded MaxRequestExpires of ${millis(config.max_expires)}ms`];
    }
    if (config.max_bytes && bytes > config.max_bytes) {
      return [409, `Exceeded MaxRequestMaxBytes of ${config.max_bytes}`];
    }
    return this.#refusalByLoad(request, config);
  }

  #refusalByLoad(
    request: PullRequest,
    config: ConsumerConfig,
  ): [status: number, description: string] | undefined {
    this.#endExpired();
    if (request.no_wait) {
      const available = this.#source.available();
      if (available === 0 && !request.expires) return [404, "No Messages"];
      const asked = this.#waiting.reduce((sum, each) => sum + each.batch, 0);
      if (available > 0 && available < asked) return [408, "Requests Pending"];
    }
    if (this.size < config.max_waiting) return undefined;
    this.dropAbandoned();
    return this.size < config.max_waiting ? undefined : [409, "Exceeded MaxWaiting"];
  }

  #endExpired(): void {
    const nowMs = this.#context.clock.monotonic();
    this.#waiting = this.#waiting.filter((each) => {
      if (each.expiresMs > nowMs) return true;
      this.#timeOut(each);
      return false;
    });
    for (const each of this.#waiting) this.#beat(each, nowMs);
    this.#arm();
  }

  #beat(request: Waiting, nowMs: number): void {
    if (request.nextHeartbeatMs > nowMs) return;
    request.nextHeartbeatMs = nowMs + request.heartbeatMs;
    this.#status(request.to, 100, "Idle Heartbeat", this.#source.heartbeatHeaders());
  }

  #arm(): void {
    const nowMs = this.#context.clock.monotonic();
    for (const { expiresMs, nextHeartbeatMs } of this.#waiting) {
      this.#alarm.ringWithin(Math.min(expiresMs, nextHeartbeatMs) - nowMs);
    }
  }

  #timeOut(request: Waiting): void {
    this.#status(request.to, 408, "Request Timeout", remaining(request));
  }

  #status(to: string, status: number, description: string, headers: HeaderField[] = []): void {
    this.#context.send(to, statusMessage(to, status, description, { headers }));
  }
}

function remaining(request: Waiting): HeaderField[] {
  return [
    ["Nats-Pending-Messages", String(request.batch)],
    ["Nats-Pending-Bytes", String(request.bytes)],
  ];
}

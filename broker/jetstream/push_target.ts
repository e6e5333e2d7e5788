/** Owns where a push consumer delivers: whether somebody listens, heartbeats, and flow control. */
import { FLOW_CONTROL_BYTES_MAX } from "../../core/limits.ts";
import type { HeaderField } from "../../core/ports.ts";
import { Alarm } from "./alarm.ts";
import { type Context, millis, statusMessage } from "./context.ts";

/** What the target needs to know of its consumer. */
export interface PushSource {
  readonly stream: string;
  readonly name: string;
  heartbeatHeaders(): HeaderField[];
}

export interface PushSettings {
  readonly subject: string;
  readonly group: string | undefined;
  readonly flowControl: boolean;
  /** Nanoseconds; 0 without. */
  readonly heartbeat: number;
}

/** The receiving end of one push consumer. */
export class PushTarget {
  readonly #context: Context;
  readonly #source: PushSource;
  readonly #settings: PushSettings;
  readonly #heartbeat: Alarm;
  #active = false;
  #lastSentMs = 0;
  /** Bytes sent since the last answered flow control request. */
  #bytes = 0;
  #request: { reply: string; bytes: number } | undefined;
  #requests = 0;

  constructor(context: Context, source: PushSource, settings: PushSettings) {
    this.#context = context;
    this.#source = source;
    this.#settings = settings;
    this.#heartbeat = new Alarm(context.clock, () => this.#beat());
  }

  get subject(): string {
    return this.#settings.subject;
  }

  get isActive(): boolean {
    return this.#active;
  }

  /** Whether a message may be sent now. */
  get isReady(): boolean {
    return this.#active && !(this.#settings.flowControl && this.#bytes > FLOW_CONTROL_BYTES_MAX);
  }

  /** Looks again whether somebody listens. */
  refresh(): void {
    const active = this.#context.hasInterest(this.subject, this.#settings.group);
    if (active === this.#active) return;
    this.#active = active;
    this.#bytes = 0;
    this.#request = undefined;
    if (active) this.#startHeartbeat();
    else this.#heartbeat.cancel();
  }

  /** Counts a message that was sent, and asks the receiver to say when it has read so far. */
  sent(size: number): void {
    this.#lastSentMs = this.#context.clock.monotonic();
    if (!this.#settings.flowControl) return;
    this.#bytes += size;
    if (this.#request !== undefined || this.#bytes <= FLOW_CONTROL_BYTES_MAX / 2) return;
    const { stream, name } = this.#source;
    const reply = `$JS.FC.${stream}.${name}.${++this.#requests}`;
    this.#request = { reply, bytes: this.#bytes };
    this.#context.send(
      this.subject,
      statusMessage(this.subject, 100, "FlowControl Request", { reply }),
    );
  }

  /** Takes the receiver's answer; says whether it was the one awaited. */
  answered(reply: string): boolean {
    if (this.#request?.reply !== reply) return false;
    this.#bytes -= this.#request.bytes;
    this.#request = undefined;
    return true;
  }

  close(): void {
    this.#heartbeat.cancel();
    this.#active = false;
  }

  #startHeartbeat(): void {
    if (this.#settings.heartbeat <= 0) return;
    this.#lastSentMs = this.#context.clock.monotonic();
    this.#heartbeat.ringWithin(millis(this.#settings.heartbeat));
  }

  #beat(): void {
    const intervalMs = millis(this.#settings.heartbeat);
    const idleMs = this.#context.clock.monotonic() - this.#lastSentMs;
    if (idleMs < intervalMs) {
      this.#heartbeat.ringWithin(intervalMs - idleMs);
      return;
    }
    const headers = this.#source.heartbeatHeaders();
    if (this.#request !== undefined) headers.push(["Nats-Consumer-Stalled", this.#request.reply]);
    this.#context.send(
      this.subject,
      statusMessage(this.subject, 100, "Idle Heartbeat", { headers }),
    );
    this.#startHeartbeat();
  }
}

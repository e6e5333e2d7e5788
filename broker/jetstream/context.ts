/** What streams and consumers may touch of the engine, and the small values that they all make. */
import type { Clock, HeaderField, Random } from "../../core/ports.ts";
import type { BrokerMessage } from "../engine.ts";
import type { LogRecord } from "./types.ts";

const NANOS_PER_MS = 1_000_000;
const EMPTY = new Uint8Array(0);

export interface Context {
  readonly clock: Clock;
  readonly random: Random;
  /** Sends from the broker itself: to whoever listens on `to`, whatever subject the message shows. */
  send(to: string, message: BrokerMessage): void;
  hasInterest(subject: string, queue?: string): boolean;
  write(record: LogRecord): void;
}

/** A message of the broker's own: a status line, no payload. */
export function statusMessage(
  subject: string,
  status: number,
  description: string,
  extra: { headers?: readonly HeaderField[]; reply?: string } = {},
): BrokerMessage {
  const { headers = [], reply } = extra;
  return { subject, reply, headers, status, description, data: EMPTY };
}

/** Nanoseconds, as settings have them, to milliseconds, as the clock counts. */
export function millis(nanoseconds: number): number {
  return nanoseconds / NANOS_PER_MS;
}

/** A stamp of the clock in nanoseconds, exact to the microsecond. */
export function nanosAt(timeMs: number): bigint {
  return BigInt(Math.round(timeMs * 1_000)) * 1_000n;
}

/** A stamp of the clock as clients read it. */
export function timestamp(timeMs: number): string {
  return timeMs === 0 ? "0001-01-01T00:00:00Z" : new Date(timeMs).toISOString();
}

/** The value of the first header of this name, compared without case. */
export function headerValue(headers: readonly HeaderField[], name: string): string | undefined {
  const wanted = name.toLowerCase();
  return headers.find(([each]) => each.toLowerCase() === wanted)?.[1];
}

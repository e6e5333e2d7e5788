/** Reads the acknowledgements that clients send: which message, and what is to become of it. */
import { millis } from "./context.ts";
import type { PullRequest } from "./types.ts";

const NANOS_PER_MS = 1_000_000n;

/** The message that an acknowledgement speaks of. */
export interface AckTarget {
  readonly stream: string;
  readonly consumer: string;
  readonly sequence: number;
  readonly deliveries: number;
  /** When the stream took it. */
  readonly timeMs: number;
}

export type AckKind =
  | { kind: "ack" }
  | { kind: "nak"; delayMs: number }
  | { kind: "working" }
  | { kind: "term" }
  | { kind: "next"; request: PullRequest };

/** Every acknowledgement is sent to a subject below this. */
export const ACK_PREFIX = "$JS.ACK.";

/** What the subject of an acknowledgement names, or null when it is none of ours. */
export function parseAckSubject(subject: string): AckTarget | null {
  const tokens = subject.split(".");
  const [, , stream, consumer, deliveries, sequence, , time] = tokens;
  if (tokens.length !== 9 || stream === undefined || consumer === undefined) return null;
  return {
    stream,
    consumer,
    sequence: Number(sequence),
    deliveries: Number(deliveries),
    timeMs: /^\d+$/.test(time ?? "") ? Number(BigInt(time ?? "") / NANOS_PER_MS) : 0,
  };
}

/** What the payload of an acknowledgement says; null when it says nothing we know. */
export function parseAck(data: Uint8Array): AckKind | null {
  const text = new TextDecoder().decode(data);
  if (text === "" || text === "+ACK" || text === "+OK") return { kind: "ack" };
  if (text === "+WPI") return { kind: "working" };
  if (text.startsWith("-NAK")) return { kind: "nak", delayMs: nakDelayMs(text.slice(4).trim()) };
  if (text.startsWith("+TERM")) return { kind: "term" };
  if (text.startsWith("+NXT")) return { kind: "next", request: parsePull(text.slice(4).trim()) };
  return null;
}

/** A delay that cannot be read is none: the message is wanted again in any case. */
function nakDelayMs(text: string): number {
  const delay = jsonObject(text)?.delay;
  return typeof delay === "number" && delay > 0 ? millis(delay) : 0;
}

/** A pull request as clients write it: nothing, a number, or JSON. */
export function parsePull(text: string): PullRequest {
  if (/^\d+$/.test(text)) return { batch: Number(text) };
  const { batch, expires, no_wait, max_bytes, idle_heartbeat } = jsonObject(text) ?? {};
  const request: PullRequest = { batch: typeof batch === "number" ? batch : 1 };
  if (typeof expires === "number") request.expires = expires;
  if (typeof no_wait === "boolean") request.no_wait = no_wait;
  if (typeof max_bytes === "number") request.max_bytes = max_bytes;
  if (typeof idle_heartbeat === "number") request.idle_heartbeat = idle_heartbeat;
  return request;
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // what clients send is theirs to get right; without it the defaults hold
  }
}

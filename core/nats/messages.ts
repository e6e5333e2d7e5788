/** Translates between the client's messages and those of the ports. */
import { headers as newHeaders, type Msg, type MsgHdrs } from "@nats-io/transport-node";
import { ZesterError } from "../errors.ts";
import type { HeaderField, Message, StoredMessage } from "../ports.ts";

const NANOS_PER_MS = 1_000_000n;

/** Every header line, all values of a name included. */
export function fieldsOf(headers: MsgHdrs | undefined): HeaderField[] {
  const fields: HeaderField[] = [];
  for (const [name, values] of headers ?? []) {
    for (const value of values) fields.push([name, value]);
  }
  return fields;
}

/** The client's headers for these lines, or undefined when there are none. */
export function headersOf(fields: readonly HeaderField[]): MsgHdrs | undefined {
  if (fields.length === 0) return undefined;
  const headers = newHeaders();
  for (const [name, value] of fields) headers.append(name, value);
  return headers;
}

/** The first value of a header, whatever its spelling. */
export function headerValue(fields: readonly HeaderField[], name: string): string | undefined {
  const wanted = name.toLowerCase();
  return fields.find(([each]) => each.toLowerCase() === wanted)?.[1];
}

/** A message of the client as the ports show it. */
export function toMessage(message: Msg): Message {
  const { reply, headers } = message; // once each: the client decodes them at every look
  return {
    subject: message.subject,
    reply: reply === "" ? undefined : reply,
    headers: fieldsOf(headers),
    status: headers?.code || undefined,
    // A copy: the client's is a Node Buffer, whose slice() shares memory, over everything that was read with it.
    data: new Uint8Array(message.data),
  };
}

/** The header block of a stored message, which comes as it is on the wire. */
export function parseHeaderBlock(bytes: Uint8Array): HeaderField[] {
  const [, ...lines] = new TextDecoder().decode(bytes).split("\r\n");
  return lines.flatMap((line): HeaderField[] => {
    const colon = line.indexOf(":");
    return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()]];
  });
}

/** Headers that a direct get adds to what was stored. */
const DIRECT = ["nats-stream", "nats-subject", "nats-sequence", "nats-time-stamp"];

/** The stored message inside the answer to a direct get. */
export function fromDirectGet(message: Message): StoredMessage {
  const { headers } = message;
  const subject = headerValue(headers, "Nats-Subject");
  const sequence = headerValue(headers, "Nats-Sequence");
  const time = headerValue(headers, "Nats-Time-Stamp");
  if (subject === undefined || sequence === undefined || time === undefined) {
    throw new ZesterError("decode_failed", "direct get: the answer does not say what it is");
  }
  return {
    subject,
    sequence: BigInt(sequence),
    storedMs: Date.parse(time),
    headers: headers.filter(([name]) => !DIRECT.includes(name.toLowerCase())),
    data: message.data,
  };
}

/** What the reply subject of a delivered message says about it. */
export interface DeliveryInfo {
  deliveries: number;
  sequence: bigint;
  consumerSequence: bigint;
  storedMs: number;
  pending: number;
}

/**
 * Reads a reply subject: `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<consumer sequence>.<time>.<pending>`, where
 * newer servers put domain and account before the stream and may add a token at the end.
 */
export function parseAckSubject(reply: string | undefined): DeliveryInfo | null {
  const tokens = (reply ?? "").split(".");
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK") return null;
  const start = tokens.length === 9 ? 4 : 6;
  const [deliveries, sequence, consumerSequence, time, pending] = tokens.slice(start, start + 5);
  if (pending === undefined) return null;
  return {
    deliveries: Number(deliveries),
    sequence: BigInt(sequence!),
    consumerSequence: BigInt(consumerSequence!),
    storedMs: Number(BigInt(time!) / NANOS_PER_MS),
    pending: Number(pending),
  };
}

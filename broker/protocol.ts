/**
 * The client protocol of NATS: bytes in, operations out; messages in, bytes out. No I/O.
 *
 * The parser works on bytes and gives the same operations however its input is split. Whatever is malformed is a
 * `ProtocolError`, after which the parser must not be used again: the server answers it and closes that connection.
 */
import { z } from "zod";
import { ZesterError } from "../core/errors.ts";
import {
  BROKER_CONTROL_LINE_BYTES_MAX,
  BROKER_SID_LENGTH_MAX,
  BROKER_WRITE_BUFFER_BYTES,
  BROKER_WRITE_BUFFER_BYTES_KEPT,
  PAYLOAD_BYTES_MAX,
} from "../core/limits.ts";
import type { HeaderField } from "../core/ports.ts";

/** Input that no well-behaved client sends. `answer` is what the client is told in `-ERR '…'`. */
export class ProtocolError extends ZesterError {
  readonly answer: string;

  constructor(answer: string, found: string, cause?: unknown) {
    super("decode_failed", `broker, reading a client: ${answer}: ${found}`, { cause });
    this.name = "ProtocolError";
    this.answer = answer;
  }
}

const connectSchema = z.object({
  verbose: z.boolean().default(false),
  pedantic: z.boolean().default(false),
  user: z.string().optional(),
  pass: z.string().optional(),
  name: z.string().default(""),
  headers: z.boolean().default(false),
  no_responders: z.boolean().default(false),
  echo: z.boolean().default(true),
});

/** What a client says of itself. */
export type ConnectOptions = z.infer<typeof connectSchema>;

/** A header block: the fields, and the status line that only servers should send. */
export interface HeaderBlock {
  readonly status: number | undefined;
  readonly description: string;
  readonly fields: readonly HeaderField[];
}

/** One operation of a client. */
export type ClientOperation =
  | { op: "connect"; options: ConnectOptions }
  | { op: "ping" }
  | { op: "pong" }
  | {
    op: "publish";
    subject: string;
    reply: string | undefined;
    headers: HeaderBlock | undefined;
    data: Uint8Array;
  }
  | { op: "subscribe"; subject: string; queue: string | undefined; sid: string }
  | { op: "unsubscribe"; sid: string; max: number | undefined };

export interface ParserLimits {
  controlLineBytesMax: number;
  payloadBytesMax: number;
}

export const PARSER_LIMITS: ParserLimits = {
  controlLineBytesMax: BROKER_CONTROL_LINE_BYTES_MAX,
  payloadBytesMax: PAYLOAD_BYTES_MAX,
};

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const STAR = 0x2a;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const ABOVE = 0x3e;
const DELETE = 0x7f;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const API_PREFIX = encoder.encode("$JS.API.");

// ---- parser --------------------------------------------------------------------------------------------------

/** A publication whose control line has been read and whose body has not. */
interface Announced {
  subject: string;
  reply: string | undefined;
  headerBytes: number;
  totalBytes: number;
}

/** Reads operations from chunks and hands each to `handle`, in order. */
export class ClientParser {
  readonly #limits: ParserLimits;
  readonly #handle: (operation: ClientOperation) => void;
  /** What came of a control line that is not complete yet. */
  #line = new Uint8Array(0);
  #lineLength = 0;
  #announced: Announced | undefined;
  /** The body that is not complete yet, with room for its line end. */
  #body: Uint8Array | undefined;
  #bodyLength = 0;
  #introduced = false;

  constructor(
    handle: (operation: ClientOperation) => void,
    limits: ParserLimits = PARSER_LIMITS,
  ) {
    this.#handle = handle;
    this.#limits = limits;
  }

  /** Takes the next bytes; they are copied where they must be kept. Throws `ProtocolError`, or what `handle` throws. */
  push(chunk: Uint8Array): void {
    let at = 0;
    // A body of no bytes still has its line end to come, so the loop only ever waits for bytes.
    while (at < chunk.length) {
      at = this.#announced === undefined
        ? this.#readLine(chunk, at)
        : this.#readBody(chunk, at, this.#announced);
    }
  }

  #readLine(chunk: Uint8Array, from: number): number {
    const end = chunk.indexOf(LF, from);
    const partEnd = end === -1 ? chunk.length : end;
    if (end !== -1 && this.#lineLength === 0) {
      this.#takeLine(chunk, from, end);
      return end + 1;
    }
    this.#keepPart(chunk, from, partEnd);
    if (end === -1) return chunk.length;
    const length = this.#lineLength;
    this.#lineLength = 0;
    this.#takeLine(this.#line, 0, length);
    return end + 1;
  }

  #keepPart(chunk: Uint8Array, from: number, to: number): void {
    const length = this.#lineLength + to - from;
    // One more than the limit: the last byte may be the CR, which does not count.
    if (length > this.#limits.controlLineBytesMax + 1) throw lineTooLong();
    if (length > this.#line.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#line.length));
      larger.set(this.#line.subarray(0, this.#lineLength));
      this.#line = larger;
    }
    this.#line.set(chunk.subarray(from, to), this.#lineLength);
    this.#lineLength = length;
  }

  #takeLine(bytes: Uint8Array, from: number, end: number): void {
    const to = end > from && bytes[end - 1] === CR ? end - 1 : end;
    if (to - from > this.#limits.controlLineBytesMax) throw lineTooLong();
    let nameEnd = from;
    while (nameEnd < to && !isBlank(bytes[nameEnd])) nameEnd++;
    const name = asciiText(bytes, from, Math.min(nameEnd, from + "CONNECT".length + 1))
      .toUpperCase();
    if (!this.#introduced && name !== "CONNECT" && name !== "PING" && name !== "PONG") {
      // Before CONNECT nothing else is read: whoever has no rights must not make the server hold a body.
      throw new ProtocolError(
        name in COMMANDS ? "Authorization Violation" : "Unknown Protocol Operation",
        JSON.stringify(name),
      );
    }
    switch (name) {
      case "PUB":
        this.#announced = this.#readPublish(argumentsOf(bytes, nameEnd, to, 3), false);
        return;
      case "HPUB":
        this.#announced = this.#readPublish(argumentsOf(bytes, nameEnd, to, 4), true);
        return;
      case "SUB":
        return this.#handle(readSubscribe(argumentsOf(bytes, nameEnd, to, 3)));
      case "UNSUB":
        return this.#handle(readUnsubscribe(argumentsOf(bytes, nameEnd, to, 2)));
      case "PING":
        return this.#handle({ op: "ping" });
      case "PONG":
        return this.#handle({ op: "pong" });
      case "CONNECT":
        return this.#handle(this.#readConnect(bytes, nameEnd, to));
      default:
        throw new ProtocolError("Unknown Protocol Operation", JSON.stringify(name));
    }
  }

  #readConnect(bytes: Uint8Array, from: number, to: number): ClientOperation {
    if (this.#introduced) throw new ProtocolError("Parser Error", "a second CONNECT");
    const options = readConnect(text(bytes, from, to));
    this.#introduced = true;
    return { op: "connect", options };
  }

  #readPublish(args: Arguments, withHeaders: boolean): Announced {
    const sizes = withHeaders ? 2 : 1;
    const count = args.count;
    if (count < sizes + 1) throw new ProtocolError("Parser Error", "a publication lacks arguments");
    const totalBytes = args.number(count - 1);
    const headerBytes = withHeaders ? args.number(count - 2) : 0;
    if (totalBytes > this.#limits.payloadBytesMax) {
      throw new ProtocolError("Maximum Payload Violation", `${totalBytes} bytes announced`);
    }
    if (headerBytes > totalBytes) {
      throw new ProtocolError("Parser Error", `${headerBytes} of ${totalBytes} bytes are headers`);
    }
    return {
      subject: args.target(0),
      reply: count === sizes + 2 ? args.reply(1) : undefined,
      headerBytes,
      totalBytes,
    };
  }

  #readBody(chunk: Uint8Array, from: number, announced: Announced): number {
    const wanted = announced.totalBytes + 2;
    if (this.#body === undefined && chunk.length - from >= wanted) {
      const end = from + announced.totalBytes;
      // A copy: the chunk is the server's read buffer, and a small message must not keep a large chunk alive.
      this.#takeBody(chunk.slice(from, end), chunk[end], chunk[end + 1], announced);
      return from + wanted;
    }
    const body = this.#body ??= new Uint8Array(wanted);
    const end = Math.min(chunk.length, from + wanted - this.#bodyLength);
    body.set(chunk.subarray(from, end), this.#bodyLength);
    this.#bodyLength += end - from;
    if (this.#bodyLength === wanted) {
      this.#body = undefined;
      this.#bodyLength = 0;
      const data = body.subarray(0, announced.totalBytes);
      this.#takeBody(data, body[wanted - 2], body[wanted - 1], announced);
    }
    return end;
  }

  #takeBody(
    body: Uint8Array,
    first: number | undefined,
    second: number | undefined,
    { subject, reply, headerBytes }: Announced,
  ): void {
    this.#announced = undefined;
    if (first !== CR || second !== LF) {
      throw new ProtocolError("Parser Error", "a payload is not followed by a line end");
    }
    if (headerBytes === 0) {
      return this.#handle({ op: "publish", subject, reply, headers: undefined, data: body });
    }
    const headers = parseHeaders(body.subarray(0, headerBytes));
    const data = body.subarray(headerBytes);
    this.#handle({ op: "publish", subject, reply, headers, data });
  }
}

const COMMANDS = { PUB: true, HPUB: true, SUB: true, UNSUB: true } as const;

function lineTooLong(): ProtocolError {
  return new ProtocolError("Maximum Control Line Exceeded", "no line end in sight");
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

function readConnect(json: string): ConnectOptions {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new ProtocolError("Parser Error", "CONNECT without valid JSON", cause);
  }
  const parsed = connectSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ProtocolError("Parser Error", "CONNECT with options of the wrong kind", parsed.error);
}

function readSubscribe(args: Arguments): ClientOperation {
  if (args.count < 2) throw new ProtocolError("Parser Error", "SUB lacks arguments");
  return {
    op: "subscribe",
    subject: args.pattern(0),
    queue: args.count === 3 ? args.queue(1) : undefined,
    sid: args.sid(args.count - 1),
  };
}

function readUnsubscribe(args: Arguments): ClientOperation {
  if (args.count < 1) throw new ProtocolError("Parser Error", "UNSUB lacks arguments");
  return {
    op: "unsubscribe",
    sid: args.sid(0),
    max: args.count === 2 ? args.number(1) : undefined,
  };
}

/** The arguments of one control line: their places, read as what they should be. */
class Arguments {
  readonly #bytes: Uint8Array;
  readonly #places: number[];

  constructor(bytes: Uint8Array, places: number[]) {
    this.#bytes = bytes;
    this.#places = places;
  }

  get count(): number {
    return this.#places.length / 2;
  }

  number(index: number): number {
    const to = this.#to(index);
    let value = 0;
    for (let at = this.#from(index); at < to; at++) {
      const byte = this.#bytes[at] ?? 0;
      if (byte < ZERO || byte > NINE) throw new ProtocolError("Parser Error", "not a number");
      value = value * 10 + byte - ZERO;
      if (value > 0x7fff_ffff) throw new ProtocolError("Parser Error", "a number out of range");
    }
    return value;
  }

  /** A subject to publish to. Only the API takes wildcards: clients name the filter of a new consumer there. */
  target(index: number): string {
    const wildcards = startsWith(this.#bytes, this.#from(index), this.#to(index), API_PREFIX);
    return this.#subject(index, wildcards, "Invalid Publish Subject");
  }

  reply(index: number): string {
    return this.#subject(index, false, "Invalid Publish Subject");
  }

  pattern(index: number): string {
    return this.#subject(index, true, "Invalid Subject");
  }

  queue(index: number): string {
    return this.#subject(index, false, "Invalid Subject");
  }

  #subject(index: number, wildcards: boolean, answer: string): string {
    const from = this.#from(index);
    const to = this.#to(index);
    if (!isSubject(this.#bytes, from, to, wildcards)) throw new ProtocolError(answer, "refused");
    return text(this.#bytes, from, to);
  }

  sid(index: number): string {
    const from = this.#from(index);
    const to = this.#to(index);
    if (to - from > BROKER_SID_LENGTH_MAX) throw new ProtocolError("Parser Error", "a long sid");
    for (let at = from; at < to; at++) {
      const byte = this.#bytes[at] ?? 0;
      if (byte <= SPACE || byte >= DELETE) throw new ProtocolError("Parser Error", "a bad sid");
    }
    return asciiText(this.#bytes, from, to);
  }

  #from(index: number): number {
    return this.#places[2 * index] ?? 0;
  }

  #to(index: number): number {
    return this.#places[2 * index + 1] ?? 0;
  }
}

function argumentsOf(bytes: Uint8Array, from: number, to: number, max: number): Arguments {
  const places: number[] = [];
  let at = from;
  while (at < to) {
    while (at < to && isBlank(bytes[at])) at++;
    if (at === to) break;
    const start = at;
    while (at < to && !isBlank(bytes[at])) at++;
    places.push(start, at);
  }
  if (places.length > 2 * max) throw new ProtocolError("Parser Error", "too many arguments");
  return new Arguments(bytes, places);
}

/** Whether these bytes are a subject: no empty tokens, no blanks or control characters, wildcards where allowed. */
function isSubject(bytes: Uint8Array, from: number, to: number, wildcards: boolean): boolean {
  let start = from;
  for (let at = from; at <= to; at++) {
    const byte = at === to ? DOT : bytes[at] ?? 0;
    if (byte <= SPACE || byte === DELETE) return false;
    if (byte !== DOT) continue;
    if (at === start) return false;
    if (at === start + 1) {
      const only = bytes[start];
      if (only === STAR && !wildcards) return false;
      if (only === ABOVE && (!wildcards || at !== to)) return false;
    }
    start = at + 1;
  }
  return true;
}

function startsWith(bytes: Uint8Array, from: number, to: number, prefix: Uint8Array): boolean {
  return to - from >= prefix.length && prefix.every((byte, index) => byte === bytes[from + index]);
}

function asciiText(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode.apply(null, bytes.subarray(from, to) as unknown as number[]);
}

function text(bytes: Uint8Array, from: number, to: number): string {
  for (let at = from; at < to; at++) {
    if ((bytes[at] ?? 0) >= 0x80) return utf8Text(bytes.subarray(from, to));
  }
  return asciiText(bytes, from, to);
}

function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new ProtocolError("Parser Error", "bytes that are not UTF-8", cause);
  }
}

// ---- headers -------------------------------------------------------------------------------------------------

const HEADER_VERSION = "NATS/1.0";
const STATUS_LINE = /^NATS\/1\.0(?:[ \t]+([0-9]{3})(?:[ \t]+(.*?))?)?[ \t]*$/;
// deno-lint-ignore no-control-regex -- control characters are what this refuses
const FIELD_LINE = /^([^\x00-\x20:\x7f]+):[ \t]*([^\r\n]*?)[ \t]*$/;

/** Reads a header block. Throws `ProtocolError` for anything that another reader could read differently. */
export function parseHeaders(block: Uint8Array): HeaderBlock {
  const lines = text(block, 0, block.length).split("\r\n");
  // The block ends with an empty line: the last two parts are empty, and no other is.
  if (lines.length < 3 || lines.pop() !== "" || lines.pop() !== "") throw badHeader("no end");
  const [first = "", ...rest] = lines;
  const status = STATUS_LINE.exec(first);
  if (status === null) throw badHeader("no status line");
  return {
    status: status[1] === undefined ? undefined : Number(status[1]),
    description: status[2] ?? "",
    fields: rest.map(parseField),
  };
}

function parseField(line: string): HeaderField {
  const field = FIELD_LINE.exec(line);
  if (field === null) throw badHeader("a line that is no field");
  return [field[1] ?? "", field[2] ?? ""];
}

function badHeader(found: string): ProtocolError {
  return new ProtocolError("Parser Error", `headers: ${found}`);
}

/** Writes a header block. */
export function encodeHeaders(
  fields: readonly HeaderField[],
  status?: { code: number; description?: string },
): Uint8Array {
  let block = HEADER_VERSION;
  if (status !== undefined) {
    block += ` ${status.code}`;
    if (status.description) block += ` ${status.description}`;
  }
  block += "\r\n";
  for (const [name, value] of fields) block += `${name}: ${value}\r\n`;
  return encoder.encode(`${block}\r\n`);
}

// ---- output --------------------------------------------------------------------------------------------------

/** A message on its way to one subscription. `headers` is an encoded block. */
export interface OutgoingMessage {
  readonly subject: string;
  readonly reply: string | undefined;
  readonly headers: Uint8Array | undefined;
  readonly data: Uint8Array;
}

/** What the server tells a client first. */
export interface ServerInfo {
  server_id: string;
  server_name: string;
  version: string;
  proto: number;
  host: string;
  port: number;
  headers: boolean;
  jetstream: boolean;
  max_payload: number;
  auth_required: boolean;
  client_id: number;
}

const OK = encoder.encode("+OK\r\n");
const PING = encoder.encode("PING\r\n");
const PONG = encoder.encode("PONG\r\n");

/** Gathers what goes to one client, so that many messages leave in one write. */
export class OutputBuffer {
  #bytes = new Uint8Array(BROKER_WRITE_BUFFER_BYTES);
  #length = 0;
  /** The buffer that was given back, used again by the next `take`. */
  #spare: Uint8Array<ArrayBuffer> | undefined;

  get length(): number {
    return this.#length;
  }

  info(info: ServerInfo): void {
    this.#putBytes(encoder.encode(`INFO ${JSON.stringify(info)}\r\n`));
  }

  ok(): void {
    this.#putBytes(OK);
  }

  ping(): void {
    this.#putBytes(PING);
  }

  pong(): void {
    this.#putBytes(PONG);
  }

  /** `-ERR`: the text is ours or holds a checked subject, so it has no line end that could inject an operation. */
  error(reason: string): void {
    this.#putBytes(encoder.encode(`-ERR '${reason}'\r\n`));
  }

  /** Writes MSG, or HMSG when there are headers; returns how many bytes that took. */
  message(sid: string, { subject, reply, headers, data }: OutgoingMessage): number {
    const before = this.#length;
    this.#putText(headers === undefined ? "MSG " : "HMSG ");
    this.#putText(subject);
    this.#putByte(SPACE);
    this.#putText(sid);
    if (reply !== undefined) {
      this.#putByte(SPACE);
      this.#putText(reply);
    }
    const sizes = headers === undefined
      ? ` ${data.length}\r\n`
      : ` ${headers.length} ${headers.length + data.length}\r\n`;
    this.#putText(sizes);
    if (headers !== undefined) this.#putBytes(headers);
    this.#putBytes(data);
    this.#putText("\r\n");
    return this.#length - before;
  }

  /** All bytes so far; what is written from now on goes to another buffer until this one is given back. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = this.#spare ?? new Uint8Array(BROKER_WRITE_BUFFER_BYTES);
    this.#spare = undefined;
    this.#length = 0;
    return taken;
  }

  /** Gives back what `take` returned, once it is written. A buffer that a burst made large is let go. */
  giveBack(taken: Uint8Array<ArrayBuffer>): void {
    if (taken.buffer.byteLength > BROKER_WRITE_BUFFER_BYTES_KEPT) return;
    this.#spare ??= new Uint8Array(taken.buffer);
  }

  #reserve(count: number): void {
    const wanted = this.#length + count;
    if (wanted <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(wanted, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  #putByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  #putBytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #putText(value: string): void {
    this.#reserve(3 * value.length); // the most that UTF-8 needs
    for (let at = 0; at < value.length; at++) {
      const code = value.charCodeAt(at);
      if (code >= 0x80) {
        const { written } = encoder.encodeInto(value.slice(at), this.#bytes.subarray(this.#length));
        this.#length += written;
        return;
      }
      this.#bytes[this.#length++] = code;
    }
  }
}

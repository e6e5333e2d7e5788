/** Speaks JetStream's request subjects: one deadline for all, exact 64-bit numbers, and the three outcomes of a write. */
import { ZesterError } from "../errors.ts";
import { STORE_TIMEOUT_MS } from "../limits.ts";
import type { HeaderField, StoredMessage } from "../ports.ts";
import { type ApiError, fromApi, isConflict, isDoubtful } from "./failures.ts";
import { type Link, retryUnserved } from "./link.ts";
import { fromDirectGet, headerValue, parseHeaderBlock } from "./messages.ts";

const PREFIX = "$JS.API";
const NOTHING = new Uint8Array();

/** What the server said: the value, or why not. */
export type Answer<T> = { value: T; error?: never } | { value?: never; error: ApiError };

export type AppendOutcome =
  | { outcome: "ok"; sequence: bigint; duplicate: boolean }
  | { outcome: "conflict"; error: ApiError }
  | { outcome: "unknown"; cause: ZesterError };

/** A JSON number as the server wrote it: beyond 2^53 it is a bigint, because a rounded sequence is a wrong one. */
export type Count = number | bigint;

interface PublishAck {
  stream: string;
  seq: Count;
  duplicate?: boolean;
}

interface StoredJson {
  subject: string;
  seq: Count;
  hdrs?: string;
  data?: string;
  time: string;
}

/** The JetStream side of one connection. */
export class JetStreamApi {
  readonly link: Link;

  constructor(link: Link) {
    this.link = link;
  }

  /** Asks; an error of the server comes back as a value. */
  async ask<T>(verb: string, body: object | string = ""): Promise<Answer<T>> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const { data } = await this.link.request(`${PREFIX}.${verb}`, new TextEncoder().encode(text), {
      timeoutMs: STORE_TIMEOUT_MS,
    });
    return parseAnswer<T>(data, verb);
  }

  /** Asks; an error of the server is thrown. */
  async demand<T>(verb: string, body: object | string = ""): Promise<T> {
    const answer = await this.ask<T>(verb, body);
    if (answer.error !== undefined) throw fromApi(verb, answer.error);
    return answer.value;
  }

  /** The stored message, from any replica. */
  async directGet(stream: string, subject: string): Promise<StoredMessage | null> {
    const verb = `${PREFIX}.DIRECT.GET.${stream}.${subject}`;
    const answer = await retryUnserved(() =>
      this.link.request(verb, NOTHING, { timeoutMs: STORE_TIMEOUT_MS })
    );
    if (answer.status === 404) return null;
    if (answer.status !== undefined && headerValue(answer.headers, "Nats-Sequence") === undefined) {
      throw new ZesterError("store_refused", `direct get ${subject}: status ${answer.status}`);
    }
    return fromDirectGet(answer);
  }

  /** The stored message, from the leader. `which` is the body of the request. */
  async leaderGet(stream: string, which: string): Promise<StoredMessage | null> {
    const verb = `STREAM.MSG.GET.${stream}`;
    const answer = await this.ask<{ message: StoredJson }>(verb, which);
    if (answer.error === undefined) return fromStoredJson(answer.value.message);
    if (answer.error.err_code === NO_MESSAGE) return null;
    throw fromApi(verb, answer.error);
  }

  /**
   * Publishes to a stream and waits for its acknowledgement. Throws where the message surely was not taken: not
   * connected, refused, nobody there to take it. Silence after sending is `unknown`.
   */
  async append(
    stream: string,
    subject: string,
    message: { data: Uint8Array; headers: readonly HeaderField[] },
  ): Promise<AppendOutcome> {
    const doing = `append ${subject}`;
    this.link.live(doing);
    let answer: Answer<PublishAck>;
    try {
      const { data } = await retryUnserved(() =>
        this.link.request(subject, message.data, {
          headers: message.headers,
          timeoutMs: STORE_TIMEOUT_MS,
        })
      );
      answer = parseAnswer<PublishAck>(data, doing);
    } catch (error) {
      if (error instanceof ZesterError && isSilence(error)) {
        return { outcome: "unknown", cause: error };
      }
      throw error;
    }
    return judge(answer, stream, doing);
  }
}

const NO_MESSAGE = 10037;

function isSilence({ code }: ZesterError): boolean {
  return code === "timeout" || code === "disconnected" || code === "closed";
}

function judge(answer: Answer<PublishAck>, stream: string, doing: string): AppendOutcome {
  const { error } = answer;
  if (error !== undefined) {
    if (isConflict(error)) return { outcome: "conflict", error };
    if (isDoubtful(error)) return { outcome: "unknown", cause: fromApi(doing, error) };
    throw fromApi(doing, error);
  }
  const { value } = answer;
  if (value.stream !== stream) {
    throw new ZesterError("bad_subject", `${doing}: belongs to ${value.stream}, not to ${stream}`);
  }
  return { outcome: "ok", sequence: BigInt(value.seq), duplicate: value.duplicate === true };
}

/** `JSON.parse` hands the source of each number to its reviver; the standard library's types do not say so yet. */
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;

/** As many digits as a double may not hold. */
const LONG_NUMBER = /\d{16}/;

/** Parses JSON, keeping integers that a double cannot hold as bigints. */
export function parseJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text); // nearly always, and many times faster
  return parseWithSource(text, (_key, value, { source }) => {
    const isRounded = typeof value === "number" && !Number.isSafeInteger(value) &&
      source !== undefined && /^-?\d+$/.test(source);
    return isRounded ? BigInt(source) : value;
  });
}

function parseAnswer<T>(data: Uint8Array, doing: string): Answer<T> {
  let parsed: unknown;
  try {
    parsed = parseJson(new TextDecoder().decode(data));
  } catch (cause) {
    throw new ZesterError("decode_failed", `${doing}: the answer is not JSON`, { cause });
  }
  const { error } = parsed as { error?: ApiError };
  return error === undefined ? { value: parsed as T } : { error };
}

function fromStoredJson(message: StoredJson): StoredMessage {
  return {
    subject: message.subject,
    sequence: BigInt(message.seq),
    storedMs: Date.parse(message.time),
    headers: parseHeaderBlock(Uint8Array.fromBase64(message.hdrs ?? "")),
    data: Uint8Array.fromBase64(message.data ?? ""),
  };
}

/** Publishes to a stream and reads its acknowledgement: what both buckets and streams write with. */
import { isZesterError, ZesterError } from "../core/errors.ts";
import { STORE_TIMEOUT_MS } from "../core/limits.ts";
import type { HeaderField, Message } from "../core/ports.ts";
import type { Link } from "./_ports_bus.ts";
import { fromApi, isConflict } from "./_ports_failures.ts";
import { JetStreamApiError } from "./jetstream/types.ts";

export type Appended =
  | { outcome: "ok"; sequence: bigint; duplicate: boolean }
  | { outcome: "conflict" }
  | { outcome: "unknown"; cause: ZesterError };

interface Answer {
  stream: string;
  seq: number;
  duplicate?: boolean;
  error?: { code: number; err_code: number; description: string };
}

/** Publishes as a client does, so that subscribers of the subject see the message too. */
export async function appendTo(
  { bus }: Link,
  stream: string,
  subject: string,
  message: { data: Uint8Array; headers: readonly HeaderField[] },
): Promise<Appended> {
  const doing = `${stream}: append to ${subject}`;
  let answer: Message;
  try {
    const options = { headers: message.headers, timeoutMs: STORE_TIMEOUT_MS };
    answer = await bus.request(subject, message.data, options);
  } catch (thrown) {
    // No answer, or the connection ended first: it may have been stored.
    if (isZesterError(thrown, "timeout") || isZesterError(thrown, "closed")) {
      return { outcome: "unknown", cause: thrown };
    }
    throw thrown;
  }
  const { stream: taker, seq, duplicate, error }: Answer = JSON.parse(
    new TextDecoder().decode(answer.data),
  );
  if (error === undefined) {
    if (taker !== stream) {
      throw new ZesterError("bad_subject", `${doing}: belongs to ${taker}`);
    }
    return { outcome: "ok", sequence: BigInt(seq), duplicate: duplicate ?? false };
  }
  const refusal = new JetStreamApiError(error.code, error.err_code, error.description);
  if (isConflict(refusal)) return { outcome: "conflict" };
  throw fromApi(doing, refusal);
}

/** Opens what peels say about jobs, live or from the stream: verified, decoded, and in agreement with the subject. */
import { isZesterError } from "../../core/errors.ts";
import { type Inbound, ingest, type Keyring } from "../../core/ingress.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Clock } from "../../core/ports.ts";
import type { subjects } from "../../core/subjects.ts";
import { versionProblem } from "../../core/wire/version.ts";

export interface AnswerPorts {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * The sender and the content of an ack or a return, or null if it is refused, which is counted. `atMs`: when it was stored,
 * for one from the stream; its signature only had to be valid then.
 */
export function openAnswer<T extends { v?: number | undefined; jid: string; peelId: string }>(
  message: Inbound,
  rule: typeof subjects.ack | typeof subjects.return,
  decode: (bytes: Uint8Array) => T,
  ports: AnswerPorts & { atMs?: number },
): { peel: string; value: T } | null {
  const { keyring, clock, metrics, log, atMs = clock.now() } = ports;
  const refuse = (reason: string, detail: string, isNews: boolean): null => {
    metrics.ingressRefused.inc({ reason });
    if (isNews) log.warn("answer refused", { reason, detail });
    return null;
  };
  const door = ingest(message, { rule: rule as typeof subjects.ack, keyring, nowMs: atMs });
  if (!door.ok) return refuse(door.reason, door.detail, door.isNews);
  const { jid, peel } = door.fields;
  const isNews = () => keyring.guard?.isNews(peel) ?? true;
  try {
    const value = decode(door.payload);
    const problem = versionProblem(value);
    if (problem !== null) return refuse("decode_failed", problem, isNews());
    if (value.jid === jid && value.peelId === peel) return { peel, value };
    return refuse("misaddressed", `${peel} speaks as ${value.peelId} about ${value.jid}`, isNews());
  } catch (thrown) {
    if (!isZesterError(thrown)) throw thrown;
    return refuse("decode_failed", thrown.message, isNews());
  }
}

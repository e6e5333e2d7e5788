/** The event that a direct run leaves behind: who had what run here, and how it went. Arguments may hold secrets: not them. */
import { sha256 } from "../../core/crypto/ed25519.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeEvent } from "../../core/wire/event.ts";
import type { Return } from "../../core/wire/return.ts";
import type { JournalJob } from "../accept/journal_records.ts";

const TAG = ["audit", "direct"];

/** The event for a finished run. The same run always gives the same event, so that a resend can be told. */
export function directAudit(
  job: JournalJob,
  { jid, peelId, success, error, durationMs, timestampMs }: Return,
): { subject: string; payload: Uint8Array } {
  const payload = encodeEvent({
    id: sha256(new TextEncoder().encode(`direct ${peelId} ${jid}`)).toHex(),
    tag: TAG.join("."),
    data: {
      jid,
      operator: job.operator ?? "",
      function: job.function,
      success,
      ...(error === undefined ? {} : { error }),
      duration_ms: Math.round(durationMs),
    },
    timestampMs,
    origin: peelId,
  });
  return { subject: subjects.eventSend.of({ peel: peelId, tag: TAG }), payload };
}

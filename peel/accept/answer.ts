/** What a peel says about a job: the return and its parts. Pure. */
import { isZesterError } from "../../core/errors.ts";
import { RETURN_BYTES_MAX } from "../../core/limits.ts";
import type { ExecResponse } from "../../core/wire/exec.ts";
import { encodeReturn } from "../../core/wire/return.ts";

/** Who answers, and about what. */
export interface About {
  readonly peelId: string;
  readonly jid: string;
}

/** What came of a job, and how long it took. */
export interface Outcome {
  readonly response: ExecResponse;
  readonly durationMs: number;
}

/** The outcome of a job that was not done. */
export function notDone({ peelId, jid }: About, error: string): Outcome {
  return { response: { peelId, jid, success: false, results: [], error }, durationMs: 0 };
}

/** The encoded return. One that no message could carry becomes a failed one that says so. */
export function returnBytes(about: About, outcome: Outcome, timestampMs: number): Uint8Array {
  const encoded = encodedOrWhy(about, outcome, timestampMs);
  if (encoded instanceof Uint8Array) return encoded;
  const how = outcome.response.success ? "it succeeded" : "it failed";
  const { response } = notDone(about, `${how}, but its result cannot be sent: ${encoded}`);
  return encodeOutcome(about, { response, durationMs: outcome.durationMs }, timestampMs);
}

function encodedOrWhy(
  about: About,
  outcome: Outcome,
  timestampMs: number,
): Uint8Array | string {
  try {
    const bytes = encodeOutcome(about, outcome, timestampMs);
    return bytes.length <= RETURN_BYTES_MAX
      ? bytes
      : `it has ${bytes.length} bytes, at most ${RETURN_BYTES_MAX} are allowed`;
  } catch (thrown) {
    if (isZesterError(thrown)) return thrown.message;
    throw thrown;
  }
}

function encodeOutcome(
  { peelId, jid }: About,
  { response, durationMs }: Outcome,
  timestampMs: number,
): Uint8Array {
  return encodeReturn({
    jid,
    peelId,
    success: response.success,
    returnData: response,
    ...(response.error === undefined ? {} : { error: response.error }),
    durationMs,
    timestampMs,
    unreachable: false,
  });
}

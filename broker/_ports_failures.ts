/** Decides which ZesterError each refusal of the engine becomes: the same as over the network. */
import { type ErrorCode, ZesterError } from "../core/errors.ts";
import { JetStreamApiError } from "./jetstream/types.ts";

const CONFLICTS: readonly number[] = [10071, 10164];
const CODES: Readonly<Record<number, ErrorCode>> = {
  10014: "not_found", // consumer
  10037: "not_found", // message
  10054: "payload_too_large",
  10059: "not_found", // stream
  10077: "store_full",
};

/** Whether a write was refused because its condition did not hold. */
export function isConflict(error: JetStreamApiError): boolean {
  return CONFLICTS.includes(error.errCode);
}

/** The error for a call that the engine refused. */
export function fromApi(doing: string, error: JetStreamApiError): ZesterError {
  const code = CODES[error.errCode] ?? "store_refused";
  return new ZesterError(code, `${doing}: ${error.description} (${error.errCode})`);
}

/** Calls the engine; what it refuses is thrown as a ZesterError. */
export function calling<T>(doing: string, call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw thrown instanceof JetStreamApiError ? fromApi(doing, thrown) : thrown;
  }
}

/** Calls the engine; null where it says that there is no such message. */
export function callingOrNull<T>(doing: string, call: () => T): T | null {
  try {
    return call();
  } catch (thrown) {
    if (!(thrown instanceof JetStreamApiError)) throw thrown;
    if (thrown.errCode === 10037) return null;
    throw fromApi(doing, thrown);
  }
}

/** Decides which ZesterError each failure of the client or the server becomes. */
import {
  AuthorizationError,
  ClosedConnectionError,
  ConnectionError,
  DrainingConnectionError,
  InvalidArgumentError,
  InvalidSubjectError,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from "@nats-io/transport-node";
import { type ErrorCode, toZesterError, ZesterError } from "../errors.ts";

/** An error as JetStream answers it. */
export interface ApiError {
  code: number;
  err_code: number;
  description: string;
}

/** Someone else has written in between. The server says so with either number, depending on how busy it is. */
const CONFLICTS: readonly number[] = [10071, 10164];
const CODES: Readonly<Record<number, ErrorCode>> = {
  10014: "not_found", // consumer
  10037: "not_found", // message
  10054: "payload_too_large",
  10059: "not_found", // stream
};

/** Whether the server refused a write because its condition did not hold. */
export function isConflict(error: ApiError): boolean {
  return CONFLICTS.includes(error.err_code);
}

/** The last sequence that a conflict names, when it does. */
export function conflictingSequence(error: ApiError): bigint | undefined {
  const found = /^wrong last sequence: (\d+)$/.exec(error.description)?.[1];
  return found === undefined ? undefined : BigInt(found);
}

/** Whether the store is full, which it says before it has taken anything. */
function isFull({ err_code: code, description }: ApiError): boolean {
  return code === 10047 || (code === 10077 && /maximum .* exceeded/.test(description));
}

/** Whether a refused write may have been taken all the same: the server failed while it was at it. */
export function isDoubtful(error: ApiError): boolean {
  return error.code >= 500 && !isFull(error) && CODES[error.err_code] === undefined;
}

/** The error for an answer of JetStream that says no. */
export function fromApi(doing: string, error: ApiError): ZesterError {
  const code = CODES[error.err_code] ?? (isFull(error) ? "store_full" : "store_refused");
  return new ZesterError(code, `${doing}: ${error.description} (${error.err_code})`);
}

/** The error for whatever the client threw. */
export function fromClient(doing: string, thrown: unknown): ZesterError {
  if (thrown instanceof ZesterError) return thrown;
  const cause = thrown instanceof RequestError && thrown.cause instanceof Error
    ? thrown.cause
    : thrown;
  const code = codeOf(cause);
  if (code === null) return toZesterError(cause, doing);
  return new ZesterError(code, `${doing}: ${(cause as Error).message}`, { cause });
}

function codeOf(error: unknown): ErrorCode | null {
  if (error instanceof PermissionViolationError) return "permission_denied";
  if (error instanceof AuthorizationError) return "permission_denied";
  if (error instanceof UserAuthenticationExpiredError) return "permission_denied";
  if (error instanceof NoRespondersError) return "no_responders";
  if (error instanceof TimeoutError) return "timeout";
  if (error instanceof ClosedConnectionError) return "closed";
  if (error instanceof DrainingConnectionError) return "closed";
  if (error instanceof ConnectionError) return "unreachable";
  if (error instanceof InvalidSubjectError) return "bad_subject";
  if (error instanceof InvalidArgumentError) {
    return error.message.includes("max_payload") ? "payload_too_large" : "bad_params";
  }
  if (error instanceof RequestError) return "disconnected";
  return null;
}

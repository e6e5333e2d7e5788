/** What can go wrong and what to do about it: every error code, its remedy, and the one class that carries them. */

/** What a caller should do: try again, give up, or treat the work as already done. */
export type Remedy = "retry" | "reject" | "duplicate";

/**
 * Every error code with its stable public number, its remedy and the exit code of the CLI.
 * Codes are added, never renamed: scripts match on them.
 */
export const ERRORS = {
  internal: { number: "ZE0001", remedy: "reject", exit: 1 },
  usage: { number: "ZE0002", remedy: "reject", exit: 2 },
  config_invalid: { number: "ZE0003", remedy: "reject", exit: 2 },
  bad_id: { number: "ZE0004", remedy: "reject", exit: 2 },
  bad_subject: { number: "ZE0005", remedy: "reject", exit: 1 },
  io_failed: { number: "ZE0006", remedy: "reject", exit: 1 },
  unknown_function: { number: "ZE0201", remedy: "reject", exit: 2 },
  execution_failed: { number: "ZE0202", remedy: "reject", exit: 3 },
  grant_denied: { number: "ZE0204", remedy: "reject", exit: 3 },
  unsafe_path: { number: "ZE0205", remedy: "reject", exit: 3 },
  bad_module: { number: "ZE0206", remedy: "reject", exit: 3 },
  bad_params: { number: "ZE0203", remedy: "reject", exit: 2 },
  decode_failed: { number: "ZE0301", remedy: "reject", exit: 1 },
  template_failed: { number: "ZE0312", remedy: "reject", exit: 2 },
  payload_too_large: { number: "ZE0302", remedy: "reject", exit: 1 },
  encode_failed: { number: "ZE0303", remedy: "reject", exit: 1 },
  bad_target: { number: "ZE0404", remedy: "reject", exit: 2 },
  nobody_matches: { number: "ZE0405", remedy: "reject", exit: 5 },
  jid_conflict: { number: "ZE0501", remedy: "reject", exit: 2 },
  job_unknown: { number: "ZE0503", remedy: "reject", exit: 2 },
  peel_unknown: { number: "ZE0505", remedy: "reject", exit: 2 },
  job_ambiguous: { number: "ZE0504", remedy: "reject", exit: 2 },
  claim_pending: { number: "ZE0502", remedy: "retry", exit: 4 },
  spoof: { number: "ZE0701", remedy: "reject", exit: 7 },
  unsigned: { number: "ZE0702", remedy: "reject", exit: 7 },
  bad_signature: { number: "ZE0703", remedy: "reject", exit: 7 },
  unknown_key: { number: "ZE0704", remedy: "reject", exit: 7 },
  expired: { number: "ZE0705", remedy: "reject", exit: 7 },
  clock_skew: { number: "ZE0706", remedy: "reject", exit: 7 },
  misaddressed: { number: "ZE0707", remedy: "reject", exit: 7 },
  replayed: { number: "ZE0708", remedy: "duplicate", exit: 7 },
  stale_generation: { number: "ZE0711", remedy: "reject", exit: 7 },
  flooding: { number: "ZE0712", remedy: "retry", exit: 7 },
  trust_invalid: { number: "ZE0709", remedy: "reject", exit: 7 },
  permission_denied: { number: "ZE0710", remedy: "reject", exit: 7 },
  unreachable: { number: "ZE0801", remedy: "retry", exit: 8 },
  disconnected: { number: "ZE0802", remedy: "retry", exit: 8 },
  no_responders: { number: "ZE0803", remedy: "retry", exit: 8 },
  timeout: { number: "ZE0804", remedy: "retry", exit: 8 },
  not_found: { number: "ZE0805", remedy: "reject", exit: 1 },
  server_unsupported: { number: "ZE0806", remedy: "reject", exit: 8 },
  store_damaged: { number: "ZE0808", remedy: "reject", exit: 8 },
  busy: { number: "ZE0811", remedy: "retry", exit: 8 },
  closed: { number: "ZE0807", remedy: "retry", exit: 8 },
  store_full: { number: "ZE0809", remedy: "retry", exit: 8 },
  store_refused: { number: "ZE0810", remedy: "reject", exit: 8 },
} as const satisfies Record<string, { number: string; remedy: Remedy; exit: number }>;

export type ErrorCode = keyof typeof ERRORS;

/** An error as plain data: what is left of it past a worker or the wire. */
export interface ErrorData {
  code: ErrorCode;
  remedy: Remedy;
  message: string;
  fix?: string;
}

/** A failure that can happen in a correct program. A bug is an assertion, not one of these. */
export class ZesterError extends Error {
  readonly code: ErrorCode;
  readonly remedy: Remedy;
  /** What the reader can do about it, when we know. */
  readonly fix: string | undefined;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; fix?: string } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ZesterError";
    this.code = code;
    this.remedy = ERRORS[code].remedy;
    this.fix = options.fix;
  }
}

/** Says whether an unknown value is a ZesterError, optionally of one code. */
export function isZesterError(value: unknown, code?: ErrorCode): value is ZesterError {
  return value instanceof ZesterError && (code === undefined || value.code === code);
}

/** Turns whatever was thrown into a ZesterError, keeping the original as its cause. */
export function toZesterError(thrown: unknown, doing: string): ZesterError {
  if (thrown instanceof ZesterError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new ZesterError("internal", `${doing}: ${message}`, { cause: thrown });
}

/** Reduces an error to what may cross a worker or the wire. */
export function errorData(error: ZesterError): ErrorData {
  const { code, remedy, message, fix } = error;
  return fix === undefined ? { code, remedy, message } : { code, remedy, message, fix };
}

/** Marks a branch that the types say cannot be reached. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

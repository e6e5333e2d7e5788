/**
 * Decides how long a request may take. What is left of its time is told by its own signature, by one clock: the sender's. The
 * peel's clock, which may be off, only says when a request was held up for longer than clocks may differ.
 */
import { defaultTimeoutMs } from "../../core/job_timeout.ts";
import { CLOCK_SKEW_MS, JOB_TIMEOUT_MS_MAX } from "../../core/limits.ts";
import type { SignatureClaims } from "../../core/signature.ts";
import type { ExecRequest } from "../../core/wire/exec.ts";

/** What is left until the request expires, at the moment it came. */
export function timeLeftMs(
  { issuedMs, expiresMs }: Pick<SignatureClaims, "issuedMs" | "expiresMs">,
  nowMs: number,
): number {
  return Math.max(0, expiresMs - Math.max(issuedMs, nowMs - CLOCK_SKEW_MS));
}

/** How long the function may run: what was asked for or the default, never past the expiry. */
export function timeLimitMs(
  request: Pick<ExecRequest, "module" | "id" | "timeoutMs">,
  leftMs: number,
): number {
  const wantedMs = request.timeoutMs ?? defaultTimeoutMs(request.module, request.id);
  return Math.min(wantedMs, JOB_TIMEOUT_MS_MAX, leftMs);
}

/** Times: relative for people, RFC 3339 in UTC for programs. */
import { formatDuration } from "../../core/duration.ts";

const MS_PER_SECOND = 1_000;

/** `2026-02-10T14:30:00Z`, with milliseconds only where there are some. */
export function rfc3339(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(".000Z", "Z");
}

/** `3m ago` on a terminal, else the time itself. A clock that is a little ahead does not make a future. */
export function when(timeMs: number, nowMs: number, isTerminal: boolean): string {
  return isTerminal ? ago(timeMs, nowMs) : rfc3339(timeMs);
}

/** `3m ago`; below a second it is `now`. */
export function ago(timeMs: number, nowMs: number): string {
  const ms = Math.floor((nowMs - timeMs) / MS_PER_SECOND) * MS_PER_SECOND;
  return ms < MS_PER_SECOND ? "now" : `${formatDuration(ms)} ago`;
}

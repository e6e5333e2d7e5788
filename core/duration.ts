/** Lengths of time as people write them: `5m`, `1h30m`, `250ms`. */

const UNIT_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;
type Unit = keyof typeof UNIT_MS;

const WHOLE = /^(?:\d+(?:\.\d+)?(?:d|h|ms|m|s))+$/;
const PART = /(\d+(?:\.\d+)?)(d|h|ms|m|s)/g;

/** What a duration looks like, for error messages. */
export const DURATION_FORM = "a duration such as 30s, 5m or 1h30m, or 0";

/** Milliseconds, or null when the text is not a duration. A number needs its unit; only 0 may do without. */
export function parseDuration(text: string): number | null {
  if (text === "0") return 0;
  if (!WHOLE.test(text)) return null;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    totalMs += Number(amount) * UNIT_MS[unit as Unit];
  }
  return Number.isSafeInteger(Math.round(totalMs)) ? Math.round(totalMs) : null;
}

/** Short form for people: `12ms`, `14.2s`, `1m48s`, `3h10m`, `2d4h`. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, Math.round(durationMs));
  if (ms < UNIT_MS.s) return `${ms}ms`;
  if (ms < UNIT_MS.m) return `${trimmed(ms / UNIT_MS.s)}s`;
  if (ms < UNIT_MS.h) return pair(ms, "m", "s");
  if (ms < UNIT_MS.d) return pair(ms, "h", "m");
  return pair(ms, "d", "h");
}

/** One decimal, cut rather than rounded, so that 59.99 s does not read as 60 s. */
function trimmed(value: number): string {
  const cut = Math.floor(value * 10) / 10;
  return Number.isInteger(cut) ? String(cut) : cut.toFixed(1);
}

function pair(ms: number, large: Unit, small: Unit): string {
  const most = Math.floor(ms / UNIT_MS[large]);
  const rest = Math.floor((ms % UNIT_MS[large]) / UNIT_MS[small]);
  return rest === 0 ? `${most}${large}` : `${most}${large}${rest}${small}`;
}

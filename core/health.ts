/** Decides what a daemon says about itself: which checks it runs, what they add up to, which HTTP status that is. */
import { ZesterError } from "./errors.ts";
import { READY_CHECK_MS } from "./limits.ts";
import type { Clock } from "./ports.ts";

/** From best to worst. Only `down` takes a daemon out of rotation. */
const STATUSES = ["ok", "degraded", "down"] as const;
export type CheckStatus = typeof STATUSES[number];

export interface CheckResult {
  status: CheckStatus;
  message?: string;
}

/** Looks at one thing. A throw counts as down. */
export type Check = () => CheckResult | Promise<CheckResult>;

/** Checks by name. Read anew at every request, so that parts can add theirs as they start. */
export type Checks = Readonly<Record<string, Check>>;

/** Body of `/readyz`. */
export interface Readiness {
  status: CheckStatus;
  checks: Record<string, CheckResult & { latency_ms: number }>;
  version: string;
  /** Seconds since start. */
  uptime: number;
}

export interface ReadinessOptions {
  checks: Checks;
  version: string;
  clock: Clock;
  /** Monotonic time of the start. */
  startedMs: number;
}

/** Runs all checks together, each with its own time limit. */
export async function readiness(options: ReadinessOptions): Promise<Readiness> {
  const { checks, version, clock, startedMs } = options;
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await timed(check, clock)] as const),
  );
  return {
    status: worst(results.map(([, { status }]) => status)),
    checks: Object.fromEntries(results),
    version,
    uptime: Math.floor((clock.monotonic() - startedMs) / 1_000),
  };
}

/** 503 only when something is down: a degraded daemon still serves. */
export function readinessCode(status: CheckStatus): 200 | 503 {
  return status === "down" ? 503 : 200;
}

function worst(statuses: readonly CheckStatus[]): CheckStatus {
  return STATUSES[Math.max(0, ...statuses.map((status) => STATUSES.indexOf(status)))]!;
}

async function timed(check: Check, clock: Clock): Promise<CheckResult & { latency_ms: number }> {
  const start = clock.monotonic();
  const { status, message } = await limited(check, clock);
  const latency_ms = Math.round(clock.monotonic() - start);
  return message === undefined ? { status, latency_ms } : { status, message, latency_ms };
}

function limited(check: Check, clock: Clock): Promise<CheckResult> {
  return new Promise((resolve) => {
    const down = (message: string) => resolve({ status: "down", message });
    const timer = clock.after(READY_CHECK_MS, () => down(`no answer within ${READY_CHECK_MS} ms`));
    Promise.resolve().then(check)
      .then(resolve, (error) => down(error instanceof Error ? error.message : String(error)))
      .finally(() => timer.cancel());
  });
}

/** Reads `host:port`, `:port` (all interfaces) or `[v6]:port`. Port 0 lets the system choose. */
export function parseListenAddress(address: string): { hostname: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    const fix = "write it as host:port, such as 127.0.0.1:9091";
    throw new ZesterError("config_invalid", `health: "${address}" is not a listen address`, {
      fix,
    });
  }
  return { hostname: match[1] ?? (match[2] || "0.0.0.0"), port };
}

/** The inverse of `parseListenAddress`. */
export function formatListenAddress(
  { hostname, port }: { hostname: string; port: number },
): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

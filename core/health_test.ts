import assert from "node:assert/strict";
import { isZesterError } from "./errors.ts";
import {
  type Checks,
  type CheckStatus,
  formatListenAddress,
  parseListenAddress,
  readiness,
  readinessCode,
} from "./health.ts";
import type { Clock } from "./ports.ts";

/** Time stands still, except that a timer fires when the test says so. */
function stoppedClock(): Clock & { fire(): void } {
  const pending = new Set<() => void>();
  const after = (_delayMs: number, callback: () => void) => {
    pending.add(callback);
    return { cancel: () => pending.delete(callback) };
  };
  const never = () => {
    throw new Error("not used here");
  };
  const fire = () => pending.forEach((callback) => callback());
  return { now: () => 0, monotonic: () => 65_000, after, every: never, sleep: never, fire };
}

function look(checks: Checks, clock = stoppedClock()) {
  return readiness({ checks, version: "1", clock, startedMs: 0 });
}

const rows: [name: string, checks: Checks, want: CheckStatus, code: number][] = [
  ["is ok without checks", {}, "ok", 200],
  ["is ok when all are", { nats: () => ({ status: "ok" }) }, "ok", 200],
  [
    "is degraded but serves when one is degraded",
    {
      nats: () => ({ status: "ok" }),
      reactor: () => ({ status: "degraded" }),
    },
    "degraded",
    200,
  ],
  [
    "is down when one is down",
    {
      nats: () => ({ status: "down" }),
      reactor: () => ({ status: "degraded" }),
    },
    "down",
    503,
  ],
];
for (const [name, checks, want, code] of rows) {
  Deno.test(`readiness() ${name}`, async () => {
    const { status } = await look(checks);
    assert.equal(status, want);
    assert.equal(readinessCode(status), code);
  });
}

Deno.test("readiness() has the body that scripts read", async () => {
  const body = await look({ nats: () => ({ status: "degraded", message: "slow" }) });
  assert.deepEqual(body, {
    status: "degraded",
    checks: { nats: { status: "degraded", message: "slow", latency_ms: 0 } },
    version: "1",
    uptime: 65,
  });
});

Deno.test("readiness() takes a check that throws as down, with its message", async () => {
  const { checks } = await look({
    nats: () => {
      throw new Error("gone");
    },
  });
  assert.deepEqual(checks["nats"], { status: "down", message: "gone", latency_ms: 0 });
});

Deno.test("readiness() gives up on a check that never answers, and waits for no other", async () => {
  const clock = stoppedClock();
  const pending = look(
    { hung: () => new Promise(() => {}), nats: () => ({ status: "ok" }) },
    clock,
  );
  await Promise.resolve();
  clock.fire();
  const { checks } = await pending;
  assert.equal(checks["hung"]?.message, "no answer within 2000 ms");
  assert.equal(checks["hung"]?.status, "down");
});

const addresses: [text: string, want: { hostname: string; port: number } | null][] = [
  ["127.0.0.1:9091", { hostname: "127.0.0.1", port: 9091 }],
  [":0", { hostname: "0.0.0.0", port: 0 }],
  ["[::1]:9090", { hostname: "::1", port: 9090 }],
  ["localhost:80", { hostname: "localhost", port: 80 }],
  ["9091", null],
  ["127.0.0.1", null],
  ["127.0.0.1:70000", null],
  ["::1:9090", null],
  ["a b:1", null],
];
for (const [text, want] of addresses) {
  Deno.test(`parseListenAddress() of "${text}"`, () => {
    if (want !== null) return assert.deepEqual(parseListenAddress(text), want);
    assert.throws(
      () => parseListenAddress(text),
      (error) => isZesterError(error, "config_invalid"),
    );
  });
}

Deno.test("formatListenAddress() puts a v6 address in brackets", () => {
  assert.equal(formatListenAddress({ hostname: "::1", port: 1 }), "[::1]:1");
});

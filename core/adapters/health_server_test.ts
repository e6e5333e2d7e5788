import assert from "node:assert/strict";
import { isZesterError } from "../errors.ts";
import type { Checks } from "../health.ts";
import { memoryLog } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { type HealthServer, startHealth } from "./health_server.ts";
import { processUsage } from "./process_usage.ts";
import { systemClock } from "./system_clock.ts";

async function withServer(
  checks: Checks,
  body: (server: HealthServer, log: ReturnType<typeof memoryLog>) => Promise<void>,
): Promise<void> {
  const log = memoryLog();
  const metrics = await createMetrics("master", { version: "1.2.3", usage: processUsage });
  const common = { component: "master", version: "1.2.3", clock: systemClock, metrics } as const;
  const server = startHealth({ ...common, address: "127.0.0.1:0", checks, log });
  try {
    await body(server, log);
  } finally {
    await server.stop();
  }
}

async function get(server: HealthServer, path: string) {
  const response = await fetch(`http://${server.address}${path}`);
  return { status: response.status, body: await response.text() };
}

Deno.test("startHealth() answers /healthz, and logs where it listens", async () => {
  await withServer({}, async (server, log) => {
    assert.match(server.address, /^127\.0\.0\.1:[1-9]\d*$/);
    assert.deepEqual(log.records[0]?.fields, { addr: server.address });
    assert.equal(log.records[0]?.message, "health listening");
    const { status, body } = await get(server, "/healthz");
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(body), { status: "ok", component: "master", version: "1.2.3" });
  });
});

Deno.test("startHealth() answers /readyz with 503 while a check is down, and 200 after", async () => {
  const checks: Record<string, Checks[string]> = { nats: () => ({ status: "down" }) };
  await withServer(checks, async (server) => {
    assert.equal((await get(server, "/readyz")).status, 503);
    checks["nats"] = () => ({ status: "ok" });
    const { status, body } = await get(server, "/readyz");
    assert.equal(status, 200);
    assert.equal(JSON.parse(body).checks.nats.status, "ok");
  });
});

Deno.test("startHealth() serves /metrics, and 404 elsewhere", async () => {
  await withServer({}, async (server) => {
    const { body } = await get(server, "/metrics");
    assert.match(body, /zester_build_info\{version="1\.2\.3"\} 1/);
    assert.match(body, /zester_resident_bytes [1-9]/);
    assert.equal((await get(server, "/")).status, 404);
  });
});

Deno.test("startHealth() says clearly that a port is in use", async () => {
  await withServer({}, async (server) => {
    const metrics = await createMetrics("peel", { version: "1", usage: processUsage });
    const again = () =>
      startHealth({
        address: server.address,
        component: "peel",
        version: "1",
        checks: {},
        metrics,
        clock: systemClock,
        log: memoryLog(),
      });
    assert.throws(again, (error) =>
      isZesterError(error, "config_invalid") &&
      error.message === `health: listen on ${server.address}: the port is in use` &&
      /--health-addr/.test(error.fix ?? ""));
  });
});

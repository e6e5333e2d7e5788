/** Serves what `core/health.ts` decides: `/healthz`, `/readyz` and `/metrics`, without a login, for the local machine. */
import { Hono } from "hono";
import { ZesterError } from "../errors.ts";
import {
  type Checks,
  formatListenAddress,
  parseListenAddress,
  readiness,
  readinessCode,
} from "../health.ts";
import type { Log } from "../log.ts";
import type { Component, Exposition } from "../metrics.ts";
import type { Clock } from "../ports.ts";

export interface HealthOptions {
  /** `host:port`, `:port` or `[v6]:port`; port 0 lets the system choose. */
  address: string;
  component: Component;
  version: string;
  checks: Checks;
  metrics: { readonly exposition: Exposition };
  clock: Clock;
  log: Log;
}

export interface HealthServer {
  /** Where it really listens, as `host:port`. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts listening before it returns; a daemon calls this before anything else. */
export function startHealth(options: HealthOptions): HealthServer {
  const { hostname, port } = parseListenAddress(options.address);
  const server = listen(
    options.address,
    () => Deno.serve({ hostname, port, onListen: () => {} }, routes(options).fetch),
  );
  const address = formatListenAddress({ hostname, port: server.addr.port });
  options.log.info("health listening", { addr: address });
  return { address, stop: () => server.shutdown() };
}

function routes({ component, version, checks, metrics, clock, log }: HealthOptions): Hono {
  const startedMs = clock.monotonic();
  const app = new Hono();
  app.get("/healthz", (context) => context.json({ status: "ok", component, version }));
  app.get("/readyz", async (context) => {
    const body = await readiness({ checks, version, clock, startedMs });
    return context.json(body, readinessCode(body.status));
  });
  app.get("/metrics", async (context) => {
    const { contentType, text } = metrics.exposition;
    return context.body(await text(), 200, { "content-type": contentType });
  });
  app.onError((error, context) => {
    log.error("health request failed", { path: context.req.path, error });
    return context.text("internal error\n", 500);
  });
  return app;
}

function listen<T>(address: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    const inUse = error instanceof Deno.errors.AddrInUse;
    const found = inUse
      ? "the port is in use"
      : error instanceof Error
      ? error.message
      : String(error);
    const fix = "stop what uses it, or set health_addr (--health-addr) to another address";
    throw new ZesterError("config_invalid", `health: listen on ${address}: ${found}`, {
      cause: error,
      fix,
    });
  }
}

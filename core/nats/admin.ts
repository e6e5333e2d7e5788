/** Makes buckets and streams, or brings their settings up to date. Only the bootstrap identity may. */
import { isZesterError, ZesterError } from "../errors.ts";
import { ENSURE_RETRY_MS, ENSURE_TIMEOUT_MS, REPLICAS_MAX } from "../limits.ts";
import type { StoreAdmin } from "../ports.ts";
import {
  bucketStreamConfig,
  durableConfig,
  streamConfig,
  type StreamSettings,
} from "../stream_config.ts";
import type { JetStreamApi } from "./api.ts";
import { type ApiError, fromApi } from "./failures.ts";
import { createConsumer } from "./stream.ts";

export interface AdminOptions {
  /** Copies of each stream, whatever the cluster's size. */
  replicas?: number;
  warn(error: ZesterError): void;
}

/** The administration of the store behind this connection. */
export function natsAdmin(api: JetStreamApi, options: AdminOptions): StoreAdmin {
  const replicas = () => options.replicas ?? clusterReplicas(api);
  return {
    ensureBucket: (spec) =>
      untilElected(() => ensure(api, bucketStreamConfig(spec, replicas()), options)),
    async ensureStream(spec) {
      await untilElected(() => ensure(api, streamConfig(spec, replicas()), options));
      for (const durable of spec.durables) {
        await untilElected(() =>
          createConsumer(api, spec.name, durable.name, durableConfig(durable))
        );
      }
    },
  };
}

/** One copy per server, up to three. A single server may have many addresses, so only a named cluster counts. */
function clusterReplicas(api: JetStreamApi): number {
  const info = api.link.info;
  if (info?.cluster === undefined) return 1;
  return Math.min(REPLICAS_MAX, Math.max(1, info.connect_urls?.length ?? 1));
}

const STREAM_NOT_FOUND = 10059;

async function ensure(
  api: JetStreamApi,
  wanted: StreamSettings,
  options: AdminOptions,
): Promise<void> {
  const found = await api.ask<{ config: StreamSettings }>(`STREAM.INFO.${wanted.name}`);
  if (found.error === undefined) {
    if (!isSame(found.value.config, wanted)) await make(api, "UPDATE", wanted, options);
  } else if (found.error.err_code === STREAM_NOT_FOUND) {
    await make(api, "CREATE", wanted, options);
  } else {
    throw fromApi(`look at ${wanted.name}`, found.error);
  }
}

function isSame(found: StreamSettings, wanted: StreamSettings): boolean {
  const names = Object.keys(wanted) as (keyof StreamSettings)[];
  return names.every((name) => JSON.stringify(found[name]) === JSON.stringify(wanted[name]));
}

/** A fleet on fewer servers than hoped for is better than none: one copy, and a warning that says how to change it. */
async function make(
  api: JetStreamApi,
  verb: "CREATE" | "UPDATE",
  wanted: StreamSettings,
  { warn }: AdminOptions,
): Promise<void> {
  const subject = `STREAM.${verb}.${wanted.name}`;
  const first = await api.ask(subject, wanted);
  if (first.error === undefined) return;
  if (wanted.num_replicas === 1 || !isAboutReplicas(first.error)) {
    throw fromApi(subject, first.error);
  }
  await api.demand(subject, { ...wanted, num_replicas: 1 });
  warn(
    new ZesterError(
      "store_refused",
      `stream ${wanted.name} has 1 replica instead of ${wanted.num_replicas}: ${first.error.description}`,
      { fix: `nats stream edit ${wanted.name} --replicas=${wanted.num_replicas}` },
    ),
  );
}

/** No suitable peers, or a server that knows no clusters. */
function isAboutReplicas({ err_code: code }: ApiError): boolean {
  return code === 10005 || code === 10074 || code === 10052;
}

/** Right after its start a cluster has no leader yet: what fails for that reason is tried again. */
async function untilElected(work: () => Promise<void>): Promise<void> {
  const deadlineMs = performance.now() + ENSURE_TIMEOUT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || performance.now() > deadlineMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, ENSURE_RETRY_MS));
  }
}

function isPassing(error: unknown): boolean {
  return isZesterError(error, "timeout") || isZesterError(error, "no_responders") ||
    (isZesterError(error, "store_refused") &&
      /temporarily unavailable|\(10008\)/.test(error.message));
}

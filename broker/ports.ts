/**
 * The ports of `core/ports.ts` over an engine in the same process: what unit tests and the simulation use for NATS. All
 * that is asynchronous here waits for resolved promises or for the clock port, so that a run repeats.
 */
import type { BucketSpec, StreamSpec } from "../core/buckets.ts";
import type { ZesterError } from "../core/errors.ts";
import type { Bus, Clock, Store, StoreAdmin } from "../core/ports.ts";
import { bucketStreamConfig, durableConfig, streamConfig } from "../core/stream_config.ts";
import { inboxPrefix, type Role } from "../core/subjects.ts";
import type { Engine, Permissions } from "./engine.ts";
import { makeBucket } from "./_ports_bucket.ts";
import { EngineBus } from "./_ports_bus.ts";
import { calling } from "./_ports_failures.ts";
import { makeStream } from "./_ports_stream.ts";
import type { StreamConfigInput } from "./jetstream/types.ts";

export interface EnginePortsOptions {
  role: Role;
  identity: string;
  /** Default: everything is allowed. Checked for messages; reads of the store are not. */
  permissions?: Permissions;
  clock: Clock;
  /** Told what a handler threw; its subscription goes on, as over the network. */
  report?: (error: ZesterError) => void;
}

export interface EnginePorts {
  readonly bus: Bus;
  readonly store: Store;
  readonly admin: StoreAdmin;
  /** Ends the connection: what waits is rejected with `closed`, what comes later throws `disconnected`. */
  close(): void;
}

/** Connections made to each engine so far: makes the inboxes of a client that comes back differ from its old ones. */
const connections = new WeakMap<Engine, number>();

/** Connects one client to the engine. */
export function enginePorts(engine: Engine, options: EnginePortsOptions): EnginePorts {
  const { role, identity, permissions, clock, report } = options;
  const connection = (connections.get(engine) ?? 0) + 1;
  connections.set(engine, connection);
  const bus = new EngineBus(engine, {
    name: `${role}.${identity}`,
    inbox: `${inboxPrefix(role, identity)}.${connection}`,
    clock,
    ...(permissions === undefined ? {} : { permissions }),
    ...(report === undefined ? {} : { report }),
  });
  const link = { engine, bus, clock };
  return {
    bus,
    store: {
      bucket: (name) => makeBucket(link, name),
      stream: (name) => makeStream(link, name),
    },
    admin: {
      ensureBucket: async (spec: BucketSpec) => await ensure(engine, bucketStreamConfig(spec)),
      async ensureStream(spec: StreamSpec) {
        await ensure(engine, streamConfig(spec));
        for (const durable of spec.durables) {
          calling(
            `${spec.name}: ensure ${durable.name}`,
            () => engine.jetstream.createConsumer(spec.name, durableConfig(durable)),
          );
        }
        await whenDurable(engine);
      },
    },
    close: () => bus.close(),
  };
}

/** Makes the stream, or brings the one there is up to date. */
function ensure(engine: Engine, config: StreamConfigInput): Promise<void> {
  const { jetstream } = engine;
  calling(`${config.name}: ensure`, () => {
    if (jetstream.streamNames().includes(config.name)) jetstream.updateStream(config);
    else jetstream.createStream(config);
  });
  return whenDurable(engine);
}

function whenDurable(engine: Engine): Promise<void> {
  return new Promise((resolve) => engine.whenDurable(resolve));
}

/** What the contract suites run on: somewhere to connect to, seen through the ports only. */
import assert from "node:assert/strict";
import type { BucketSpec, StreamSpec } from "../../core/buckets.ts";
import type { Bus, Consumer, Delivery, Store, StoreAdmin } from "../../core/ports.ts";

export interface Client {
  readonly bus: Bus;
  readonly store: Store;
  readonly admin: StoreAdmin;
  /** Waits until every replica of a stream has what its leader has; absent where there is one copy only. */
  settle?(stream: string): Promise<void>;
  close(): Promise<void>;
}

export interface Target {
  /** A further client. `identity` decides its inbox. */
  connect(identity: string): Promise<Client>;
  /** Stops and starts again on what was stored; absent where that means nothing. Clients must be closed before. */
  restart?(): Promise<void>;
  close(): Promise<void>;
}

export interface TargetMaker {
  name: string;
  ignore?: boolean;
  make(): Promise<Target>;
}

const WAIT_MS = 10_000;
const POLL_MS = 10;

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (data: Uint8Array): string => new TextDecoder().decode(data);

/** Asks until the answer will do: for what is true soon, such as a read from a replica. */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  isWanted: (value: T) => boolean,
): Promise<T> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const value = await ask();
    if (isWanted(value)) return value;
    if (performance.now() > deadline) {
      assert.fail(`${what}: not within ${WAIT_MS} ms; last seen ${Deno.inspect(value)}`);
    }
    await pause(POLL_MS);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Fetches until this many messages have come. */
export async function take(consumer: Consumer, count: number): Promise<Delivery[]> {
  const taken: Delivery[] = [];
  const deadline = performance.now() + WAIT_MS;
  while (taken.length < count) {
    assert.ok(performance.now() < deadline, `only ${taken.length} of ${count} messages came`);
    taken.push(...await consumer.fetch({ max: count - taken.length, waitMs: 250 }));
  }
  return taken;
}

let made = 0;

/** A name that no other test has used. */
export function fresh(what: string): string {
  return `${what}-${++made}`;
}

export function bucketSpec(change: Partial<BucketSpec> = {}): BucketSpec {
  return {
    name: fresh("bucket"),
    note: "made by a test",
    history: 1,
    storage: "file",
    valueBytesMax: 65_536,
    bytesMax: 16 * 1_048_576,
    peelReads: [],
    operatorReads: [],
    ...change,
  };
}

/** A stream on its own subjects, `<name>.>`. */
export function streamSpec(change: Partial<StreamSpec> = {}): StreamSpec {
  const name = change.name ?? fresh("stream");
  return {
    name,
    subjects: [`${name}.>`],
    maxAgeMs: 3_600_000,
    bytesMax: 16 * 1_048_576,
    duplicateWindowMs: 60_000,
    storage: "file",
    durables: [],
    replayable: true,
    note: "made by a test",
    ...change,
  };
}
